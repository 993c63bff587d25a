// The contract suite of file services: what every provider of `ctx.fs` must do, looked at in the bytes and folders that it leaves.
// Runner-agnostic: the caller hands in `describe` and `it`, so that this package needs no test framework.
import type { Fs } from '@deepseek-ai/dsh-fs'
import { crashRows } from './crash-rows.ts'
import { editRows } from './edit-rows.ts'
import { encodingRows } from './encoding-rows.ts'
import { errorRows, hostErrorRows } from './error-rows.ts'
import { faultRows } from './fault-rows.ts'
import { fenceRows } from './fence-rows.ts'
import { parallelRows, processRows } from './parallel-rows.ts'
import { propertyRows } from './property-rows.ts'
import { readRows } from './read-rows.ts'
import { targetRows } from './target-rows.ts'
import { makeWorld, type FsWorld } from './world.ts'
import { writeRows } from './write-rows.ts'

type Register = (name: string, body: () => Promise<void>) => unknown

/** Vitest's and `node:test`'s own functions fit. */
export interface FsSuiteRunner {
  describe: (name: string, body: () => void) => unknown
  it: Register & { skip: Register }
}

export interface FsUnderTest {
  fs: Fs
  /** Ends the provider as its host would. */
  dispose: () => Promise<unknown>
}

/** Makes a fresh provider a test. */
export type FsFactory = () => Promise<FsUnderTest>

export interface FsSuiteOptions {
  /**
   * A module that a fresh `node` can import, and the name of an export of it that makes the same provider: for kills, several processes, and what
   * only another user or another mount is refused. Omitted: those rows are left out.
   */
  host?: { module: string; factory: string }
}

/** One fact. `skip` says why it cannot be tried here; it is asked when the suite is registered. */
export interface FsRow {
  readonly title: string
  readonly skip?: () => string | undefined
  readonly body: (world: FsWorld) => Promise<void>
}

/** Registers the suite. Its tests wrap `node:fs` and start processes: files run in a process of their own. */
export function testFs(
  { describe, it }: FsSuiteRunner,
  name: string,
  factory: FsFactory,
  { host }: FsSuiteOptions = {},
): void {
  const register = (rows: readonly FsRow[]): void => {
    for (const { title, skip, body } of rows) {
      const reason = skip?.()
      if (reason === undefined) it(title, () => inWorld(factory, body))
      else it.skip(`${title} (${reason})`, () => inWorld(factory, body))
    }
  }
  describe(`${name} keeps the file contract`, () => {
    describe('targets and links', () => register(targetRows))
    describe('reading and listing', () => register(readRows))
    describe('writes and versions', () => register(writeRows))
    describe('edits', () => register(editRows))
    describe('encodings, byte order marks and line endings', () => register(encodingRows))
    describe('any file and any edit', () => register(propertyRows))
    describe('errors', () => register(host === undefined ? errorRows : [...errorRows, ...hostErrorRows(host)]))
    describe('faults at any call', () => register(faultRows))
    describe('the fence', () => register(fenceRows))
    describe('writers at the same time', () =>
      register(host === undefined ? parallelRows : [...parallelRows, ...processRows(host)]))
    if (host !== undefined) describe('kills at any call', () => register(crashRows(host)))
  })
}

async function inWorld(factory: FsFactory, body: FsRow['body']): Promise<void> {
  const under = await factory()
  const world = makeWorld(under.fs)
  try {
    await body(world)
  } finally {
    await under.dispose()
    world.remove()
  }
}
