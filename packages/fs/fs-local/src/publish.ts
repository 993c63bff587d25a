// A file is replaced whole or not at all: staged beside it, flushed, checked, renamed, and the folder flushed. A kill at any moment leaves the old
// file or the new one, and at most a staged file that nobody reads and the next write removes.
import { constants, lstatSync, renameSync, type BigIntStats } from 'node:fs'
import { link, open, rename, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { FsError } from '@deepseek-ai/dsh-fs'
import type { Anchor } from './anchor.ts'
import { codeOf, quoted } from './errno.ts'
import { stagedName, sweepStaged } from './staged.ts'
import { close, statsOf } from './handles.ts'
import { lstatOf, versionOf } from './version.ts'

export interface Publication {
  readonly anchor: Anchor
  /** Of the target, in the anchor's folder. */
  readonly name: string
  readonly bytes: Buffer
  /** The file that is replaced; undefined: there must be none. */
  readonly replaces: BigIntStats | undefined
  /** Called with the staged file before it takes its place; a throw leaves everything as it was. */
  readonly verify: (staged: FileHandle) => Promise<void>
}

const NEW_FILE_MODE = 0o666
const STAGED = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL

/** Returns what a stat says of the new file. */
export async function publish(publication: Publication): Promise<BigIntStats> {
  const { anchor, name, replaces } = publication
  const staged = anchor.at(stagedName(name))
  const mode = replaces === undefined ? NEW_FILE_MODE : 0o600
  const file = await open(staged, STAGED, mode)
  try {
    try {
      await fill(file, publication)
      if (!anchor.isHeld) anchor.check()
      if (replaces === undefined) await place(staged, publication)
      else replace(staged, publication, replaces)
    } catch (error) {
      await rm(staged, { force: true }).catch(() => {}) // what failed matters more
      throw error
    }
    await anchor.sync()
    await sweepStaged(anchor)
    return written(file, anchor.at(name))
  } finally {
    await close(file)
  }
}

/** Of this very file, even if somebody has replaced it since: their version is not ours to report. */
function written(file: FileHandle, path: string): BigIntStats {
  try {
    return statsOf(file)
  } catch {
    return lstatSync(path, { bigint: true }) // it is written; a handle that cannot be asked is no failure of that
  }
}

async function fill(file: FileHandle, { bytes, replaces, verify }: Publication): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at, bytes.length - at, at)).bytesWritten
  if (replaces !== undefined) {
    await keepOwner(file, replaces)
    await file.chmod(Number(replaces.mode) & 0o7777)
  }
  await verify(file)
  await file.sync()
}

/** Only the superuser may give files away, and others to their own groups; else whoever writes owns. */
async function keepOwner(file: FileHandle, { uid, gid }: BigIntStats): Promise<void> {
  const own = statsOf(file)
  if (own.uid === uid && own.gid === gid) return
  await file.chown(Number(uid), Number(gid)).catch(() => {})
}

/** Nobody may have changed the file since it was looked at. In one go: between the two calls only another process could. */
function replace(staged: string, { anchor, name }: Publication, replaces: BigIntStats): void {
  const now = lstatSync(anchor.at(name), { bigint: true, throwIfNoEntry: false })
  if (now === undefined || versionOf(now) !== versionOf(replaces)) {
    throw new FsError(
      `${quoted(join(anchor.folder, name))} was changed by somebody else while it was being written; read it again`,
      'FS_STALE_VERSION',
    )
  }
  renameSync(staged, anchor.at(name))
}

/** A link fails where a file appeared meanwhile, so that of two creators one loses. */
async function place(staged: string, { anchor, name }: Publication): Promise<void> {
  const path = anchor.at(name)
  try {
    await link(staged, path)
  } catch (error) {
    // File systems without hard links: the check and the rename are two steps there.
    if (codeOf(error) !== 'EEXIST' && (await lstatOf(path)) === undefined) return rename(staged, path)
    if (codeOf(error) !== 'EEXIST') throw error
    throw new FsError(
      `${quoted(join(anchor.folder, name))} appeared while it was being created; read it first`,
      'FS_ALREADY_EXISTS',
      { cause: error },
    )
  }
  await rm(staged, { force: true }).catch(() => {}) // the file is there; its second name goes with the next write
}
