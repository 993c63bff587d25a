// The contract of tools: what an author declares, what a caller passes in, what comes back. No behaviour lives here.
import type { ScopeKey } from '@deepseek-ai/cordis'
import type { ContentBlock, Json, JsonObject, ToolCallView, ToolResultView } from './presentation.ts'
import type { JsonSchema } from './schema/types.ts'

/** Who a context message comes from. */
export type MessageSource = { kind: 'user' } | { kind: 'plugin'; plugin: string } | { kind: 'tool'; callId: string }

/** Context for the model that no person typed: appended by a plugin or by a tool. */
export interface ContextMessage {
  content: string | readonly ContentBlock[]
  source: MessageSource
}

/** What a tool may know of the agent that calls it. `@deepseek-ai/dsh-agent` implements it; a host may pass its own. */
export interface ToolAgent {
  readonly id: string
  /** Working directory of the agent's session, absolute. Omitted: the tool's own default. */
  readonly cwd?: string | undefined
  /** Appends durable context that the next model request sees. Not a wake-up. Throws once the agent is disposed. */
  inject(message: ContextMessage): void
}

/** Live-only progress of a running call. Hosts may show it; it is never logged and never reaches the model. */
export type ToolProgress =
  | { kind: 'text'; text: string; stream?: 'stdout' | 'stderr' }
  | { kind: 'progress'; fraction: number; label?: string }
  | { kind: 'label'; label: string }

/** Opaque identity of one execution: compare it, never look inside, never serialise it. */
export type ExecutionToken = symbol & { readonly __brand?: 'ExecutionToken' }

/** What a caller hands to `ctx.tools.execute()`. Each field is read once. */
export interface ToolExecutionInput {
  callId: string
  name: string
  /** Parsed arguments. Anything that is not lossless JSON fails the call with `INVALID_ARGS`. */
  arguments: unknown
  /** The caller's cancellation. */
  signal: AbortSignal
  /** The calling agent: selects the scope. Omitted: the global view. */
  agent?: (ToolAgent & ScopeKey) | undefined
  /** Token of the enclosing call when a composite such as a program makes this one. */
  parent?: ExecutionToken | undefined
  /** Receives `exec.report()` updates. Contract: must not throw; a throw is logged and ignored. */
  onReport?: ((progress: ToolProgress) => void) | undefined
}

/** Identity and controls of a running call, as a tool body, a listener and a guard see them. */
export interface ToolExecution {
  readonly callId: string
  readonly name: string
  /** Detached, deeply frozen copy of the caller's arguments. */
  readonly arguments: Json
  readonly agent: (ToolAgent & ScopeKey) | undefined
  readonly token: ExecutionToken
  readonly parent: ExecutionToken | undefined
  /** Fires on caller cancellation and at the deadline of the tool. */
  readonly signal: AbortSignal
  /** Live-only progress; a no-op after the call has settled. */
  report(progress: ToolProgress): void
}

/** What a tool body gets: the call, and what only the body may say about it. */
export interface ToolBodyExecution extends ToolExecution {
  /** Adds context for the next model request, after the result. Kept when the body fails; dropped when policy blocks the result. */
  deferContext(message: ContextMessage): void
  /** Ends the turn after this result, if the call succeeds: the model owes nothing more. */
  concludeTurn(): void
}

/** What a `tools/execute` listener gets: the same call with a signal it may replace, and must not remove. */
export interface WrappedExecution extends Omit<ToolExecution, 'signal'> {
  signal: AbortSignal
}

export interface ToolOutput<Args = unknown, Value = unknown> {
  /** Schema of the canonical value: any root. */
  schema: JsonSchema
  /** What the model reads. Pure. */
  render(args: Args, value: Value): readonly ContentBlock[]
  /** Durable card data from the same value; persisted with the result, skipped for calls with a parent. Pure. */
  presentationMeta?(args: Args, value: Value): Json | undefined
}

/** A registry-ready tool. `defineTool` makes one from typed parts; tools with a raw JSON Schema write it directly. */
export interface ToolDefinition {
  name: string
  /** What the model reads about the tool. */
  description: string
  /** JSON Schema of the arguments, object-rooted. A raw tool validates its own arguments in `execute`. */
  parameters: JsonSchema
  // Method syntax on purpose: definitions of different argument types share one registry.
  output: ToolOutput<never, never>
  /** Cooperative deadline in milliseconds from the start of the body, positive and finite. Omitted: none. */
  timeoutMs?: number
  /**
   * Upper bound of what the model reads of any outcome, in UTF-8 bytes, failures and policy replacements included; more is cut in the
   * middle with a line that says how much. A function is asked with the frozen arguments. Omitted: the tool bounds itself.
   */
  maxResultBytes?: number | ((args: never) => number)
  /** True when the call may overlap others. Only an exact `true` counts; omitted means exclusive. */
  isConcurrencySafe?(args: never): boolean
  /** Does the work and returns the canonical value. Throw for infrastructure failures only. */
  execute(args: never, exec: ToolBodyExecution): unknown
  /** The card while the call runs. Pure; `undefined` falls back to the generic card. */
  presentCall?(args: never): ToolCallView | undefined
  /** The card of the finished call. Pure; `undefined` keeps the pending title and shows the content. */
  presentResult?(args: never, result: PresentedResult): ToolResultView | undefined
}

