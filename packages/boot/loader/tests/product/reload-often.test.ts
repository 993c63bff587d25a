// What is left of 1,000 reloads: the platform keeps each version of a module, and nothing of ours comes on top.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'

const driver = fileURLToPath(new URL('./reload-often.mjs', import.meta.url))
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-reload-often-')))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Outcome {
  readonly before: object
  readonly after: object
  readonly kinds: readonly string[]
  /** Bytes of heap for each. */
  readonly reloads: number
  readonly imports: number
}

it('is what as many imports of the module leave, and no fiber, effect or listener', () => {
  const plugin = join(folder, 'plugin.ts')
  writeFileSync(
    plugin,
    `import type { Context } from '@deepseek-ai/cordis'
export const apply = (ctx: Context): void => {
  ctx.on('internal/status', () => {})
  if ('effect' in ctx) ctx.effect(() => () => {})
}
`,
  )
  writeFileSync(join(folder, 'cordis.yml'), '- name: ./plugin.ts\n')
  const args = ['--expose-gc', driver, join(folder, 'cordis.yml'), plugin]
  const { before, after, kinds, reloads, imports } = JSON.parse(
    execFileSync(process.execPath, args, { encoding: 'utf8' }),
  ) as Outcome
  console.log(`a reload leaves ${(reloads / 1024).toFixed(1)} KiB, an import ${(imports / 1024).toFixed(1)} KiB`)
  expect(kinds).toEqual(['reloaded'])
  expect(after).toEqual(before)
  expect(reloads).toBeGreaterThan(1000)
  expect(reloads).toBeLessThan(imports * 1.3)
})
