// Counts the bytes on disk by folder and makes room: the oldest closed file goes first, an open one never.
import { rmSync } from 'node:fs'
import { basename } from 'node:path'
import { PARTIAL } from './names.ts'

export interface Entry {
  readonly path: string
  readonly folder: string
  bytes: number
  open: boolean
}

export interface Quotas {
  readonly maxSessionBytes: number
  readonly maxTotalBytes: number
}

export class Ledger {
  private readonly quotas: Quotas
  private readonly folders = new Map<string, Set<Entry>>()
  private readonly paths = new Set<string>()
  private readonly sums = new Map<string, number>()
  private total = 0

  constructor(quotas: Quotas) {
    this.quotas = quotas
  }

  add(entry: Entry): void {
    if (this.paths.has(entry.path)) return
    this.paths.add(entry.path)
    const entries = this.folders.get(entry.folder) ?? new Set()
    entries.add(entry)
    this.folders.set(entry.folder, entries)
    this.count(entry.folder, entry.bytes)
  }

  has(path: string): boolean {
    return this.paths.has(path)
  }

  /** An open file has grown. */
  grow(entry: Entry, bytes: number): void {
    if (!this.paths.has(entry.path)) return
    entry.bytes += bytes
    this.count(entry.folder, bytes)
  }

  /** How many of `wanted` bytes may be written to `entry`, after older files have made room; and which quota says no to the rest. */
  admit(entry: Entry, wanted: number): { readonly bytes: number; readonly refusedBy?: string } {
    const { maxSessionBytes, maxTotalBytes } = this.quotas
    const inSession = this.makeRoom(wanted, maxSessionBytes, () => this.sums.get(entry.folder) ?? 0, entry.folder)
    const inAll = this.makeRoom(inSession, maxTotalBytes, () => this.total)
    if (inAll === wanted) return { bytes: wanted }
    const refusedBy =
      inAll < inSession
        ? `all kept output may take ${maxTotalBytes} bytes`
        : `the output of a session may take ${maxSessionBytes} bytes`
    return { bytes: inAll, refusedBy }
  }

  remove(entry: Entry): void {
    const entries = this.folders.get(entry.folder)
    if (entries?.delete(entry) !== true) return
    this.paths.delete(entry.path)
    if (entries.size === 0) this.folders.delete(entry.folder)
    this.count(entry.folder, -entry.bytes)
  }

  entries(folder: string): Entry[] {
    return [...(this.folders.get(folder) ?? [])]
  }

  private count(folder: string, bytes: number): void {
    this.total += bytes
    const sum = (this.sums.get(folder) ?? 0) + bytes
    if (sum === 0 && !this.folders.has(folder)) this.sums.delete(folder)
    else this.sums.set(folder, sum)
  }

  private makeRoom(wanted: number, limit: number, used: () => number, folder?: string): number {
    while (used() + wanted > limit && this.evictOldest(folder));
    return Math.max(0, Math.min(wanted, limit - used()))
  }

  private evictOldest(folder: string | undefined): boolean {
    let oldest: Entry | undefined
    const groups = folder === undefined ? this.folders.values() : [this.folders.get(folder) ?? []]
    for (const entries of groups) {
      for (const entry of entries) if (!entry.open && (oldest === undefined || isOlder(entry, oldest))) oldest = entry
    }
    if (oldest === undefined) return false
    rmSync(oldest.path, { force: true })
    rmSync(oldest.path + PARTIAL, { force: true })
    this.remove(oldest)
    return true
  }
}

/** File names begin with the time of their creation. */
function isOlder(a: Entry, b: Entry): boolean {
  return basename(a.path) < basename(b.path)
}