/** What `presentResult` may see: exactly what the session log holds. */
export interface PresentedResult {
  readonly content: readonly ContentBlock[]
  readonly isError: boolean
  readonly meta?: Json
}

/** What a model is told of a tool. */
export interface ToolSchema {
  name: string
  description: string
  parameters: JsonSchema
}

/** How tools are shown to a model: each as a tool, as functions of `run_code` programs, or both. */
export type ToolMode = 'native' | 'code' | 'both'

/** A mask over the tools that a scope inherits. */
export interface ToolRestriction {
  /** Keep only these. Tools registered later are left out. */
  allow?: readonly string[]
  /** Remove these. Tools registered later stay. */
  deny?: readonly string[]
}

/** A call whose body did not settle within the grace period after its cancellation or deadline. */
export interface AbandonedCall {
  readonly callId: string
  readonly name: string
  readonly agent: string | undefined
  /** Milliseconds since the epoch. */
  readonly abandonedAt: number
}

/** A call that a program makes, told as it starts and when its outcome is known, in the order of the program. */
export type SubCallEvent =
  | { readonly kind: 'start'; readonly callId: string; readonly name: string; readonly arguments: Json }
  | {
      readonly kind: 'end'
      readonly callId: string
      readonly name: string
      readonly isError: boolean
      /** At most 16 KiB; the program got the whole value. */
      readonly content: readonly ContentBlock[]
      readonly error?: { readonly code: string; readonly message: string }
      readonly durationMs: number
    }

/** How a body ended after its call had been given up. Its value is not kept. */
export type LateOutcome =
  | { readonly outcome: 'returned'; readonly afterMs: number }
  | { readonly outcome: 'failed'; readonly message: string; readonly afterMs: number }

/** What is wrong with the registry's tools right now. */
export interface ToolDiagnostics {
  /** Tools that models are not told of, and why. */
  readonly quarantined: readonly { readonly name: string; readonly reason: string }[]
  /** Bodies that still run although their calls were given up. */
  readonly abandoned: readonly AbandonedCall[]
}

export type ToolExecutionMode = { readonly kind: 'parallel' } | { readonly kind: 'exclusive' }

export interface ToolFailureInfo {
  readonly message: string
  /** One of the pipeline's codes or the code of the tool's own `HarnessError`. */
  readonly code: string
  /** Class name of what was thrown. */
  readonly name: string
  /** Paths and reasons of a schema failure. */
  readonly violations?: readonly string[]
  /** What led here, outermost first, as data. */
  readonly cause?: ToolFailureCause
}

export interface ToolFailureCause {
  readonly name: string
  readonly message: string
  readonly code?: string
  readonly cause?: ToolFailureCause
}

export interface ToolSuccess {
  readonly isError: false
  /** The canonical value, lossless JSON, deeply frozen. Never persisted. */
  readonly value: Json
  readonly content: readonly ContentBlock[]
  readonly meta?: Json
  /** Context for the next model request: what the body deferred, then what policy added. */
  readonly additionalContexts?: readonly ContextMessage[]
  /** Advice that the content ends with, e.g. about a misspelt argument. */
  readonly warnings?: readonly string[]
  /** The body asked for the turn to end here. */
  readonly concludesTurn?: true
}

export interface ToolFailure {
  readonly isError: true
  readonly error: ToolFailureInfo
  readonly content: readonly ContentBlock[]
  readonly meta?: Json
  readonly additionalContexts?: readonly ContextMessage[]
}

/** The final, deeply frozen outcome: the same object goes to the caller and to observers. */
export type ToolExecutionResult = ToolSuccess | ToolFailure

/** Decision of a `tools/pre-execute` listener. */
export type PreDecision = { kind: 'allow' } | { kind: 'deny'; reason: string } | { kind: 'ask'; reason?: string }

/** What becomes of a call that policy asks about. `message` is told to the model, e.g. what the person said. */
export type ToolApproval =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'rejected' | 'cancelled' | 'unavailable' | 'timed-out'; readonly message?: string }

/**
 * Answers an `ask`, e.g. by putting the call before a person. `reason` is the asking listener's. Should settle when `exec.signal` fires;
 * the call does not wait for it then. A rejection or an answer of another shape refuses the call.
 */
export type ToolApprover = (exec: ToolExecution, reason?: string) => Promise<ToolApproval>

/** Decision of a `tools/post-execute` listener. `content` replaces what the model reads, `value` the canonical value; never both. */
export type PostDecision =
  | { kind: 'accept'; content?: readonly ContentBlock[]; value?: Json; additionalContexts?: readonly ContextMessage[] }
  | { kind: 'block'; feedback: readonly ContentBlock[]; additionalContexts?: readonly ContextMessage[] }

/** Final, synchronous deny. A string denies with that reason, `undefined` passes; anything else refuses the call. */
export type ToolGuard = (exec: ToolExecution) => string | undefined

export type { JsonObject }
