// What the page and the server say to each other. Safe in a browser: types only.
//
// Methods: `POST /api/<name>` with a JSON object; 200 `{ ok: true, value }` or `{ ok: false, error: { code, message } }`. Other statuses: 400 bad
// JSON, 401 no session cookie, 403 foreign Host or Origin, 404 unknown method, 413 body too large, 415 not JSON.
// Events: `GET /api/sessions/<id>/events` is a server-sent event stream. Durable frames carry `id: <seq>`, so a reconnect with `Last-Event-ID` goes on
// without loss or repeat; live frames carry no id. `?from=<seq>` starts there when no `Last-Event-ID` is sent. `GET /api/events` streams `HostFrame`s.
// `?host=1` interleaves the host's frames, so that a page needs one connection. `?to=<seq>` makes the stream finite: the events from `from` to `to`
// that exist, then the end, with no live, `caught-up` or `reset` frame. A reader that takes nothing for a while (`stallMs`) is cut off and may resume.
import type { ApprovalAnswer, PendingApproval, StandingGrant } from '@deepseek-ai/dsh-approval'
import type { AgentLive, AgentSnapshot, AgentStatus } from '@deepseek-ai/dsh-agent'
import type { JobRow } from '@deepseek-ai/dsh-jobs'
import type { LlmProviderSettings, LlmProviderStatus, ModelRef } from '@deepseek-ai/dsh-llm'
import type { SandboxMode, SandboxNetwork, SandboxStatus } from '@deepseek-ai/dsh-sandbox'
import type { SessionEvent, SessionMessage, SessionSummary } from '@deepseek-ai/dsh-session'
import type { TerminalRow, TerminalSignal } from '@deepseek-ai/dsh-terminal'
import type { ToolCallView, ToolResultView, ToolSchema } from '@deepseek-ai/dsh-tools'
import type { PendingQuestion } from '@deepseek-ai/dsh-user-questions'

export interface SessionRow extends SessionSummary {
  readonly status: AgentStatus
  readonly model: ModelRef
}

export interface HostInfo {
  readonly version: string
  readonly cwd: string
  /** Folder for sessions and settings. */
  readonly home: string
  readonly providers: readonly LlmProviderStatus[]
  readonly defaultModel: ModelRef
  /** Rows that did not start, and why. */
  readonly problems: readonly { readonly row: string; readonly message: string }[]
  /** What was taken over from disk while the host runs, newest first; the last few only. */
  readonly reloads: readonly ReloadNotice[]
}

/** A change of plugins or composition files, as it was taken over or refused. */
export interface ReloadNotice {
  /** Counts up; another one after each reload that did something. */
  readonly id: number
  /** Milliseconds since the epoch. */
  readonly time: number
  readonly rows: readonly {
    readonly row: string
    /** `kept`: the new version failed, and the old one runs. */
    readonly kind: 'added' | 'removed' | 'reloaded' | 'kept' | 'failed'
    /** Files that changed, or what of the row did. */
    readonly because: readonly string[]
    readonly error?: string
  }[]
  /** Why the composition could not be read; everything stays as it was. */
  readonly error?: string
  readonly tools: readonly ToolChange[]
  /** Whether sessions send a different prompt from now on, so that the provider's cache does not hold its beginning. */
  readonly breaksCache: boolean
}

export interface ToolChange {
  readonly name: string
  readonly kind: 'added' | 'removed' | 'changed'
  /** Of a changed tool. Schemas as indented JSON; long ones are cut. */
  readonly fields: readonly {
    readonly field: 'description' | 'parameters' | 'output'
    readonly before: string
    readonly after: string
  }[]
}

