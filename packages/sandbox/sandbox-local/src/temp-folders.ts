// The temp folders of sessions: where they are, that they are ours alone, and that none stays behind.
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { SandboxError } from '@deepseek-ai/dsh-sandbox'

/** A folder of a process that is gone is removed when nobody has touched it for so long. */
const STALE_MS = 60 * 60 * 1000

export class TempFolders {
  /** Real path; mode 0700 and ours. */
  readonly base: string
  private readonly folders = new Map<string, string>()

  /** Throws `SANDBOX_UNAVAILABLE` when someone else has the place. */
  constructor(base = defaultBase()) {
    mkdirSync(base, { recursive: true, mode: 0o700 })
    const stat = lstatSync(base)
    const uid = process.geteuid?.()
    if (!stat.isDirectory() || (uid !== undefined && stat.uid !== uid)) {
      throw new SandboxError(
        `the folder for temporary files ${JSON.stringify(base)} belongs to someone else; remove it or set tempBase`,
        'SANDBOX_UNAVAILABLE',
      )
    }
    chmodSync(base, 0o700)
    this.base = realpathSync(base)
    this.removeStale()
  }

  of(sessionId: string): string {
    const known = this.folders.get(sessionId)
    if (known !== undefined && statSync(known, { throwIfNoEntry: false })?.isDirectory()) return known
    const name = sessionId.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64)
    const made = mkdtempSync(join(this.base, `${process.pid}-${name}-`))
    this.folders.set(sessionId, made)
    return made
  }

  /** An empty file that nobody can write. */
  emptyFile(): string {
    const file = join(this.of('.empty'), 'empty')
    if (statSync(file, { throwIfNoEntry: false }) === undefined) writeFileSync(file, '', { mode: 0o444 })
    return file
  }

  remove(sessionId: string): void {
    const folder = this.folders.get(sessionId)
    if (folder === undefined) return
    this.folders.delete(sessionId)
    removeTree(folder)
  }

  removeAll(): void {
    for (const sessionId of this.folders.keys()) this.remove(sessionId)
  }

  private removeStale(): void {
    for (const name of readdirSync(this.base)) {
      const owner = Number(/^(\d+)-/.exec(name)?.[1])
      const stat = lstatSync(join(this.base, name), { throwIfNoEntry: false })
      if (!(owner > 0) || stat === undefined || isAlive(owner) || Date.now() - stat.mtimeMs < STALE_MS) continue
      removeTree(join(this.base, name))
    }
  }
}

/** Not in `/tmp`, which a command sees as its own temp folder; `/var/tmp` outlives a reboot, hence the removal of old ones. */
function defaultBase(): string {
  const parent = process.platform === 'linux' && isFolder('/var/tmp') ? '/var/tmp' : tmpdir()
  return join(parent, `dsh-sandbox-${process.geteuid?.() ?? 'user'}`)
}

function removeTree(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    openFolders(folder)
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A command may have left folders that even their owner cannot enter. */
function openFolders(folder: string): void {
  chmodSync(folder, 0o700)
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) openFolders(join(folder, entry.name))
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** For what must not lie within the base, such as the scratch folder of a probe. */
export function besideBase(base: string): string {
  return dirname(base)
}
