// Which changes of files are told, however they come about. Real files and a real watch.
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { FileWatch } from '../src/watch.ts'

let folder: string
let watch: FileWatch | undefined
let told: string[][]

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-watch-')))
  told = []
})
afterEach(() => {
  watch?.close()
  rmSync(folder, { recursive: true, force: true })
})

const at = (name: string): string => join(folder, name)
const write = (name: string, text: string): void => writeFileSync(at(name), text)
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Follows files that were written long before. */
async function follow(names: readonly string[], changed = async (): Promise<void> => {}): Promise<void> {
  await pause(20)
  watch = new FileWatch(
    () => names.map(at),
    async (files) => {
      told.push(files.map((file) => file.slice(folder.length + 1)))
      await changed()
    },
    Date.now(),
    { quietMs: 30 },
  )
}
const tells = (wanted: string[][]): Promise<unknown> => expect.poll(() => told, { timeout: 3000 }).toEqual(wanted)

it('tells of several files saved at once in one go, and of nothing beside them', async () => {
  for (const name of ['a', 'b', 'c']) write(name, '1')
  await follow(['a', 'b', 'c'])
  write('other', 'x')
  write('c', '2')
  write('a', '2')
  await tells([['a', 'c']])
  await pause(150)
  expect(told).toHaveLength(1)
})

it('tells of a file only when its bytes are different', async () => {
  write('a', '1')
  await follow(['a'])
  write('a', '2')
  write('a', '1')
  await pause(150)
  expect(told).toEqual([])
})

it('tells of a file that another one was put in place of, again and again', async () => {
  write('a', '1')
  await follow(['a'])
  for (const [index, text] of ['2', '3', '4'].entries()) {
    write('new', text)
    renameSync(at('new'), at('a'))
    await expect.poll(() => told).toHaveLength(index + 1)
  }
})

it('passes over a file that is away for a moment, and tells of one that stays away and comes back', async () => {
  write('a', '1')
  await follow(['a'])
  renameSync(at('a'), at('a~'))
  await pause(120)
  write('a', '1')
  await pause(500)
  expect(told).toEqual([])
  rmSync(at('a'))
  await tells([['a']])
  write('a', '1')
  await tells([['a'], ['a']])
})

it('waits for a file in a folder that does not exist, and follows a folder that was replaced', async () => {
  await follow(['src/words/a'])
  mkdirSync(at('src/words'), { recursive: true })
  await pause(100)
  write('src/words/a', '1')
  await tells([['src/words/a']])
  rmSync(at('src/words'), { recursive: true })
  mkdirSync(at('src/words'))
  write('src/words/a', '2')
  await tells([['src/words/a'], ['src/words/a']])
  await pause(100)
  write('src/words/a', '3')
  await expect.poll(() => told).toHaveLength(3)
})

it('tells of what was written between the reading of a file and the beginning of the watch', async () => {
  const since = Date.now()
  await pause(20)
  write('a', 'newer than what was read')
  watch = new FileWatch(
    () => [at('a')],
    async (files) => void told.push([...files]),
    since,
    { quietMs: 30 },
  )
  await tells([[at('a')]])
})

it('tells of a change that comes while an earlier one is taken over, once that is through', async () => {
  write('a', '1')
  let free = (): void => {}
  await follow(['a'], () => (told.length === 1 ? new Promise((resolve) => (free = resolve)) : Promise.resolve()))
  write('a', '2')
  await tells([['a']])
  write('a', '3')
  await pause(150)
  expect(told).toHaveLength(1)
  free()
  await tells([['a'], ['a']])
})

it('tells nothing once it is closed', async () => {
  write('a', '1')
  await follow(['a'])
  write('a', '2')
  watch?.close()
  await pause(150)
  expect(told).toEqual([])
})
