// Watches files by their folders, since editors save by putting another file in place. Tells of a change only when a file has other
// content than before and has been left alone for a moment.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync, watch, type FSWatcher } from 'node:fs'
import { dirname } from 'node:path'

export interface WatchOptions {
  /** How long files must be left alone before a change counts, in milliseconds. Default 50. */
  readonly quietMs?: number
}

/** Some editors take a file away before they put the new one in its place. */
const GONE_MS = 300

interface WatchedFolder {
  readonly watcher: FSWatcher
  readonly identity: string
}

export class FileWatch {
  private readonly files: () => readonly string[]
  private readonly changed: (files: readonly string[]) => Promise<void>
  private readonly quietMs: number
  private readonly folders = new Map<string, WatchedFolder>()
  /** Files that were there and have not been seen by the last look. */
  private readonly gone = new Set<string>()
  private contents = new Map<string, string>()
  /** When what runs now began to be read; milliseconds since the epoch. */
  private since: number
  private timer: NodeJS.Timeout | undefined
  private looking = false
  private closed = false

  /**
   * `files` is asked again after each change. `changed` is awaited before the next one is told. What has been written after `since`,
   * when the host began to read its files, counts as changed.
   */
  constructor(
    files: () => readonly string[],
    changed: (files: readonly string[]) => Promise<void>,
    since: number,
    { quietMs = 50 }: WatchOptions = {},
  ) {
    this.files = files
    this.changed = changed
    this.since = since
    this.quietMs = quietMs
    this.follow()
  }

  close(): void {
    this.closed = true
    clearTimeout(this.timer)
    for (const { watcher } of this.folders.values()) watcher.close()
    this.folders.clear()
  }

  private follow(): void {
    const files = this.files()
    this.contents = new Map(files.map((file) => [file, this.contents.get(file) ?? contentBefore(file, this.since)]))
    if ([...this.contents.values()].includes(UNKNOWN)) this.touched()
    const folders = new Set(files.map((file) => nearestFolder(dirname(file))))
    for (const [folder, { identity }] of this.folders) {
      if (!folders.has(folder) || identityOf(folder) !== identity) this.leave(folder)
    }
    for (const folder of folders) if (!this.folders.has(folder)) this.watch(folder)
  }

  private watch(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, () => this.touched())
      // A folder that is removed takes its watcher along; the next look finds what there is instead.
      watcher.on('error', () => {
        this.leave(folder)
        this.touched()
      })
      this.folders.set(folder, { watcher, identity: identityOf(folder) })
    } catch {
      // Gone since it was found, or not to be watched: the files in it are looked at whenever another one changes.
    }
  }

  private leave(folder: string): void {
    this.folders.get(folder)?.watcher.close()
    this.folders.delete(folder)
  }

  private touched(ms = this.quietMs): void {
    if (this.closed) return
    clearTimeout(this.timer)
    this.timer = setTimeout(() => void this.look(), ms)
    this.timer.unref()
  }

  private async look(): Promise<void> {
    if (this.looking) return this.touched()
    this.looking = true
    const now = Date.now()
    const changed = this.differing()
    if (changed.length > 0) await this.changed(changed)
    this.looking = false
    this.since = now
    if (this.closed) return
    this.follow()
    if (this.gone.size > 0) this.touched(GONE_MS)
  }

  private differing(): string[] {
    const changed: string[] = []
    for (const [file, before] of this.contents) {
      const content = contentOf(file)
      const back = this.gone.delete(file)
      if (content === before) continue
      if (content === '' && !back) this.gone.add(file)
      else {
        this.contents.set(file, content)
        changed.push(file)
      }
    }
    return changed
  }
}

/** Nothing is known of the content that was read, since the file may have been written meanwhile. */
const UNKNOWN = '?'

function contentBefore(file: string, time: number): string {
  const stat = statSync(file, { throwIfNoEntry: false })
  return stat !== undefined && Math.max(stat.mtimeMs, stat.ctimeMs) >= time ? UNKNOWN : contentOf(file)
}

/** Stands for the content of a file; empty when there is none. */
function contentOf(file: string): string {
  try {
    return createHash('sha1').update(readFileSync(file)).digest('hex')
  } catch {
    return ''
  }
}

/** Tells a folder from another one that has come in its place, which may have got its inode. */
function identityOf(folder: string): string {
  const { ino, birthtimeMs } = statSync(folder, { throwIfNoEntry: false }) ?? { ino: 0, birthtimeMs: 0 }
  return `${ino} ${birthtimeMs}`
}

/** A folder that is missing is waited for in the next one above that is there. */
function nearestFolder(folder: string): string {
  const parent = dirname(folder)
  return existsSync(folder) || parent === folder ? folder : nearestFolder(parent)
}
