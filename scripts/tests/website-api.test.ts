// The API pages: what is read from docstrings, what a page says, and what counts as out of date.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { problemsOf, publish } from '../generated.ts'
import { firstSentence, joinDocstrings, parseDocstring } from '../website-api/docstring.ts'
import { indexPage, servicePage } from '../website-api/page.ts'
import { readServices } from '../website-api/read.ts'

const temp = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-api-pages-')))
afterAll(() => rmSync(temp, { recursive: true, force: true }))

function write(path: string, text: string): void {
  mkdirSync(dirname(join(temp, path)), { recursive: true })
  writeFileSync(join(temp, path), text)
}

describe('a docstring', () => {
  const doc = parseDocstring(`/**
   * Opens a tap. Rejects with \`TAP_STUCK\` when it is stuck,
   * e.g. Old ones. Closes by itself.
   *
   * - slowly
   *   and surely
   * - never twice
   * @param turns - how far,
   *   in turns.
   * @returns what closes it.
   * @throws TAP_GONE when it is gone.
   */`)

  it('keeps errors apart from what is done', () => {
    expect(doc.errors).toBe('Rejects with `TAP_STUCK` when it is stuck, e.g. Old ones. TAP_GONE when it is gone.')
    expect(doc.text).toBe('Opens a tap. Closes by itself.\n\n- slowly and surely\n- never twice')
  })

  it('takes a clause that tells of failing out of its sentence', () => {
    const { text, errors } = parseDocstring('/** Adds one. Mine hide theirs; duplicates in one layer fail. Logged. */')
    expect(text).toBe('Adds one. Mine hide theirs. Logged.')
    expect(errors).toBe('Duplicates in one layer fail.')
  })

  it('tells of parameters and of the return', () => {
    expect([...doc.params]).toEqual([['turns', 'how far, in turns.']])
    expect(doc.returns).toBe('what closes it.')
  })

  it('of an implementation adds to that of its contract and repeats nothing', () => {
    const contract = parseDocstring('/** Opens. Throws `A`. */')
    const joined = joinDocstrings(contract, parseDocstring('/** Throws `A`. Logged. */'))
    expect(joined.text).toBe('Opens.\n\nLogged.')
    expect(joined.errors).toBe('Throws `A`.')
  })

  it('has a first sentence that ends before a list', () => {
    expect(firstSentence('Runs `a.b()` once. Then stops.')).toBe('Runs `a.b()` once.')
    expect(firstSentence('Promises:\n- this. And that.')).toBe('Promises:')
  })
})

describe('a page', () => {
  write(
    'packages/water/tap/src/taps.ts',
    `// \`ctx.taps\`: opens taps. Not for gas.
declare module '@deepseek-ai/cordis' {
  interface Context { taps: Taps }
  interface Events {
    /** Water runs. */
    'taps/open'(tap: TapRow): void
  }
}
/** One tap. */
export interface TapRow {
  readonly id: string
  /** Litres | minute. */
  rate?: number
}
interface Hidden { a: string }
export type TapMode = 'slow' | TapRow
export interface TapService {
  /** Opens one. Throws \`TAP_STUCK\`. */
  open(id: string, mode?: TapMode): () => void
}
export class Taps implements TapService {
  static Config = 1
  /** How many. */
  get count(): number { return this.rows.length }
  private readonly rows: Hidden[] = []
  constructor() {}
  /** Logged. */
  open(id: string, mode: TapMode = 'slow'): () => void { const x: Hidden = { a: id + String(mode) }; return () => void x }
  /** @internal */
  observe(): void {}
}
`,
  )
  write('packages/water/tap/package.json', '{"name":"@deepseek-ai/dsh-tap"}')
  write('packages/water/tap/tsconfig.json', '{"compilerOptions":{"noEmit":true},"include":["src"]}')
  write('packages/water/none/package.json', '{"name":"none"}')
  const services = readServices(temp)
  const page = services.map(servicePage).join('')

  it('shows public members only, with signature, errors and source', () => {
    expect(page).toContain('# ctx.taps\n')
    expect(page).toContain('Opens taps.\n')
    expect(page).toContain(
      '### ctx.taps.open(id, mode?)\n\n```ts website-api\nopen(id: string, mode?: TapMode): () => void\n```',
    )
    expect(page).toContain('Opens one.\n\nLogged.\n\n**Errors** Throws `TAP_STUCK`.')
    expect(page).toContain('[Source](../../packages/water/tap/src/taps.ts#L28)')
    expect(page).toContain('### ctx.taps.count\n\n```ts website-api\ncount: number\n```')
    expect(page).not.toMatch(/observe|\brows|Hidden|Config/)
  })

  it('shows events and the types that are named, field by field', () => {
    expect(page).toContain("'taps/open'(tap: TapRow): void")
    expect(page).toContain('| `rate?` | `number` | Litres \\| minute. |')
    expect(page).toContain("type TapMode = 'slow' | TapRow")
  })

  it('is listed with what its service is', () => {
    expect(indexPage(services)).toContain(
      '| [`ctx.taps`](taps.md) | [`@deepseek-ai/dsh-tap`](../../packages/water/tap) | Opens taps. |',
    )
  })
})

it('names what is missing, what is out of date and what is left over, and puts it right', () => {
  const folder = join(temp, 'out')
  write('out/old.md', 'old')
  write('out/stale.md', 'a')
  write('out/other.txt', 'not ours')
  const generated = {
    folder,
    files: new Map([
      ['stale.md', 'b'],
      ['new.md', 'c'],
    ]),
    owns: (path: string) => path.endsWith('.md'),
  }
  expect(problemsOf(generated)).toEqual([
    'new.md is missing',
    'stale.md is not up to date',
    'old.md is made from nothing any more',
  ])
  expect(publish(generated)).toBe(3)
  expect(problemsOf(generated)).toEqual([])
  expect(publish(generated)).toBe(0)
})

it('has a page for every service of this workspace', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const keys = readServices(root).map(({ key }) => key)
  expect(keys).toEqual(expect.arrayContaining(['agents', 'fs', 'jobs', 'sessions', 'shell', 'systemPrompt', 'tools']))
})
