// The contract of agents. No behaviour lives here.
import type { Context } from '@deepseek-ai/cordis'
import type { LlmFailure, ModelRef } from '@deepseek-ai/dsh-llm'
import type { Delivery, Session, SessionMessage, TurnEndReason } from '@deepseek-ai/dsh-session'
import type { ContentBlock, ContextMessage, MessageSource, ToolAgent, ToolProgress } from '@deepseek-ai/dsh-tools'

export type AgentStatus = 'idle' | 'running'

/** What a host may show of a running turn. Live only: never logged. Deltas are batched, so a listener may do real work. */
export type AgentLive =
  | { readonly kind: 'status'; readonly status: AgentStatus }
  /** A model request starts; drop deltas of an earlier attempt of this step. */
  | { readonly kind: 'attempt'; readonly turn: number; readonly step: number; readonly attempt: number }
  | { readonly kind: 'delta'; readonly block: 'text' | 'reasoning'; readonly text: string }
  /** The model is writing a call; `arguments` is the raw text so far. */
  | { readonly kind: 'tool-call'; readonly callId: string; readonly name: string; readonly arguments: string }
  | { readonly kind: 'progress'; readonly callId: string; readonly progress: ToolProgress }

/** What is visible but not yet in the log: what a host that joins now must draw first. */
export interface AgentSnapshot {
  readonly status: AgentStatus
  /** Streamed so far in the current step. */
  readonly text: string
  readonly reasoning: string
  /** Output so far of running calls, its newest part only (at most 64 KiB a call). */
  readonly progress: readonly { readonly callId: string; readonly text: string }[]
}

export interface SendOptions {
  /** Default `queue`. */
  delivery?: Delivery
  /** Default `{ kind: 'user' }`. */
  source?: MessageSource
}

export interface Agent extends ToolAgent {
  /** Same as the session's id. */
  readonly id: string
  /** The agent's own scope: what is registered through it is this agent's alone and ends with it. */
  readonly ctx: Context
  readonly session: Session
  readonly status: AgentStatus
  /** The model the next request goes to. */
  readonly model: ModelRef
  /** Puts a message in the inbox. `queue` and `steer` wake an idle agent, `inject` does not. Throws `AGENT_DISPOSED`. */
  send(content: string | readonly ContentBlock[], options?: SendOptions): SessionMessage
  /** `send` with `delivery: 'inject'`, in the form plugins use. */
  inject(message: ContextMessage): void
  /** Takes a waiting message back; false when it has been claimed already. */
  withdraw(messageId: string): boolean
  /** Stops the running turn; waiting messages stay unless `clearInbox`. The first cause wins. Idle: no effect on later work. */
  cancel(cause?: string, options?: { clearInbox?: boolean }): void
  /** Chooses the model of later turns, logged. */
  setModel(model: ModelRef): void
  /** Resolves when no turn runs and no waking message waits. */
  whenIdle(): Promise<void>
  snapshot(): AgentSnapshot
  subscribe(listener: (live: AgentLive) => void): () => void
  /** Cancels, waits for the turn to end, unwinds the scope, closes the session. Later calls return the same promise. */
  dispose(): Promise<void>
}

export interface CreateAgentOptions {
  /** Resume this session, or create it when it does not exist. Omitted: a new session. */
  sessionId?: string
  /** Absolute folder of a new session. Default: the process's. */
  cwd?: string
  /** `provider/model` or a bare model id. Default: the session's choice, else the service default. */
  model?: string
  ephemeral?: boolean
}

/** `ctx.agents` */
export interface AgentService {
  create(options?: CreateAgentOptions): Promise<Agent>
  /** The live agent of a session, if any. */
  get(sessionId: string): Agent | undefined
  list(): Agent[]
}

export interface AgentEndOfTurn {
  readonly agent: Agent
  readonly turn: number
  readonly reason: TurnEndReason
}

/** `agent/pre-step`: `messages` is the input that was claimed for the step. */
export interface PreStepEvent {
  readonly agent: Agent
  readonly messages: readonly SessionMessage[]
  readonly turn: number
  readonly step: number
  readonly signal: AbortSignal
}

/** `enter` may change, add or leave out messages; `reject` drops them and ends the turn as aborted with that reason. */
export type PreStepDecision =
  | { readonly kind: 'enter'; readonly messages: readonly SessionMessage[] }
  | { readonly kind: 'reject'; readonly reason: string }

/** `agent/request` */
export interface RequestEvent {
  readonly agent: Agent
  readonly turn: number
  readonly step: number
  readonly signal: AbortSignal
}

export interface RequestOptions {
  readonly model: ModelRef
  /** Upper bound of generated tokens. Omitted: the provider's own. */
  readonly maxTokens?: number
}

/** `agent/request-error`: `attempt` counts from 1. */
export interface RequestErrorEvent extends RequestEvent {
  readonly model: ModelRef
  readonly failure: LlmFailure
  readonly attempt: number
}

/** Undefined leaves it to the loop. A `retry` rebuilds the request; at most `maxRetries` a step. */
export type RequestErrorDecision = { readonly kind: 'retry' } | undefined

export type { LlmFailure }
