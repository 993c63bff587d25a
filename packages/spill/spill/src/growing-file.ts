// A file that grows until a quota or the disk says no; from then on it only counts what is lost. Never throws.
import { closeSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { errorMessage } from '@deepseek-ai/cordis'
import type { Entry, Ledger } from './ledger.ts'
import { PARTIAL } from './names.ts'
import type { SpillFile, SpillReceipt } from './types.ts'

export interface GrowingFileParts {
  readonly fd: number
  readonly entry: Entry
  readonly ledger: Ledger
  readonly maxFileBytes: number
  readonly onClosed: (file: GrowingFile) => void
}

export class GrowingFile implements SpillFile {
  readonly path: string
  readonly entry: Entry
  private readonly parts: GrowingFileParts
  private reason: string | undefined
  private receipt: SpillReceipt | undefined

  constructor(parts: GrowingFileParts) {
    this.parts = parts
    this.entry = parts.entry
    this.path = parts.entry.path
  }

  write(chunk: Uint8Array): void {
    if (this.reason !== undefined || this.receipt !== undefined || chunk.byteLength === 0) return
    const { entry, ledger, maxFileBytes } = this.parts
    const room = Math.min(chunk.byteLength, maxFileBytes - entry.bytes)
    const { bytes, refusedBy } = room > 0 ? ledger.admit(entry, room) : { bytes: 0 }
    try {
      this.writeAll(chunk.subarray(0, Math.max(0, bytes)))
    } catch (error) {
      this.cut(errorMessage(error))
      return
    }
    if (bytes < chunk.byteLength) this.cut(refusedBy ?? `a file may take ${maxFileBytes} bytes`)
  }

  finish(): SpillReceipt {
    if (this.receipt !== undefined) return this.receipt
    const { path, reason, parts } = this
    const { fd, entry, onClosed } = parts
    entry.open = false
    try {
      closeSync(fd)
      if (reason === undefined) rmSync(path + PARTIAL, { force: true })
    } catch (error) {
      this.cut(errorMessage(error)) // a network file system may say only now that it is full
    }
    const why = this.reason
    this.receipt = {
      path,
      bytes: entry.bytes,
      complete: why === undefined,
      ...(why === undefined ? {} : { reason: why }),
    }
    onClosed(this)
    return this.receipt
  }

  /** Ends the file early. */
  abandon(reason: string): void {
    if (this.receipt !== undefined) return
    this.cut(reason)
    this.finish()
  }

  private writeAll(chunk: Uint8Array): void {
    const { fd, entry, ledger } = this.parts
    for (let at = 0; at < chunk.byteLength;) {
      const written = writeSync(fd, chunk, at)
      ledger.grow(entry, written)
      at += written
    }
  }

  private cut(reason: string): void {
    if (this.reason !== undefined) return
    this.reason = reason
    try {
      writeFileSync(this.path + PARTIAL, reason, { mode: 0o600 })
    } catch {
      // The mark itself is there since the file was opened; on a full disk it stays without the reason.
    }
  }
}
