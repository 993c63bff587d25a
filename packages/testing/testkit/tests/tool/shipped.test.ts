// Every tool package of this workspace is held to the contract by a test of its own.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const packages = fileURLToPath(new URL('../../../..', import.meta.url))

const toolPackages = readdirSync(packages).flatMap((group) =>
  readdirSync(join(packages, group))
    .filter((name) => name.startsWith('tool-') && existsSync(join(packages, group, name, 'package.json')))
    .map((name) => `${group}/${name}`),
)

it('finds the tool packages', () => {
  expect(toolPackages).toContain('shell/tool-bash')
})

it.each(toolPackages)('%s runs testTool', (path) => {
  const folder = join(packages, path, 'tests')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.test.ts'))
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8'))
  expect(texts.some((text) => /\btestTool\(/.test(text))).toBe(true)
})
