// Reading a whole log, streamed: checks each line and tells apart a torn end from damage in the middle. Never writes.
import { isUtf8 } from 'node:buffer'
import { open } from 'node:fs/promises'
import { errorMessage } from '@deepseek-ai/cordis'
import { corrupt, SessionError } from './errors.ts'
import type { SessionEvent } from './events.ts'
import { deepFreeze } from './freeze.ts'
import { LineSplitter } from './lines.ts'

const READ_CHUNK = 256 * 1024

export interface ScanEnd {
  /** Number of whole events. */
  readonly events: number
  /** End of the last whole line. */
  readonly offset: number
  /** Bytes after it: the beginning of a line that was never finished. */
  readonly tornBytes: number
  /** The last event is whole and lacks only its LF, which `offset` does not count. */
  readonly unterminated: boolean
}

/** Hands each event to `onEvent` in order. Throws `SESSION_CORRUPT` with the line, `SESSION_FORMAT`, or what `onEvent` throws as corruption. */
export async function scanLog(
  path: string,
  onEvent: (event: SessionEvent, offset: number, bytes: number) => void,
): Promise<ScanEnd> {
  const splitter = new LineSplitter()
  let seq = 0
  const take = (bytes: Buffer, offset: number): void => {
    const event = parseEvent(bytes, seq, path)
    if (seq === 0) checkStart(event, path)
    try {
      onEvent(event, offset, bytes.length + 1)
    } catch (error) {
      throw corrupt(path, seq + 1, `the data is not that of a "${event.type}" event (${errorMessage(error)})`, error)
    }
    seq++
  }
  const handle = await open(path, 'r')
  try {
    const buffer = Buffer.allocUnsafe(READ_CHUNK)
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, null)
      if (bytesRead === 0) break
      for (const { bytes, offset } of splitter.push(buffer.subarray(0, bytesRead))) take(bytes, offset)
    }
  } finally {
    await handle.close()
  }
  const { bytes, offset } = splitter.rest()
  if (bytes.length === 0) return { events: seq, offset, tornBytes: 0, unterminated: false }
  if (!isWholeEvent(bytes, seq)) return { events: seq, offset, tornBytes: bytes.length, unterminated: false }
  take(bytes, offset)
  return { events: seq, offset: offset + bytes.length, tornBytes: 0, unterminated: true }
}

/** Parses one line, which must hold the event `seq`. Throws `SESSION_CORRUPT`. */
export function parseEvent(bytes: Buffer, seq: number, path: string): SessionEvent {
  if (!isUtf8(bytes)) throw corrupt(path, seq + 1, 'it is not UTF-8')
  let value: unknown
  try {
    value = JSON.parse(bytes.toString('utf8'))
  } catch (error) {
    throw corrupt(path, seq + 1, 'it is not JSON', error)
  }
  if (!isEvent(value)) throw corrupt(path, seq + 1, 'it is not an event {seq, time, type, data}')
  if (value.seq !== seq) throw corrupt(path, seq + 1, `seq ${seq} should stand there, and it holds seq ${value.seq}`)
  return deepFreeze(value)
}

function isWholeEvent(bytes: Buffer, seq: number): boolean {
  try {
    parseEvent(bytes, seq, '')
    return true
  } catch {
    return false // torn
  }
}

function isEvent(value: unknown): value is SessionEvent {
  if (typeof value !== 'object' || value === null) return false
  const { seq, time, type, data } = value as Partial<Record<keyof SessionEvent, unknown>>
  return (
    Number.isSafeInteger(seq) &&
    typeof time === 'number' &&
    typeof type === 'string' &&
    type !== '' &&
    typeof data === 'object' &&
    data !== null
  )
}

function checkStart(event: SessionEvent, path: string): void {
  if (event.type !== 'session/start') throw corrupt(path, 1, `it must be "session/start", and it is "${event.type}"`)
  const format: unknown = event.data.format
  if (format === 1) return
  throw new SessionError(
    `the session log ${path} has format ${JSON.stringify(format)}, and this version reads format 1 only; open it with the version that wrote it`,
    'SESSION_FORMAT',
  )
}
