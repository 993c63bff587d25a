// Generated text that is committed is what its generator would write now, and the generators refuse what they must. Needs a build.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const temp = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-generated-')))
afterAll(() => rmSync(temp, { recursive: true, force: true }))

/** Runs a generator; resolves with its exit code and everything it printed. */
function generate(script: string, ...args: string[]): Promise<{ code: number; printed: string }> {
  const command = ['scripts/run-ts.mjs', `scripts/${script}.ts`, ...args]
  return new Promise((done) => {
    const child = execFile(process.execPath, command, { cwd: root }, (_error, stdout, stderr) =>
      done({ code: child.exitCode ?? -1, printed: stdout + stderr }),
    )
  })
}

it.each([['gen-website-api'], ['gen-tool-catalog']])('%s has nothing to change', async (script) => {
  expect(await generate(script, '--check')).toEqual({ code: 0, printed: '' })
})

describe('the catalogue of another checkout', () => {
  /** A checkout that has the given tool packages; a text is the entry of a made-up one, `true` one of ours. */
  function checkout(name: string, packages: Readonly<Record<string, string | true>>): string {
    const folder = join(temp, name)
    for (const [path, entry] of Object.entries(packages)) {
      const at = join(folder, 'packages', path)
      mkdirSync(dirname(at), { recursive: true })
      if (entry === true) {
        symlinkSync(join(root, 'packages', path), at)
        continue
      }
      mkdirSync(join(at, 'dist'), { recursive: true })
      writeFileSync(join(at, 'package.json'), JSON.stringify({ name: path, type: 'module' }))
      writeFileSync(join(at, 'dist/index.js'), entry)
    }
    return folder
  }

  it('is refused with every package that cannot be listed, and nothing is written', async () => {
    const folder = checkout('broken', {
      'a/tool-empty': 'export const inject = ["tools"]; export const apply = () => {}',
      'a/tool-odd': 'export const inject = ["tools", "weather"]; export const apply = () => {}',
      'b/tool-throws': 'export const apply = () => { throw new Error("no such device") }',
      'b/tool-bash': 'export {}',
    })
    const { code, printed } = await generate('gen-tool-catalog', '--root', folder)
    expect(code).toBe(1)
    expect(printed).toContain('packages/a/tool-empty: it registers no tool')
    expect(printed).toContain('packages/a/tool-odd: it waits for weather')
    expect(printed).toContain('packages/b/tool-throws: no such device')
    expect(printed).toMatch(/packages\/b\/tool-bash: .*plugin/)
    expect(() => readFileSync(join(folder, 'docs/tool-catalog.md'))).toThrow()
  })

  it('goes out of date with a tool, and says so', async () => {
    const folder = checkout('growing', { 'jobs/tool-jobs': true })
    expect(await generate('gen-tool-catalog', '--root', folder)).toMatchObject({ code: 0 })
    expect(await generate('gen-tool-catalog', '--root', folder, '--check')).toEqual({ code: 0, printed: '' })
    expect(readFileSync(join(folder, 'docs/tool-catalog.md'), 'utf8')).not.toContain('terminal_open')
    checkout('growing', { 'terminal/tool-terminal': true })
    const { code, printed } = await generate('gen-tool-catalog', '--root', folder, '--check')
    expect(code).toBe(1)
    expect(printed).toContain('tool-catalog.md is not up to date')
    expect(printed).toContain('tool-catalog.json is not up to date')
    expect(printed).toContain('run: pnpm run gen-tool-catalog')
  })
})
