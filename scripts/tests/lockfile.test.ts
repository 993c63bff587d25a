import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'

const read = (name: string): unknown => parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'))

it('takes no package of our own name from a registry', () => {
  const lock = read('pnpm-lock.yaml') as {
    packages: Record<string, unknown>
    importers: Record<string, Record<string, unknown>>
  }
  expect(Object.keys(lock.packages).filter((name) => name.startsWith('@deepseek-ai/'))).toEqual([])
  const internal =
    JSON.stringify(lock.importers).match(/"@deepseek-ai\/[^"]+":\{"specifier":"[^"]+","version":"[^"]+"/g) ?? []
  expect(internal.length).toBeGreaterThan(20)
  expect(internal.filter((entry) => !/"specifier":"workspace:\^","version":"link:/.test(entry))).toEqual([])
})

it('lets no dependency run an install script', () => {
  const workspace = read('pnpm-workspace.yaml') as { onlyBuiltDependencies: string[] }
  expect(workspace.onlyBuiltDependencies).toEqual([])
})
