// A file as it is: opened without hanging on what is no file, read whole or refused, and known to be the one that was asked for.
import { constants, lstatSync, realpathSync, type BigIntStats } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { FsError, type FsExpectation, type FsTarget } from '@deepseek-ai/dsh-fs'
import { isSame } from './anchor.ts'
import { detectEncoding, type Encoding } from './encoding.ts'
import { quoted } from './errno.ts'
import { close, statsOf } from './handles.ts'
import { versionOf } from './version.ts'

/** A file that is edited is held in memory. */
export const MOST_EDITED_BYTES = 512 * 1024 * 1024

/** Pipes and devices are opened without waiting for the other side, and refused then. */
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)
const READ_NO_LINK = READ | (constants.O_NOFOLLOW ?? 0)

export interface Whole {
  readonly stats: BigIntStats
  readonly bytes: Buffer
}

/** A text file as an edit finds it. */
export interface Present extends Whole {
  readonly encoding: Encoding
}

export interface Opened {
  readonly file: FileHandle
  readonly stats: BigIntStats
}

export interface OpenOptions {
  /** The real path that was judged: what is opened must be what it leads to, with no link in it. Omitted: whatever is there. */
  readonly judged?: string | undefined
  /** The name itself must be no link. Default false. */
  readonly noLink?: boolean
}

/** Opens a regular file, hands it out for the time of `use`, and closes it. `what` begins the messages. */
export async function withFile<T>(
  path: string,
  what: string,
  use: (opened: Opened) => Promise<T>,
  { judged, noLink = false }: OpenOptions = {},
): Promise<T> {
  const file = await open(path, noLink ? READ_NO_LINK : READ)
  try {
    const stats = statsOf(file)
    if (!stats.isFile()) throw new FsError(`${what}: it is ${kindOf(stats)}`, 'FS_NOT_REGULAR_FILE')
    if (judged !== undefined) assertJudged(judged, stats, what)
    return await use({ file, stats })
  } finally {
    await close(file)
  }
}

/** A link may have been swapped between the judgement and the opening. */
function assertJudged(path: string, opened: BigIntStats, what: string): void {
  if (realpathSync.native(path) === path && isSame(lstatSync(path, { bigint: true }), opened)) return
  throw new FsError(`${what}: its path led somewhere else in between; try again`, 'FS_STALE_VERSION')
}

function kindOf(stats: BigIntStats): string {
  return stats.isDirectory() ? 'a folder' : 'no regular file'
}

export async function readWhole(opened: Opened, maxBytes: number, what: string): Promise<Whole> {
  const { file, stats } = opened
  if (stats.size > maxBytes) {
    const message = `${what}: it has ${stats.size} bytes, more than the ${maxBytes} that can be held`
    throw new FsError(message, 'FS_TOO_LARGE')
  }
  // What the system makes up on reading has no size.
  const bytes = stats.size === 0n ? await file.readFile() : await readBytes(file, Number(stats.size))
  // Not the whole version: a file that is replaced right now was read as it was, and only its links are fewer.
  const after = statsOf(file)
  if (after.size !== stats.size || after.mtimeNs !== stats.mtimeNs) {
    throw new FsError(`${what}: it is being changed right now; try again`, 'FS_STALE_VERSION')
  }
  return { stats, bytes }
}

async function readBytes(file: FileHandle, size: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(size)
  let at = 0
  while (at < size) {
    const { bytesRead } = await file.read(bytes, at, size - at, at)
    if (bytesRead === 0) break // it was cut meanwhile, which its version tells
    at += bytesRead
  }
  return bytes.subarray(0, at)
}

export async function readPresent(opened: Opened, maxBytes: number, what: string): Promise<Present> {
  const { stats, bytes } = await readWhole(opened, maxBytes, what)
  const encoding = detectEncoding(bytes)
  if (encoding === undefined) throw new FsError(`${what}: it is a binary file, not text`, 'FS_NOT_TEXT')
  return { stats, bytes, encoding }
}

export function assertExpected(target: FsTarget, stats: BigIntStats | undefined, expected: FsExpectation): void {
  const path = quoted(target.path)
  if (expected.kind === 'absent' && stats !== undefined) {
    throw new FsError(`${path} exists already; read it before you overwrite it`, 'FS_ALREADY_EXISTS')
  }
  if (expected.kind !== 'version') return
  if (stats === undefined) throw new FsError(`${path} was removed since it was read`, 'FS_STALE_VERSION')
  if (versionOf(stats) === expected.version) return
  const message = `${path} was changed since it was read, by a command or by somebody else; read it again and repeat the change on what is there now`
  throw new FsError(message, 'FS_STALE_VERSION')
}
