// One log file on disk: ordered buffered writing, durability, and paged reading through a sparse index of byte offsets. Knows
// lines and sequence numbers; what an event means is not its business.
import { closeSync, fdatasync, fstatSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { closed, systemCode, notFound, writeFailed, type SessionError } from './errors.ts'
import type { SessionEvent } from './events.ts'
import { LineSplitter } from './lines.ts'
import { parseEvent } from './scan.ts'

/** `always` syncs after each write, `batch` on `flush()` and `close()`, `never` leaves it to the system. */
export type FsyncPolicy = 'always' | 'batch' | 'never'

export interface LogFileOptions {
  readonly id: string
  readonly path: string
  readonly fsync: FsyncPolicy
  /** Called once when writing begins to fail, and again only after it has worked in between. */
  readonly onFailure: (error: SessionError) => void
}

const INDEX_STEP = 256
const BATCH_BYTES = 64 * 1024
const READ_CHUNK = 128 * 1024
const syncFile = promisify(fdatasync)

/** Where every 256th event begins. */
export class OffsetIndex {
  private readonly offsets: number[] = []

  note(seq: number, offset: number): void {
    if (seq % INDEX_STEP === 0) this.offsets.push(offset)
  }

  /** The nearest known place at or before an event. */
  before(seq: number): { seq: number; offset: number } {
    const slot = Math.min(Math.floor(seq / INDEX_STEP), this.offsets.length - 1)
    return { seq: slot * INDEX_STEP, offset: this.offsets[slot] ?? 0 }
  }
}

export class LogFile {
  private readonly options: LogFileOptions
  private readonly index: OffsetIndex
  private fd: number | undefined
  private readonly pending = new PendingLines()
  private scheduled: NodeJS.Immediate | undefined
  /** End of what is written. */
  private position: number
  /** End of what is written and queued. */
  private end: number
  private synced: number
  private syncing: Promise<void> = Promise.resolve()
  private failure: SessionError | undefined
  /** Events below this `seq` are in the file. */
  written: number

  constructor(options: LogFileOptions, fd: number, at: { seq: number; offset: number; index: OffsetIndex }) {
    this.options = options
    this.fd = fd
    this.written = at.seq
    this.position = this.end = this.synced = at.offset
    this.index = at.index
  }

  /** Queues one line and returns its size in bytes. It is written before the event loop goes on. */
  append(seq: number, line: string): number {
    this.index.note(seq, this.end)
    const bytes = this.pending.push(line)
    this.end += bytes
    // A caller that appends in one long synchronous loop must not fill the memory.
    if (this.pending.size > BATCH_BYTES && this.failure === undefined) this.drain()
    else this.scheduled ??= setImmediate(() => this.drain())
    return bytes
  }

  /** Writes what is queued, now. Failures are kept for `flush` and told to `onFailure`. */
  drain(): void {
    clearImmediate(this.scheduled)
    this.scheduled = undefined
    if (this.pending.count === 0 || this.fd === undefined) return
    try {
      this.writePending(this.fd)
      this.failure = undefined
    } catch (error) {
      this.fail(error)
      return
    }
    if (this.options.fsync === 'always') this.sync().catch((error: unknown) => this.fail(error))
  }

  /** Resolves when everything appended so far is in the file, and on the device as the policy says. */
  async flush(): Promise<void> {
    this.drain()
    if (this.failure !== undefined) throw this.failure
    if (this.options.fsync === 'never') return
    try {
      await this.sync()
    } catch (error) {
      throw this.fail(error)
    }
  }

  /** Flushes and gives the file back, which happens even when the flush fails. */
  async close(): Promise<void> {
    try {
      await this.flush()
    } finally {
      await this.syncing.catch(() => {}) // reported by the flush that it belongs to
      if (this.fd !== undefined) closeSync(this.fd)
      this.fd = undefined
    }
  }

  /** Events `from`…`to` inclusive, all of which are below `written`. */
  async read(from: number, to: number): Promise<SessionEvent[]> {
    const { id, path } = this.options
    const start = this.index.before(from)
    const events: SessionEvent[] = []
    const splitter = new LineSplitter(start.offset)
    // A handle of its own: closing the writing one would take it away under a read that is under way.
    const handle = await open(path, 'r').catch((error: unknown) => {
      throw systemCode(error) === 'ENOENT' ? notFound(id, path) : error
    })
    try {
      const buffer = Buffer.allocUnsafe(READ_CHUNK)
      for (let { seq, offset } = start; seq <= to;) {
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, offset)
        if (bytesRead === 0) break
        offset += bytesRead
        for (const { bytes } of splitter.push(buffer.subarray(0, bytesRead))) {
          if (seq >= from && seq <= to) events.push(parseEvent(bytes, seq, path))
          seq++
        }
      }
    } finally {
      await handle.close()
    }
    return events
  }

  private writePending(fd: number): void {
    // A removed file takes writes without complaint and loses them.
    if (fstatSync(fd).nlink === 0) throw new Error('the file was removed while it was open')
    const { pending, position } = this
    const { bytes, size } = pending
    // At a fixed position: a write that failed half-way is written over by the next attempt.
    for (let done = 0; done < size;) done += writeSync(fd, bytes, done, size - done, position + done)
    this.position += size
    this.written += pending.count
    pending.clear()
  }

  private sync(): Promise<void> {
    const target = this.position
    const run = async (): Promise<void> => {
      if (this.synced >= target) return // a later sync covered it
      if (this.fd === undefined) throw closed(this.options.id)
      const upTo = this.position
      await syncFile(this.fd)
      this.synced = upTo
    }
    // One after the other: a sync that is under way may have begun before the newest bytes were written.
    const mine = this.syncing.then(run, run)
    this.syncing = mine
    mine.catch(() => {}) // the caller reports it; a later sync tries again
    return mine
  }

  private fail(thrown: unknown): SessionError {
    const error = writeFailed(this.options.path, thrown)
    const first = this.failure === undefined
    this.failure = error
    // Later: the append that led here has to finish first.
    if (first) queueMicrotask(() => this.options.onFailure(error))
    return error
  }
}

const LF = 0x0a
const SMALL = 4 * 1024

/** Lines that wait, as the bytes they are written as, one after the other in a buffer that grows. */
class PendingLines {
  bytes = Buffer.allocUnsafe(SMALL)
  /** Bytes in use. */
  size = 0
  count = 0

  /** Returns the size of the line in bytes, its LF included. */
  push(line: string): number {
    // No UTF-16 unit takes more than three bytes: only a line that may not fit has its bytes counted.
    const most = line.length * 3 + 1
    if (this.size + most > this.bytes.length) this.reserve(Buffer.byteLength(line) + 1)
    const start = this.size
    const end = start + this.bytes.write(line, start)
    this.bytes[end] = LF
    this.size = end + 1
    this.count++
    return this.size - start
  }

  clear(): void {
    this.size = 0
    this.count = 0
    // The room that a long line took is not kept for good.
    if (this.bytes.length > 2 * BATCH_BYTES) this.bytes = Buffer.allocUnsafe(SMALL)
  }

  private reserve(more: number): void {
    const needed = this.size + more
    if (needed <= this.bytes.length) return
    const grown = Buffer.allocUnsafe(Math.max(needed, 2 * this.bytes.length))
    this.bytes.copy(grown, 0, 0, this.size)
    this.bytes = grown
  }
}
