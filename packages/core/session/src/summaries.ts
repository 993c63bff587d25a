// Summaries of stored logs without opening them: a fold over the bytes of each file, remembered with the place it reached, so
// that an append-only file is never read twice. The memory is kept in one cache file, which may be deleted at any time.
import { closeSync, fstatSync, openSync, readFileSync, readSync, renameSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTick } from 'node:timers/promises'
import { errorMessage } from '@deepseek-ai/cordis'
import { systemCode } from './errors.ts'
import type { SessionEvent, SessionSummary } from './events.ts'
import { LineSplitter } from './lines.ts'
import { isLocked } from './lock.ts'
import { firstMessageTitle, titleOf, UNTITLED } from './projection.ts'
import { LOG_SUFFIX, lockPath, logPath } from './stored.ts'

const CACHE_FILE = 'summaries.json'
const CACHE_VERSION = 1
const READ_CHUNK = 256 * 1024
/** How long the event loop may be held at a stretch. */
const SLICE_MS = 8
const HEAD = /^\{"seq":(\d+),"time":(\d+(?:\.\d+)?),"type":"([^"\\]+)"/

interface Folded {
  readonly ino: number
  mtimeMs: number
  /** Size of the file when it was last looked at. */
  size: number
  /** End of the last whole line that was folded. */
  offset: number
  cwd: string
  createdAt: number
  updatedAt: number
  events: number
  turnOpen: boolean
  title?: string
  firstText?: string
}

export class Summaries {
  private readonly dir: string
  private readonly warn: (message: string) => void
  private readonly folded: Map<string, Folded>
  private readonly buffer = Buffer.allocUnsafe(READ_CHUNK)
  private running: Promise<SessionSummary[]> = Promise.resolve([])
  private dirty = false

  constructor(dir: string, warn: (message: string) => void) {
    this.dir = dir
    this.warn = warn
    this.folded = readCache(join(dir, CACHE_FILE))
  }

  /** Every stored session except those in `skip`, in no order. A log that cannot be read is left out with a warning. */
  list(skip: { has(id: string): boolean }): Promise<SessionSummary[]> {
    // One at a time: they share the buffer and the memory.
    this.running = this.running.then(
      () => this.collect(skip),
      () => this.collect(skip),
    )
    return this.running
  }

  forget(id: string): void {
    this.dirty = this.folded.delete(id) || this.dirty
  }

  private async collect(skip: { has(id: string): boolean }): Promise<SessionSummary[]> {
    const ids = await listIds(this.dir)
    const summaries: SessionSummary[] = []
    let sliceEnd = performance.now() + SLICE_MS
    for (const id of ids) {
      if (skip.has(id)) continue
      try {
        for (const _ of this.fold(id)) {
          if (performance.now() < sliceEnd) continue
          await nextTick()
          sliceEnd = performance.now() + SLICE_MS
        }
        const state = this.folded.get(id)
        if (state !== undefined && state.events > 0) summaries.push(this.summary(id, state))
      } catch (error) {
        this.forget(id)
        if (systemCode(error) !== 'ENOENT') this.warn(`cannot list the session "${id}": ${errorMessage(error)}`)
      }
    }
    const present = new Set(ids)
    for (const id of this.folded.keys()) if (!present.has(id)) this.forget(id)
    this.save()
    return summaries
  }

  private summary(id: string, state: Folded): SessionSummary {
    const { cwd, createdAt, updatedAt, events } = state
    return {
      id,
      title: state.title ?? state.firstText ?? UNTITLED,
      cwd,
      createdAt,
      updatedAt,
      events,
      // Another process may be at work on it right now.
      interrupted: state.turnOpen && !isLocked(lockPath(this.dir, id)),
    }
  }

  /** Reads what was added since the last time; yields where the caller may pause. */
  private *fold(id: string): Generator<void, void, void> {
    const fd = openSync(logPath(this.dir, id), 'r')
    try {
      const { ino, size, mtimeMs } = fstatSync(fd)
      let state = this.folded.get(id)
      if (state?.ino === ino && state.size === size && state.mtimeMs === mtimeMs) return
      // Shorter or another file: what was remembered is of something else.
      if (state === undefined || state.ino !== ino || size < state.offset) state = blank(ino)
      const splitter = new LineSplitter(state.offset)
      for (let position = state.offset; ;) {
        const read = readSync(fd, this.buffer, 0, READ_CHUNK, position)
        if (read === 0) break
        position += read
        for (const { bytes, offset } of splitter.push(this.buffer.subarray(0, read))) {
          foldLine(state, bytes)
          state.offset = offset + bytes.length + 1
        }
        yield
      }
      state.size = size
      state.mtimeMs = mtimeMs
      this.folded.set(id, state)
      this.dirty = true
    } finally {
      closeSync(fd)
    }
  }

  private save(): void {
    if (!this.dirty) return
    this.dirty = false
    const path = join(this.dir, CACHE_FILE)
    const draft = `${path}.${process.pid}`
    try {
      writeFileSync(draft, JSON.stringify({ version: CACHE_VERSION, sessions: Object.fromEntries(this.folded) }), {
        mode: 0o600,
      })
      renameSync(draft, path)
    } catch (error) {
      this.warn(`cannot write ${path}: ${errorMessage(error)}; the next start reads the logs again`)
    }
  }
}

async function listIds(dir: string): Promise<string[]> {
  try {
    const names = await readdir(dir)
    return names.filter((name) => name.endsWith(LOG_SUFFIX)).map((name) => name.slice(0, -LOG_SUFFIX.length))
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    throw error
  }
}

function blank(ino: number): Folded {
  return { ino, mtimeMs: 0, size: 0, offset: 0, cwd: '', createdAt: 0, updatedAt: 0, events: 0, turnOpen: false }
}

/** Looks at the beginning of a line; only the few kinds that say more are parsed. A foreign line is for `open` to judge. */
function foldLine(state: Folded, bytes: Buffer): void {
  const head = HEAD.exec(bytes.toString('latin1', 0, 256))
  if (head === null) {
    if (state.events === 0) throw new Error('its first line is not an event')
    return
  }
  const [, seq, time, type] = head
  if (state.events === 0 && type !== 'session/start') throw new Error('it does not begin with "session/start"')
  state.events = Number(seq) + 1
  state.updatedAt = Number(time)
  if (type === 'turn/start') state.turnOpen = true
  else if (type === 'turn/end') state.turnOpen = false
  else if (type === 'session/start') {
    const { data } = JSON.parse(bytes.toString('utf8')) as SessionEvent<'session/start'>
    state.cwd = data.cwd
    state.createdAt = state.updatedAt
    setTitle(state, data.title)
  } else if (type === 'session/title') {
    setTitle(state, (JSON.parse(bytes.toString('utf8')) as SessionEvent<'session/title'>).data.title)
  } else if (type === 'user/message' && state.firstText === undefined) {
    const text = firstMessageTitle(JSON.parse(bytes.toString('utf8')) as SessionEvent<'user/message'>)
    if (text !== undefined) state.firstText = text
  }
}

function setTitle(state: Folded, title: string | undefined): void {
  const given = titleOf(title)
  if (given !== undefined) state.title = given
}

function readCache(path: string): Map<string, Folded> {
  try {
    const cache = JSON.parse(readFileSync(path, 'utf8')) as { version?: unknown; sessions?: Record<string, Folded> }
    if (cache.version === CACHE_VERSION && cache.sessions) return new Map(Object.entries(cache.sessions))
  } catch {
    // Absent or damaged: the logs are read again.
  }
  return new Map()
}
