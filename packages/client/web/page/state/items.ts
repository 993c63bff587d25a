// What a session looks like to the page: an ordered list of items folded from its log, and what is visible but not logged yet. Types only.
import type { CaughtUpFrame, EventFrame, LiveFrame, SessionRow } from '@deepseek-ai/dsh-server/protocol'
import type { LlmFailure, ModelRef } from '@deepseek-ai/dsh-llm'
import type { SessionEventMap, SessionMessage, TurnEndReason } from '@deepseek-ai/dsh-session'
import type { ToolCallView, ToolResultView } from '@deepseek-ai/dsh-tools'

interface ItemBase {
  /** Stable from the first live character to the logged form, so that a row is never remounted. */
  readonly key: string
  readonly turn: number
}

export interface PromptItem extends ItemBase {
  readonly kind: 'prompt'
  readonly message: SessionMessage
}
export interface TextItem extends ItemBase {
  readonly kind: 'thought' | 'prose'
  readonly text: string
  readonly live: boolean
}
export type CallPhase =
  /** The model is writing it. */
  | 'writing'
  /** Written, not started. */
  | 'pending'
  | 'running'
  | 'done'
export type CallOutcome = Omit<SessionEventMap['tool/result'], 'turn' | 'step' | 'callId' | 'callSeq'>
export interface CallItem extends ItemBase {
  readonly kind: 'call'
  readonly callId: string
  readonly name: string
  /** The model's raw text. */
  readonly arguments: string
  readonly phase: CallPhase
  readonly startedAt?: number
  readonly callView?: ToolCallView
  readonly resultView?: ToolResultView
  readonly outcome?: CallOutcome
  /** Newest part of the live output; dropped when the result arrives. */
  readonly output: string
  /** The first calls that its program made, in their order. */
  readonly calls?: readonly CallItem[]
  /** How many it made in all. */
  readonly callCount?: number
  readonly fraction?: number
  readonly label?: string
}
export interface RetryItem extends ItemBase {
  readonly kind: 'retry'
  readonly attempt: number
  readonly delayMs: number
  readonly failure: LlmFailure
}
export interface EndItem extends ItemBase {
  readonly kind: 'end'
  readonly reason: TurnEndReason
}
export interface NoticeItem extends ItemBase {
  readonly kind: 'notice'
  readonly code: string
  readonly message: string
}
export interface ModelItem extends ItemBase {
  readonly kind: 'model'
  readonly model: ModelRef
}
/** Something that a person or the host decided beside the conversation. */
export interface FactItem extends ItemBase {
  readonly kind: 'fact'
  readonly about: 'approval' | 'permission' | 'job' | 'question'
  readonly text: string
  /** The exact thing it is about, e.g. a command. */
  readonly detail?: string
  readonly at: number
}
export type Item = FactItem | PromptItem | TextItem | CallItem | RetryItem | EndItem | NoticeItem | ModelItem

export interface SessionState {
  readonly items: readonly Item[]
  /** Streamed blocks and calls of the step in progress, in order of arrival. Drawn after `items`. */
  readonly live: readonly (TextItem | CallItem)[]
  /** Waiting messages of a person, oldest first. */
  readonly queue: readonly SessionEventMap['inbox/added'][]
  /** -1 before the first event. */
  readonly lastSeq: number
  readonly running: boolean
  /** False until the stored log has been delivered once. */
  readonly caughtUp: boolean
  readonly title: string
  readonly cwd: string
  readonly model: ModelRef | undefined
  readonly turn: number
  /** The step that the next model output belongs to. */
  readonly step: number
  readonly usage: { readonly input: number; readonly output: number } | undefined
}

export type Frame =
  | { readonly kind: 'event'; readonly frame: EventFrame }
  | { readonly kind: 'live'; readonly frame: LiveFrame }
  | { readonly kind: 'caught-up'; readonly frame: CaughtUpFrame }
  /** The log is shorter than what was shown: it follows from its beginning. */
  | { readonly kind: 'reset' }
  /** The connection was lost: live parts may be stale until the next `caught-up`. */
  | { readonly kind: 'lost' }

export type { SessionRow }
