// A registry of its own with the tool under test in it, and calls whose every fact is kept: who was entered, what the body
// returned, what it left on the caller's signal. Judges nothing.
import { getEventListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { Context, disposeAndJoin } from '@deepseek-ai/cordis'
import { ToolRegistry, type ToolDefinition, type ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import type { CheckSpec, RunWorld, ToolUnderTest } from './options.ts'

type Execution = Parameters<ToolDefinition['execute']>[1]

export interface CallOptions {
  /** The caller's cancellation. Default: one that never fires unless the call hangs. */
  controller?: AbortController
  /** Called right after `execute()` returned its promise. */
  onCalled?: () => void
  /** Called right after the body was entered, before it can settle asynchronously. */
  onEntered?: () => void
  /** Handed to the body in place of the registry's frozen copy. */
  bodyArgs?: unknown
  /** Handed to the body in place of the registry's signal. */
  bodySignal?: AbortSignal
  /** How long the call and its body may take to settle. Default: `runMs`. */
  withinMs?: number
}

/** One call as it happened. */
export interface Called {
  readonly args: unknown
  /** Undefined when the call had not settled in time. */
  readonly result: ToolExecutionResult | undefined
  readonly entered: number
  /** What the body returned, once it did. */
  readonly returned: { value: unknown } | undefined
  /** True when the body was entered and had not settled in time, whatever the call says. */
  readonly bodyPending: boolean
  /** Progress that the body reported. */
  readonly reports: number
  /** Listeners that the tool left on the caller's signal; the registry's own are not counted. */
  readonly listeners: number
}

interface BodyTrace {
  options: CallOptions
  entered: number
  returned: { value: unknown } | undefined
  pending: Set<Promise<unknown>>
}

export class Bench {
  readonly ctx: Context
  readonly definition: ToolDefinition
  /** Why the registry did not take the tool. */
  readonly refusal: unknown
  /** Schemas that models see because of this tool. */
  readonly projected: number
  private readonly spec: CheckSpec
  private readonly traces: Map<string, BodyTrace>
  private readonly ownListeners: number
  private unregister: () => void
  private calls = 0

  private constructor(
    made: Pick<Bench, 'ctx' | 'definition' | 'refusal' | 'projected'> & { unregister: () => void },
    spec: CheckSpec,
    ownListeners: number,
  ) {
    this.unregister = made.unregister
    this.ctx = made.ctx
    this.definition = made.definition
    this.refusal = made.refusal
    this.projected = made.projected
    this.spec = spec
    this.traces = tracesOf(made.ctx)
    this.ownListeners = ownListeners
  }

  static async open(subject: ToolUnderTest, spec: CheckSpec): Promise<Bench> {
    const ctx = new Context()
    try {
      await ctx.plugin(ToolRegistry)
      await spec.plugins?.(ctx)
      const definition = typeof subject === 'function' ? await subject(ctx) : subject
      const before = ctx.tools.schemas().length
      let refusal: unknown
      let unregister = (): void => undefined
      try {
        unregister = ctx.tools.register(traced(definition, tracesOf(ctx)))
      } catch (error) {
        refusal = error ?? new Error('register() threw nothing')
      }
      const projected = ctx.tools.schemas().length - before
      return new Bench({ ctx, definition, refusal, projected, unregister }, spec, await ownListeners(ctx))
    } catch (error) {
      await disposeAndJoin(ctx.fiber)
      throw error
    }
  }

  close(): Promise<void> {
    return disposeAndJoin(this.ctx.fiber)
  }

  /** One call in a world of its own. */
  run(args: unknown, options: CallOptions = {}): Promise<Called> {
    return this.inWorld((world) => this.call(args, world, options))
  }

  /** One call with another deadline in the place of the tool's own. */
  async runWithDeadline(args: unknown, timeoutMs: number, options: CallOptions): Promise<Called> {
    this.unregister()
    const again = this.ctx.tools.register(traced(this.definition, this.traces, { timeoutMs }))
    try {
      return await this.run(args, options)
    } finally {
      again()
      this.unregister = this.ctx.tools.register(traced(this.definition, this.traces))
    }
  }

  async inWorld<T>(work: (world: RunWorld) => Promise<T>): Promise<T> {
    const world = (await this.spec.setup?.()) ?? {}
    try {
      return await work(world)
    } finally {
      await this.spec.teardown?.(world)
    }
  }

  async call(args: unknown, world: RunWorld, options: CallOptions = {}): Promise<Called> {
    const { controller = new AbortController(), withinMs = this.spec.runMs } = options
    const { signal } = controller
    const callId = `testkit-${++this.calls}`
    const trace: BodyTrace = { options, entered: 0, returned: undefined, pending: new Set() }
    this.traces.set(callId, trace)
    let reports = 0
    const agent = world.agent ?? (world.cwd === undefined ? undefined : { id: 'testkit', cwd: world.cwd, inject() {} })
    const input = { callId, name: this.definition.name, arguments: args, signal, agent, onReport: () => void reports++ }
    const began = performance.now()
    const running = this.ctx.tools.execute(input)
    options.onCalled?.()
    const result = await within(running, withinMs)
    // A registry that gave the call up has answered already; the tool has not.
    const left = Math.max(50, withinMs - (performance.now() - began))
    await within(Promise.allSettled(trace.pending), left)
    const bodyPending = trace.pending.size > 0
    const listeners = Math.max(0, getEventListeners(signal, 'abort').length - this.ownListeners)
    if (result === undefined || bodyPending) controller.abort()
    this.traces.delete(callId)
    return { args, result, entered: trace.entered, returned: trace.returned, bodyPending, reports, listeners }
  }
}

/** What the registry itself leaves on a caller's signal after a call, measured with a tool that never looks at it. */
async function ownListeners(ctx: Context): Promise<number> {
  const name = 'testkit_control'
  const control: ToolDefinition = {
    name,
    description: 'Does nothing.',
    parameters: { type: 'object' },
    output: { schema: { type: 'null' }, render: () => [] },
    execute: () => null,
  }
  const unregister = ctx.tools.register(control)
  const { signal } = new AbortController()
  await ctx.tools.execute({ callId: name, name, arguments: {}, signal })
  unregister()
  return getEventListeners(signal, 'abort').length
}

const traceTables = new WeakMap<Context, Map<string, BodyTrace>>()

function tracesOf(ctx: Context): Map<string, BodyTrace> {
  const known = traceTables.get(ctx)
  if (known !== undefined) return known
  const made = new Map<string, BodyTrace>()
  traceTables.set(ctx, made)
  return made
}

/** The same definition with a body that keeps account. A definition that is no object is left to the registry to refuse. */
function traced(
  definition: ToolDefinition,
  traces: ReadonlyMap<string, BodyTrace>,
  over: { timeoutMs?: number } = {},
): ToolDefinition {
  if (typeof definition !== 'object' || definition === null || typeof definition.execute !== 'function')
    return definition
  const execute = (args: never, exec: Execution): unknown => {
    const trace = traces.get(exec.callId)
    if (trace === undefined) return definition.execute(args, exec)
    return enter(trace, () => definition.execute(bodyArgs(trace, args), bodyExecution(trace, exec)))
  }
  // Accessors and a prototype of the author's keep working.
  return Object.create(definition, ownValues({ execute, ...over })) as ToolDefinition
}

/** Assigning would fail below a frozen definition. */
function ownValues(values: object): PropertyDescriptorMap {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, { value, enumerable: true }]))
}

function bodyArgs(trace: BodyTrace, args: never): never {
  return 'bodyArgs' in trace.options ? (trace.options.bodyArgs as never) : args
}

function bodyExecution(trace: BodyTrace, exec: Execution): Execution {
  const { bodySignal } = trace.options
  if (bodySignal === undefined) return exec
  return new Proxy(exec, {
    // Note: the getters and methods of an execution need the execution itself as `this`.
    get(target, key) {
      if (key === 'signal') return bodySignal
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

async function enter(trace: BodyTrace, body: () => unknown): Promise<unknown> {
  trace.entered++
  const running = (async () => body())()
  const settled = running.then(
    (value) => {
      trace.returned = { value }
      trace.pending.delete(settled)
    },
    () => void trace.pending.delete(settled),
  )
  trace.pending.add(settled)
  trace.options.onEntered?.()
  return running
}

/** What the promise gives, or undefined when it takes longer. Rejections pass. */
export async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  const late = new AbortController()
  try {
    return await Promise.race([
      promise,
      delay(ms, undefined, { signal: late.signal }).catch(() => undefined), // ended early, since the promise was first
    ])
  } finally {
    late.abort()
  }
}
