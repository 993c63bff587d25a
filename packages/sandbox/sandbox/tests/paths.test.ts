// Where a path really leads, whether or not there is anything.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { realPathOf } from '../src/paths.ts'

let folder: string
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-paths-')))
  mkdirSync(join(folder, 'real/deep'), { recursive: true })
  mkdirSync(join(folder, 'other'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const at = (path: string): string => join(folder, path)

it('follows a link to nothing from the folder that really holds it', () => {
  symlinkSync('real/deep', at('alias'))
  symlinkSync('../../other/new', at('real/deep/link'))
  expect(realPathOf(at('alias/link'))).toBe(at('other/new'))
  expect(realPathOf(at('alias/link/below'))).toBe(at('other/new/below'))
  writeFileSync(at('other/new'), '')
  expect(realPathOf(at('alias/link'))).toBe(at('other/new'))
})

it('follows a chain of links, the last of which leads to nothing', () => {
  symlinkSync('../other', at('real/out'))
  symlinkSync('real/out/two', at('one'))
  symlinkSync('three', at('other/two'))
  expect(realPathOf(at('one'))).toBe(at('other/three'))
})

it('ends at a loop of links, and says where', () => {
  symlinkSync('b', at('a'))
  symlinkSync('a', at('b'))
  expect([at('a/x'), at('b/x')]).toContain(realPathOf(at('a/x')))
})

it('gives a path that does not exist below the real folder', () => {
  symlinkSync('real', at('alias'))
  expect(realPathOf(at('alias/none/below'))).toBe(at('real/none/below'))
})
