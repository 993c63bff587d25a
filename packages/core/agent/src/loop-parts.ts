// What the loop of one agent works with: its session, its inbox, and the services, hoisted once. No behaviour lives here.
import type { ListenerTable, ScopeKey } from '@deepseek-ai/cordis'
import type { LlmChunk, LlmRequest, ModelRef } from '@deepseek-ai/dsh-llm'
import type { Session } from '@deepseek-ai/dsh-session'
import type { AssembleContext, AssembledPrompt } from '@deepseek-ai/dsh-system-prompt'
import type { ToolExecutionInput, ToolExecutionMode, ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import type { CallIds } from './call-ids.ts'
import type { AgentsConfig } from './config.ts'
import type { Inbox } from './inbox.ts'
import type { LiveFeed } from './live.ts'
import type { RequestLog } from './request-log.ts'
import type { Agent } from './types.ts'

/** The part of `ctx.tools` that runs calls. */
export interface ToolRunner {
  execute(input: ToolExecutionInput): Promise<ToolExecutionResult>
  executionMode(input: Pick<ToolExecutionInput, 'name' | 'arguments' | 'agent'>): ToolExecutionMode
}

/** The part of `ctx.systemPrompt` that the loop reads. */
export interface PromptSource {
  assemble(context?: AssembleContext): AssembledPrompt
}

/** The part of `ctx.llm` that the loop uses. */
export interface ModelSource {
  resolve(ref?: string | ModelRef): ModelRef
  stream(request: LlmRequest): AsyncIterable<LlmChunk>
}

export interface LoopServices {
  readonly tools: ToolRunner
  readonly systemPrompt: PromptSource
  readonly llm: ModelSource
}

export interface LoopParts extends LoopServices {
  readonly agent: Agent & ScopeKey
  readonly session: Session
  readonly inbox: Inbox
  readonly live: LiveFeed
  readonly callIds: CallIds
  readonly requestLog: RequestLog
  readonly config: AgentsConfig
  readonly hooks: ListenerTable
  /** Tells the host of a failure that the loop survives. Never throws. */
  readonly report: (error: unknown) => void
}
