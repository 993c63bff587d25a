// The contract of sessions: what a live session offers and what the service does. No behaviour lives here.
import type { LlmMessage } from '@deepseek-ai/dsh-llm'
import type { SessionEvent, SessionEventMap, SessionEventType, SessionSummary } from './events.ts'

export interface Session {
  readonly id: string
  readonly cwd: string
  readonly createdAt: number
  readonly title: string
  /** `seq` of the newest event. */
  readonly lastSeq: number
  /** False after `close()`. */
  readonly open: boolean
  /**
   * Appends one event: takes a detached frozen copy, assigns `seq` and `time`, tells subscribers, and returns the event. Written to disk in order
   * soon after; `flush()` waits for that. Throws `SESSION_CLOSED` and, for data that is not lossless JSON, `INVALID_EVENT`.
   */
  append<T extends SessionEventType>(type: T, data: SessionEventMap[T]): SessionEvent<T>
  /** Resolves when everything appended so far is on disk; rejects with `SESSION_WRITE_FAILED`. */
  flush(): Promise<void>
  /** Events `from`…`to` inclusive, at most `limit` (default 500), in order. Reads the file for what memory no longer holds. */
  read(range: { from: number; to?: number; limit?: number }): Promise<SessionEvent[]>
  /** Calls `listener` for each later event, synchronously, in order. A listener that throws is logged and stays. */
  subscribe(listener: (event: SessionEvent) => void): () => void
  /** The conversation so far as a model is sent it, pairing repaired; maintained as events arrive. */
  messages(): readonly LlmMessage[]
  /** Messages that wait in the inbox, oldest first. */
  pending(): readonly SessionEventMap['inbox/added'][]
  /** Number of the last turn; 0 before the first. */
  readonly turn: number
  /** The newest `request/header`, if any. */
  readonly header: SessionEventMap['request/header'] | undefined
  /** The model a person chose last, if any. */
  readonly model: SessionEventMap['session/model'] | undefined
  close(): Promise<void>
}

export interface CreateSessionOptions {
  /** Default: a new id. Letters, digits, `-` and `_`, at most 64. */
  id?: string
  /** Absolute folder the session works in. */
  cwd: string
  title?: string
  /** Keep the log in memory only; nothing is written. Default false. */
  ephemeral?: boolean
}

/** `ctx.sessions` */
export interface SessionStore {
  /** Rejects with `SESSION_EXISTS`, `INVALID_SESSION_ID`. */
  create(options: CreateSessionOptions): Promise<Session>
  /** Opens a stored session, repairing what a crash left; the live one when it is open already. Rejects with `SESSION_NOT_FOUND`, `SESSION_CORRUPT`. */
  open(id: string): Promise<Session>
  /** The live session, if it is open. */
  get(id: string): Session | undefined
  /** Stored and live sessions, newest first. */
  list(): Promise<SessionSummary[]>
  /** Renames a live or stored session. */
  rename(id: string, title: string): Promise<void>
  /** Closes and removes a session and everything kept for it. */
  delete(id: string): Promise<void>
}
