// A host with the real registry, sessions, prompt and model service; only the model behind them is scripted.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import Llm from '@deepseek-ai/dsh-llm'
import type { LlmAdapter, LlmChunk, LlmFailure, LlmRequest } from '@deepseek-ai/dsh-llm'
import Sessions from '@deepseek-ai/dsh-session'
import type { Session, SessionEvent, SessionEventType } from '@deepseek-ai/dsh-session'
import SystemPrompt from '@deepseek-ai/dsh-system-prompt'
import { ToolRegistry, defineTool } from '@deepseek-ai/dsh-tools'
import type { ToolExecution } from '@deepseek-ai/dsh-tools'
import Agents, { type AgentsConfig } from '@deepseek-ai/dsh-agent'

export type Script = (request: LlmRequest) => AsyncIterable<LlmChunk> | readonly LlmChunk[]

/** Answers each request with the next script; without one it says `done`. */
export class ScriptedModel implements LlmAdapter {
  readonly provider: string
  readonly requests: LlmRequest[] = []
  readonly scripts: Script[] = []
  fallback: Script = () => say('done')

  constructor(provider = 'script') {
    this.provider = provider
  }

  status(): ReturnType<LlmAdapter['status']> {
    const { provider } = this
    const models = ['one', 'two'].map((id) => ({ provider, id }))
    return { provider, label: 'Script', configured: true, models, configurable: false }
  }

  next(...scripts: (Script | readonly LlmChunk[])[]): this {
    this.scripts.push(...scripts.map((each) => (typeof each === 'function' ? each : () => each)))
    return this
  }

  async *stream(request: LlmRequest): AsyncGenerator<LlmChunk> {
    this.requests.push(request)
    yield* (this.scripts.shift() ?? this.fallback)(request)
  }
}

export function say(text: string, finish: 'stop' | 'max-tokens' = 'stop'): LlmChunk[] {
  const usage = { input: 1, output: 1 }
  return [
    { type: 'text', text },
    { type: 'usage', usage },
    { type: 'finish', reason: finish },
  ]
}

export interface CallSpec {
  readonly name: string
  readonly args?: unknown
  readonly id?: string
  /** Raw text instead of `args`. */
  readonly raw?: string
}

export function callTools(...calls: CallSpec[]): LlmChunk[] {
  const deltas = calls.map(({ id, name, args, raw }, index): LlmChunk => {
    const argumentsDelta = raw ?? JSON.stringify(args ?? {})
    return { type: 'tool-call', index, id: id ?? `call-${index}`, name, argumentsDelta }
  })
  return [...deltas, { type: 'finish', reason: 'tool-calls' }]
}

export function fail(code: LlmFailure['code'], facts: Partial<LlmFailure> = {}): LlmChunk[] {
  return [{ type: 'error', failure: { code, message: `it failed with ${code}`, ...facts } }]
}

/** Yields chunks, then never again and never ends, whatever the signal says. */
export function hang(...chunks: LlmChunk[]): Script {
  return async function* () {
    yield* chunks
    await new Promise(() => {})
  }
}

export interface TestHost {
  readonly ctx: Context
  readonly agents: Agents
  readonly model: ScriptedModel
  readonly dir: string
  dispose(): Promise<void>
}

const FAST = { retryBaseMs: 1, retryMaxMs: 5, retryJitter: 0 }

export async function startHost(config: Partial<AgentsConfig> = {}, at?: string): Promise<TestHost> {
  const dir = at ?? (await mkdtemp(join(tmpdir(), 'dsh-agent-')))
  const ctx = new Context()
  await ctx.plugin(Sessions, { dir, fsync: 'never' })
  await ctx.plugin(SystemPrompt)
  await ctx.plugin(ToolRegistry)
  await ctx.plugin(Llm)
  await ctx.plugin(Agents, { ...FAST, ...config })
  const model = new ScriptedModel()
  ctx.llm.register(model)
  return {
    ctx,
    agents: ctx.agents,
    model,
    dir,
    async dispose() {
      await ctx.fiber.dispose()
      while (ctx.fiber.inertia !== undefined) await ctx.fiber.inertia
      if (at === undefined) await rm(dir, { recursive: true, force: true })
    },
  }
}

export async function eventsOf(session: Session): Promise<SessionEvent[]> {
  return session.read({ from: 0, limit: 100_000 })
}

export async function eventsOfType<T extends SessionEventType>(session: Session, type: T): Promise<SessionEvent<T>[]> {
  return (await eventsOf(session)).filter((event) => event.type === type) as SessionEvent<T>[]
}

export async function typesOf(session: Session): Promise<string[]> {
  return (await eventsOf(session)).map((event) => event.type)
}

/** The first event of a type from now on. */
export function nextEvent<T extends SessionEventType>(session: Session, type: T): Promise<SessionEvent<T>> {
  return new Promise((resolve) => {
    const off = session.subscribe((event) => {
      if (event.type !== type) return
      off()
      resolve(event as SessionEvent<T>)
    })
  })
}

export interface Deferred<T = void> {
  readonly promise: Promise<T>
  readonly resolve: (value: T) => void
}

export function deferred<T = void>(): Deferred<T> {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((done) => (resolve = done))
  return { promise, resolve }
}

/** A tool that answers with a string; `parallel` says whether it may overlap. */
export function textTool(
  name: string,
  body: (args: Readonly<Record<string, unknown>>, exec: ToolExecution) => string | Promise<string>,
  options: { parallel?: boolean } = {},
): ReturnType<typeof defineTool> {
  return defineTool({
    name,
    description: `The ${name} tool.`,
    parameters: { n: { type: 'number' } },
    output: { schema: { type: 'string' }, render: (_args: unknown, value: string) => [{ type: 'text', text: value }] },
    isConcurrencySafe: () => options.parallel === true,
    execute: (args: object, exec: ToolExecution) => body(args as Readonly<Record<string, unknown>>, exec),
  })
}

/** No lone surrogates: UTF-8 has no way to write one. */
export function isWellFormed(text: string): boolean {
  return Buffer.from(text).toString() === text
}