export interface Methods {
  'host.info': { params: Record<string, never>; value: HostInfo }
  'sessions.list': { params: Record<string, never>; value: SessionRow[] }
  'sessions.create': { params: { cwd?: string; model?: string }; value: SessionRow }
  /** Opens the session for work (its agent starts when needed) and returns its row. */
  'sessions.open': { params: { id: string }; value: SessionRow }
  'sessions.rename': { params: { id: string; title: string }; value: null }
  'sessions.delete': { params: { id: string }; value: null }
  'sessions.send': { params: { id: string; text: string; delivery?: 'queue' | 'steer' }; value: SessionMessage }
  'sessions.withdraw': { params: { id: string; messageId: string }; value: { withdrawn: boolean } }
  'sessions.cancel': { params: { id: string }; value: null }
  'sessions.setModel': { params: { id: string; model: ModelRef }; value: SessionRow }
  /** Answers a standing approval. `APPROVAL_NOT_FOUND` when it has been settled meanwhile. */
  'approvals.answer': { params: { id: string; approvalId: string; answer: ApprovalAnswer }; value: null }
  'approvals.revoke': { params: { id: string; grantId: string }; value: null }
  'questions.answer': { params: { id: string; questionId: string; text: string; secret?: boolean }; value: null }
  'questions.dismiss': { params: { id: string; questionId: string }; value: null }
  /** The newest output of a job, nothing consumed. */
  'jobs.output': { params: { id: string; jobId: string }; value: { text: string } }
  'jobs.kill': { params: { id: string; jobId: string }; value: { stopped: boolean } }
  /** Lets a running foreground call go on as a job. */
  'jobs.promote': { params: { id: string; callId: string }; value: { jobId: string } }
  /** The mode of the session's later calls. */
  'permission.set': { params: { id: string; mode: SandboxMode }; value: null }
  'terminals.open': { params: { id: string; cols?: number; rows?: number }; value: TerminalRow }
  /** Keys of a person, raw. */
  'terminals.input': { params: { id: string; terminalId: string; data: string }; value: null }
  'terminals.resize': { params: { id: string; terminalId: string; cols: number; rows: number }; value: null }
  'terminals.signal': { params: { id: string; terminalId: string; signal: TerminalSignal }; value: null }
  'terminals.close': { params: { id: string; terminalId: string }; value: null }
  /** Some lines of a file, read as the session's tools would: what is denied to them is denied here. */
  'files.lines': {
    params: { id: string; path: string; offset?: number; count?: number }
    value: {
      /** Absolute. */
      path: string
      lines: readonly { readonly number: number; readonly text: string }[]
      totalLines: number
      /** False: the file is too large to be counted; there are at least `totalLines`. */
      complete: boolean
    }
  }
  /** A part of a file that holds what was too long to show; only files kept for this session. Cut between code points. */
  'spill.read': {
    params: { id: string; path: string; from?: number; bytes?: number }
    value: { text: string; from: number; next: number | null; totalBytes: number }
  }
  'tools.list': { params: { id?: string }; value: ToolSchema[] }
  /** Stores a key, base URL or model for a provider; takes effect with the next request. */
  'providers.configure': { params: { provider: string; settings: LlmProviderSettings }; value: HostInfo }
}

export type MethodName = keyof Methods

export type MethodResponse<M extends MethodName> =
  | { readonly ok: true; readonly value: Methods[M]['value'] }
  | { readonly ok: false; readonly error: { readonly code: string; readonly message: string } }

/** `event: event`, with `id`. `call` and `result` are cards made by the tool's presenters; absent means the generic card. */
export interface EventFrame {
  readonly event: SessionEvent
  readonly call?: ToolCallView
  readonly result?: ToolResultView
}

/** `event: live`, without id. */
export type LiveFrame = AgentLive

/** `event: caught-up`, without id: sent once, when the stored log has been delivered. What is in progress then. */
export interface CaughtUpFrame {
  readonly seq: number
  readonly snapshot: AgentSnapshot
}

/** `event: reset`, without id: the client knows later events than the log has. Drop everything; the log follows from `from` on. */
export interface ResetFrame {
  readonly from: 0
  readonly lastSeq: number
}

/**
 * `event: aside`, without id: what stands beside the conversation, whole, after `caught-up` and after each change (at most 10 a second). A service
 * that the host does not have leaves its part empty.
 */
export interface AsideFrame {
  readonly approvals: readonly PendingApproval[]
  readonly questions: readonly PendingQuestion[]
  readonly grants: readonly StandingGrant[]
  readonly jobs: readonly JobRow[]
  /** Running calls that a person may turn into jobs. */
  readonly promotable: readonly { readonly callId: string; readonly label: string }[]
  readonly terminals: readonly TerminalRow[]
  /** Null on a host without policy. `status` is that of the sandbox; undefined while it is being probed. */
  readonly permission: {
    readonly mode: SandboxMode
    readonly network: SandboxNetwork
    readonly modes: readonly SandboxMode[]
    readonly status?: SandboxStatus
  } | null
}

/**
 * `GET /api/sessions/<id>/terminals/<terminalId>/stream` attaches to a terminal for as long as it is open: `event: screen` first and after a gap (draw it
 * on an empty screen), then `event: data`; `event: exit` at the end.
 */
export type TerminalFrame =
  | { readonly kind: 'screen'; readonly data: string; readonly cols: number; readonly rows: number }
  | { readonly kind: 'data'; readonly data: string }
  | { readonly kind: 'exit'; readonly row: TerminalRow }

/** `event: problem`, without id: why the server ends the stream, e.g. a log that cannot be read. The client may try again. */
export interface ProblemFrame {
  readonly code: string
  readonly message: string
}

/** `event: host` on `/api/events` and with `?host=1`, without id: a change of the list, by row; `removed` for a deleted session. */
export type HostFrame =
  | { readonly kind: 'session'; readonly session: SessionRow }
  | { readonly kind: 'removed'; readonly id: string }
  | { readonly kind: 'info'; readonly info: HostInfo }
