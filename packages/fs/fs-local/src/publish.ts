// A file is replaced whole or not at all: staged beside it, flushed, checked, renamed, and the folder flushed. A kill at any moment leaves the old
// file or the new one, and at most a staged file that nobody reads.
import { randomBytes } from 'node:crypto'
import { constants, type BigIntStats } from 'node:fs'
import { link, mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { FsError } from '@deepseek-ai/dsh-fs'
import { codeOf } from './errno.ts'
import { statOf, versionOf } from './version.ts'

export interface Publication {
  /** Real path of the target. */
  readonly path: string
  /** The new file, in order. */
  readonly parts: readonly Uint8Array[]
  /** The file that is replaced; undefined: there must be none. */
  readonly replaces: BigIntStats | undefined
  /** Called with the staged file before it takes its place; a throw leaves everything as it was. */
  readonly verify?: (staged: FileHandle) => Promise<void>
}

const NEW_FILE_MODE = 0o666

/** Returns what a stat says of the new file. */
export async function publish(publication: Publication): Promise<BigIntStats> {
  const { path, replaces } = publication
  const folder = dirname(path)
  if (replaces === undefined) await mkdir(folder, { recursive: true })
  // Hidden, and named so that a person who finds one knows what it was for.
  const staged = join(folder, `.${basename(path).slice(0, 100)}.${randomBytes(6).toString('hex')}.staged`)
  try {
    await stage(staged, publication)
    if (replaces === undefined) await place(staged, path)
    else await replace(staged, path, replaces)
  } catch (error) {
    await rm(staged, { force: true }).catch(() => {}) // what failed matters more
    throw error
  }
  await syncFolder(folder)
  const stats = await statOf(path)
  if (stats === undefined) throw new FsError(`"${path}" was removed right after it was written`, 'FS_STALE_VERSION')
  return stats
}

async function stage(staged: string, { parts, replaces, verify }: Publication): Promise<void> {
  const mode = replaces === undefined ? NEW_FILE_MODE : Number(replaces.mode) & 0o7777
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL
  const file = await open(staged, flags, replaces === undefined ? mode : 0o600)
  try {
    let position = 0
    for (const part of parts) {
      let written = 0
      while (written < part.length) {
        written += (await file.write(part, written, part.length - written, position + written)).bytesWritten
      }
      position += part.length
    }
    if (replaces !== undefined) {
      await keepOwner(file, replaces)
      await file.chmod(mode)
    }
    await verify?.(file)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Only the superuser may give files away; everybody else owns what they write. */
async function keepOwner(file: FileHandle, { uid, gid }: BigIntStats): Promise<void> {
  if (process.getuid?.() !== 0 && Number(gid) === process.getgid?.()) return
  await file.chown(Number(uid), Number(gid)).catch(() => {})
}

/** Nobody may have changed the file since it was looked at. */
async function replace(staged: string, path: string, replaces: BigIntStats): Promise<void> {
  const now = await statOf(path)
  if (now === undefined || versionOf(now) !== versionOf(replaces)) {
    throw new FsError(
      `"${path}" was changed by somebody else while it was being written; read it again`,
      'FS_STALE_VERSION',
    )
  }
  await rename(staged, path)
}

/** A link fails where a file appeared meanwhile, so that of two creators one loses. */
async function place(staged: string, path: string): Promise<void> {
  try {
    await link(staged, path)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') {
      throw new FsError(`"${path}" appeared while it was being created; read it first`, 'FS_ALREADY_EXISTS', {
        cause: error,
      })
    }
    // File systems without hard links: the check and the rename are two steps there.
    if ((await statOf(path)) !== undefined) throw error
    await rename(staged, path)
    return
  }
  await rm(staged, { force: true })
}

/** The name is durable once the folder is. Some file systems cannot flush a folder; the file itself is flushed. */
async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, constants.O_RDONLY)
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  } catch {
    // No handle on a folder (Windows), or none that can be flushed.
  }
}
