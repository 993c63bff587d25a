// A folder held open. What is done through it happens in that very folder, wherever its path leads by then: nobody can swap a link in between
// a check and a write. Where the system has no way to name a file below a handle, the path is checked again instead.
import { constants, existsSync, lstatSync, realpathSync, type BigIntStats } from 'node:fs'
import { mkdir, open, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { FsError } from '@deepseek-ai/dsh-fs'
import { codeOf, quoted } from './errno.ts'
import { close, statsOf } from './handles.ts'
import { lstatOf } from './version.ts'

const FOLDER = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0)
/** Linux: a handle on a folder that may be entered but not listed. */
const O_PATH = 0o10_000_000
/** Linux names what is below a handle like this. */
const DESCRIPTORS = '/proc/self/fd'

export class Anchor {
  /** A real path. */
  readonly folder: string
  readonly #handle: FileHandle | undefined

  constructor(folder: string, handle: FileHandle | undefined) {
    this.folder = folder
    this.#handle = handle
  }

  /** `folder` is a real path. Throws `FS_STALE_VERSION` when it leads elsewhere by now, and as the system does. */
  static async open(folder: string): Promise<Anchor> {
    const anchor = new Anchor(folder, await openFolder(folder).catch((error: unknown) => refused(folder, error)))
    try {
      anchor.check()
      return anchor
    } catch (error) {
      await anchor.close()
      throw error
    }
  }

  /** Makes the folders that are missing, each in the one that was made or found before. */
  static async make(folder: string): Promise<Anchor> {
    try {
      return await Anchor.open(folder)
    } catch (error) {
      const parent = dirname(folder)
      if (codeOf(error) !== 'ENOENT' || parent === folder) throw error
      const above = await Anchor.make(parent)
      try {
        return await above.#below(basename(folder))
      } finally {
        await above.close()
      }
    }
  }

  /** How to call a file of this folder. */
  at(name: string): string {
    return join(this.#handle === undefined || !hasDescriptors() ? this.folder : this.#path(this.#handle), name)
  }

  /** The path of the folder, which has no link in it, still leads to what is held. */
  check(): void {
    const now = lstatSync(this.folder, { bigint: true })
    const held = this.#handle === undefined ? now : statsOf(this.#handle)
    if (realpathSync.native(this.folder) !== this.folder || !isSame(now, held)) throw elsewhere(this.folder)
  }

  /** Whether what is done through `at` needs no further check. */
  get isHeld(): boolean {
    return this.#handle !== undefined && hasDescriptors()
  }

  /** Names in it are durable from here on. Some file systems cannot flush a folder; the files themselves are flushed. */
  async sync(): Promise<void> {
    await this.#handle?.sync().catch(() => {})
  }

  async close(): Promise<void> {
    await close(this.#handle)
  }

  async #below(name: string): Promise<Anchor> {
    const path = this.at(name)
    await mkdir(path).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error // made by somebody else meanwhile
    })
    await this.sync()
    return new Anchor(join(this.folder, name), await openFolder(path))
  }

  #path({ fd }: FileHandle): string {
    return `${DESCRIPTORS}/${fd}`
  }
}

/** A link where the folder was is no folder to the system; to the caller it is a path that leads elsewhere. */
async function refused(folder: string, error: unknown): Promise<never> {
  const now = codeOf(error) === 'ENOTDIR' ? await lstatOf(folder).catch(() => undefined) : undefined
  if (now?.isSymbolicLink() !== true) throw error
  realpathSync.native(folder) // throws for links that lead in a circle, as they did before
  throw elsewhere(folder)
}

function elsewhere(folder: string): FsError {
  return new FsError(`the path ${quoted(folder)} leads somewhere else now; read it again`, 'FS_STALE_VERSION')
}

async function openFolder(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, FOLDER)
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EACCES' && hasDescriptors()) return open(path, FOLDER | O_PATH)
    if (process.platform === 'win32' && (code === 'EPERM' || code === 'EISDIR' || code === 'EACCES')) return undefined
    throw error
  }
}

let descriptors: boolean | undefined

function hasDescriptors(): boolean {
  descriptors ??= process.platform === 'linux' && existsSync(DESCRIPTORS)
  return descriptors
}

export function isSame(a: BigIntStats, b: BigIntStats): boolean {
  return a.ino === b.ino && a.dev === b.dev
}
