// The files of a session: beginning a log, loading one and mending its end, removing it. Each log is held under its lock.
import { closeSync, existsSync, ftruncateSync, mkdirSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { notFound, SessionError, systemCode } from './errors.ts'
import type { SessionEventMap } from './events.ts'
import { acquireLock, type Lock } from './lock.ts'
import { OffsetIndex } from './log-file.ts'
import { Projection } from './projection.ts'
import { scanLog, type ScanEnd } from './scan.ts'
import { STORED_TAIL, Tail } from './tail.ts'

export const LOG_SUFFIX = '.jsonl'
export const LOCK_SUFFIX = '.lock'

export interface StoredLog {
  readonly path: string
  readonly fd: number
  readonly lock: Lock
  readonly projection: Projection
  readonly tail: Tail
  /** Where writing goes on. */
  readonly at: { readonly seq: number; readonly offset: number; readonly index: OffsetIndex }
  readonly last: { readonly seq: number; readonly time: number; readonly createdAt: number } | undefined
  /** What was done to the end of the file, for the log itself. */
  readonly notice?: SessionEventMap['session/notice']
}

export function logPath(dir: string, id: string): string {
  return join(dir, `${id}${LOG_SUFFIX}`)
}

export function lockPath(dir: string, id: string): string {
  return join(dir, `${id}${LOCK_SUFFIX}`)
}

/** Creates an empty log. Throws `SESSION_EXISTS`. */
export function beginLog(dir: string, id: string): StoredLog {
  const path = logPath(dir, id)
  if (existsSync(path)) throw sessionExists(id)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const lock = acquireLock(id, lockPath(dir, id))
  try {
    const fd = openSync(path, 'wx', 0o600)
    const at = { seq: 0, offset: 0, index: new OffsetIndex() }
    return { path, fd, lock, projection: new Projection(), tail: new Tail(STORED_TAIL), at, last: undefined }
  } catch (error) {
    lock.release()
    throw systemCode(error) === 'EEXIST' ? sessionExists(id) : error
  }
}

/** Reads a log through, streamed. Throws `SESSION_NOT_FOUND`, `SESSION_LOCKED`, `SESSION_CORRUPT`, `SESSION_FORMAT`; then the file is as it was. */
export async function loadLog(dir: string, id: string): Promise<StoredLog> {
  const path = logPath(dir, id)
  if (!existsSync(path)) throw notFound(id, dir)
  const lock = acquireLock(id, lockPath(dir, id))
  try {
    return await load(path, lock)
  } catch (error) {
    lock.release()
    throw error
  }
}

/** False when there was nothing to remove. */
export function removeLog(dir: string, id: string): boolean {
  const path = logPath(dir, id)
  if (!existsSync(path)) return false
  // Not under the feet of another process that writes it.
  const lock = acquireLock(id, lockPath(dir, id))
  try {
    unlinkSync(path)
  } finally {
    lock.release()
  }
  return true
}

export function sessionExists(id: string): SessionError {
  return new SessionError(`there is a session "${id}" already; open it, or choose another id`, 'SESSION_EXISTS')
}

async function load(path: string, lock: Lock): Promise<StoredLog> {
  const projection = new Projection()
  const tail = new Tail(STORED_TAIL)
  const index = new OffsetIndex()
  let createdAt = 0
  let time = 0
  const end = await scanLog(path, (event, offset, bytes) => {
    projection.apply(event)
    if (event.seq === 0) createdAt = event.time
    time = event.time
    index.note(event.seq, offset)
    tail.push(event, bytes, event.seq)
  })
  if (end.events === 0) {
    throw new SessionError(
      `the session log ${path} is damaged at line 1: it ends before its first event does; remove it`,
      'SESSION_CORRUPT',
    )
  }
  const fd = openSync(path, 'r+')
  try {
    const at = { seq: end.events, offset: mendEnd(fd, end), index }
    const last = { seq: end.events - 1, time, createdAt }
    const notice = end.tornBytes > 0 ? { notice: tornNotice(end) } : {}
    return { path, fd, lock, projection, tail, at, last, ...notice }
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

/** Makes the file end with a whole line; returns where that is. */
function mendEnd(fd: number, { offset, tornBytes, unterminated }: ScanEnd): number {
  if (tornBytes > 0) ftruncateSync(fd, offset)
  if (!unterminated) return offset
  writeSync(fd, '\n', offset)
  return offset + 1
}

function tornNotice({ events, tornBytes }: ScanEnd): SessionEventMap['session/notice'] {
  return {
    code: 'TORN_LINE_DROPPED',
    message: `The log ended in the middle of event ${events}, as after a crash or a full disk. Its ${tornBytes} bytes were dropped; everything before them is whole.`,
  }
}
