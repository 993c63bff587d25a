// Reads and sweeps the folder of kept output, in the background: what is too old goes, and what belongs to nobody.
import { readFile, readdir, rm, rmdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Ledger } from './ledger.ts'
import { PARTIAL, hostPid, isOurFolder } from './names.ts'
import type { SpillReceipt } from './types.ts'

/** A folder that was written to within this time may belong to another host that runs now. */
const ORPHAN_MS = 3_600_000

export interface Sweep {
  readonly dir: string
  readonly ledger: Ledger
  readonly keepMs: number
  /** Folders of sessions that exist; undefined when that is not known. */
  readonly wanted: ReadonlySet<string> | undefined
  /** Folder of this run of the host. */
  readonly own: string
  readonly signal: AbortSignal
}

/** One folder after the other; stops when the signal fires. */
export async function sweep(task: Sweep): Promise<void> {
  for (const folder of await names(task.dir)) {
    if (task.signal.aborted) return
    if (isOurFolder(folder) && folder !== task.own) await sweepFolder(task, folder)
  }
}

async function sweepFolder(task: Sweep, folder: string): Promise<void> {
  const { dir, ledger, keepMs } = task
  const now = Date.now()
  const at = join(dir, folder)
  let newest = (await stat(at).catch(() => undefined))?.mtimeMs ?? now
  const files: { path: string; bytes: number; mtimeMs: number }[] = []
  for (const name of await names(at)) {
    if (name.endsWith(PARTIAL)) continue
    const path = join(at, name)
    const facts = await stat(path).catch(() => undefined) // gone meanwhile
    if (facts?.isFile() !== true) continue
    newest = Math.max(newest, facts.mtimeMs)
    files.push({ path, bytes: facts.size, mtimeMs: facts.mtimeMs })
  }
  if (task.signal.aborted) return
  const isLive = ledger.entries(folder).length > 0
  if (!isLive && now - newest > ORPHAN_MS && isOrphan(task, folder)) {
    await rm(at, { recursive: true, force: true })
    return
  }
  for (const { path, bytes, mtimeMs } of files) {
    if (ledger.has(path)) continue // of this run
    if (now - mtimeMs > keepMs) await removeFile(path)
    else ledger.add({ path, folder, bytes, open: false })
  }
  await rmdir(at).catch(() => {}) // still holds files
}

function isOrphan({ wanted }: Sweep, folder: string): boolean {
  const pid = hostPid(folder)
  if (pid !== undefined) return !isAlive(pid)
  return wanted !== undefined && !wanted.has(folder)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true })
  await rm(path + PARTIAL, { force: true })
}

/** What a folder holds, oldest first. */
export async function listFolder(at: string): Promise<SpillReceipt[]> {
  const all = await names(at)
  const partial = new Set(all.filter((name) => name.endsWith(PARTIAL)))
  const receipts: SpillReceipt[] = []
  for (const name of all.filter((each) => !partial.has(each))) {
    const path = join(at, name)
    const facts = await stat(path).catch(() => undefined)
    if (facts?.isFile() !== true) continue
    const complete = !partial.has(name + PARTIAL)
    receipts.push({ path, bytes: facts.size, complete, ...(complete ? {} : { reason: await reasonOf(path) }) })
  }
  return receipts
}

async function reasonOf(path: string): Promise<string> {
  const reason = await readFile(path + PARTIAL, 'utf8').catch(() => '')
  return reason === '' ? 'it is still being written, or its host ended while it was' : reason
}

async function names(at: string): Promise<string[]> {
  const found = await readdir(at).catch(() => []) // not there
  return found.toSorted((a, b) => (a < b ? -1 : 1))
}
