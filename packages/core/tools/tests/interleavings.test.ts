// Random interleavings of register, restrict, presentAs, dispose, abort and execute over three scopes, against a plain model of who sees
// what. Clocks are real and small; a run ends when every call has its outcome.
import { getEventListeners } from 'node:events'
import { Context, createScope, type Scope } from '@deepseek-ai/cordis'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import ToolRegistry, {
  type ToolAgent,
  type ToolDefinition,
  type ToolExecutionResult,
  type ToolMode,
} from '../src/index.ts'
import { bodyTool } from './fixtures.ts'

const BODIES = ['now', 'later', 'throws', 'rejects', 'polite', 'never', 'late', 'aborts'] as const
type BodyKind = (typeof BODIES)[number]

const ALLOWED: Readonly<Record<BodyKind, readonly string[]>> = {
  now: ['ok'],
  later: ['ok', 'ABORTED', 'TOOL_TIMEOUT'],
  throws: ['TOOL_FAILED'],
  rejects: ['TOOL_FAILED', 'TOOL_TIMEOUT'],
  polite: ['ABORTED', 'TOOL_TIMEOUT'],
  never: ['TOOL_ABANDONED'],
  late: ['ABORTED', 'TOOL_TIMEOUT', 'TOOL_ABANDONED'],
  aborts: ['TOOL_ABANDONED'],
}

/** Index of a scope: global, outer, inner (inside outer), apart. */
const WHERE = [0, 1, 2, 3] as const
const NAMES = ['a', 'b', 'c'] as const
const CHAINS: readonly (readonly number[])[] = [[0], [0, 1], [0, 1, 2], [0, 3]]

const where = fc.constantFrom(...WHERE)
const name = fc.constantFrom(...NAMES)
const pick = fc.nat({ max: 30 })
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      op: fc.constant('register' as const),
      where,
      name,
      body: fc.constantFrom(...BODIES),
      timeout: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('restrict' as const), where, name, deny: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constant('presentAs' as const),
      where,
      mode: fc.constantFrom<ToolMode>('native', 'code', 'both'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('dispose' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('disposeScope' as const), pick }) },
  {
    weight: 8,
    arbitrary: fc.record({ op: fc.constant('execute' as const), where, name, signal: pick, nested: fc.boolean() }),
  },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('abort' as const), signal: pick }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('tick' as const) }) },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** A tool as the model knows it. */
interface Tool {
  readonly name: string
  readonly body: BodyKind
  readonly definition: ToolDefinition
  live: boolean
}

interface Mask {
  readonly name: string
  readonly deny: boolean
}

interface Layer {
  readonly tools: Map<string, Tool>
  readonly masks: Set<Mask>
  mode: ToolMode | undefined
  open: boolean
}

interface Expected {
  readonly outcomes: readonly string[]
  readonly tool: Tool | undefined
}

class World {
  readonly layers: readonly Layer[] = WHERE.map(() => ({
    tools: new Map(),
    masks: new Set(),
    mode: undefined,
    open: true,
  }))
  readonly agents: readonly (ToolAgent | undefined)[] = WHERE.map((index) =>
    index === 0 ? undefined : { id: `scope ${index}`, inject: () => undefined },
  )
  readonly signals = Array.from({ length: 3 }, () => new AbortController())
  readonly used = new Set<AbortSignal>()
  readonly undo: (() => void)[] = []
  readonly running: Promise<ToolExecutionResult>[] = []
  /** What observers were given, by call id. */
  readonly observed = new Map<string, ToolExecutionResult[]>()
  /** Which definition ran, by call id. */
  readonly entered = new Map<string, Tool>()
  readonly late: (() => void)[] = []
  readonly violations: string[] = []
  private readonly ctx: Context
  private readonly scopes: (Scope | undefined)[]

  constructor(ctx: Context) {
    this.ctx = ctx
    const [, outer, inner, apart] = this.agents as [undefined, ToolAgent, ToolAgent, ToolAgent]
    const outerScope = createScope(ctx, outer)
    this.scopes = [undefined, outerScope, createScope(outerScope.ctx, inner), createScope(ctx, apart)]
    ctx.on('tools/result', (exec, result) => {
      const seen = this.observed.get(exec.callId)
      if (seen === undefined) this.observed.set(exec.callId, [result])
      else seen.push(result)
    })
  }

  async run(step: Step): Promise<void> {
    switch (step.op) {
      case 'register':
        return this.register(step)
      case 'restrict':
        return this.restrict(step)
      case 'presentAs':
        return this.presentAs(step)
      case 'dispose':
        return this.undo[step.pick % Math.max(1, this.undo.length)]?.()
      case 'disposeScope':
        return this.disposeScope(1 + (step.pick % 3))
      case 'execute':
        return this.execute(step)
      case 'abort':
        return this.controller(step.signal).abort(new Error('cancelled by the test'))
      case 'tick':
        return new Promise((resolve) => setImmediate(resolve))
    }
  }

  async end(): Promise<void> {
    for (const controller of this.signals) controller.abort(new Error('the run ends'))
    await Promise.all(this.running)
    for (const settle of this.late) settle()
    for (const undo of this.undo) undo()
    for (const index of [2, 1, 3]) await this.disposeScope(index)
  }

  private tools(index: number): ToolRegistry {
    return (this.scopes[index]?.ctx ?? this.ctx).tools
  }

  private controller(index: number): AbortController {
    return this.signals.at(index % this.signals.length) as AbortController
  }

  private layer(index: number): Layer {
    return this.layers.at(index) as Layer
  }

  private register({ where, name, body, timeout }: Step & { op: 'register' }): void {
    const layer = this.layer(where)
    const tool: Tool = { name, body, live: true, definition: this.definition(name, body, timeout, () => tool) }
    const register = (): (() => void) => this.tools(where).register(tool.definition)
    if (!layer.open || layer.tools.has(name)) {
      expect(register).toThrow(layer.open ? 'already registered' : 'inactive')
      return
    }
    const dispose = register()
    layer.tools.set(name, tool)
    this.undo.push(() => {
      dispose()
      if (layer.tools.get(name) === tool) layer.tools.delete(name)
      tool.live = false
    })
  }

  private restrict({ where, name, deny }: Step & { op: 'restrict' }): void {
    const layer = this.layer(where)
    const filter = deny ? { deny: [name] } : { allow: [name] }
    const restrict = (): (() => void) => this.tools(where).restrict(filter)
    const inherited = this.visible(CHAINS[where]?.slice(0, -1) ?? [])
    if (where === 0 || !layer.open || !inherited.has(name)) {
      expect(restrict).toThrow(where === 0 ? 'requires a scoped context' : /unknown global tool|inactive/)
      return
    }
    const lift = restrict()
    const mask: Mask = { name, deny }
    layer.masks.add(mask)
    this.undo.push(() => {
      lift()
      layer.masks.delete(mask)
    })
  }

  private presentAs({ where, mode }: Step & { op: 'presentAs' }): void {
    const layer = this.layer(where)
    const present = (): (() => void) => this.tools(where).presentAs(mode)
    if (where === 0 || !layer.open || layer.mode !== undefined) {
      expect(present).toThrow(/requires a scoped context|inactive|conflicts with/)
      return
    }
    const undo = present()
    layer.mode = mode
    let undone = false
    this.undo.push(() => {
      undo()
      if (!undone && layer.open) layer.mode = undefined
      undone = true
    })
  }

  private async disposeScope(index: number): Promise<void> {
    const gone = index === 1 ? [1, 2] : [index]
    for (const each of gone) {
      const layer = this.layer(each)
      for (const tool of layer.tools.values()) tool.live = false
      Object.assign(layer, { open: false, mode: undefined })
      layer.tools.clear()
      layer.masks.clear()
    }
    for (const each of gone.toReversed()) await this.scopes[each]?.dispose()
  }

  private execute({ where, name, signal: index, nested }: Step & { op: 'execute' }): void {
    const callId = `call ${this.running.length}`
    const { signal } = this.controller(index)
    this.used.add(signal)
    const expected = this.expected(where, name, signal.aborted, nested)
    const parent = nested ? Symbol('outer') : undefined
    const input = { callId, name, arguments: { callId, index }, signal, agent: this.agents[where], parent }
    const call = this.tools(0).execute(input)
    this.running.push(call.then((result) => (this.check(callId, expected, result), result)))
  }

  private expected(where: number, name: string, aborted: boolean, nested: boolean): Expected {
    if (aborted) return { outcomes: ['ABORTED_BEFORE_DISPATCH'], tool: undefined }
    // A scope that is closed has no chain any more: its agent sees what everybody sees.
    const chain = this.chain(where)
    const tool = this.visible(chain).get(name)
    const mode = chain.map((each) => this.layer(each).mode).findLast((each) => each !== undefined) ?? 'native'
    if (tool === undefined || (mode === 'code' && !nested)) return { outcomes: ['UNKNOWN_TOOL'], tool: undefined }
    return { outcomes: ALLOWED[tool.body], tool }
  }

  private chain(where: number): readonly number[] {
    return this.layer(where).open ? (CHAINS[where] ?? []) : [0]
  }

  private visible(chain: readonly number[]): Map<string, Tool> {
    let view = new Map<string, Tool>()
    for (const index of chain) {
      const { masks, tools } = this.layer(index)
      const admits = (each: string): boolean =>
        [...masks].every((mask) => (mask.deny ? mask.name !== each : mask.name === each))
      view = new Map([...[...view].filter(([each]) => admits(each)), ...tools])
    }
    return view
  }

  /** What holds of every outcome, whatever the rest of the run does. */
  private check(callId: string, expected: Expected, result: ToolExecutionResult): void {
    const outcome = result.isError ? result.error.code : 'ok'
    if (!expected.outcomes.includes(outcome)) {
      this.violations.push(`${callId}: ${outcome} instead of ${expected.outcomes.join(' or ')}`)
    }
    const ran = this.entered.get(callId)
    if (ran !== expected.tool) this.violations.push(`${callId}: ran ${ran?.body} instead of ${expected.tool?.body}`)
    if (!isDeeplyFrozen(result)) this.violations.push(`${callId}: not frozen`)
    const seen = this.observed.get(callId) ?? []
    if (seen.length !== 1 || seen[0] !== result) this.violations.push(`${callId}: observed ${seen.length} times`)
  }

  private definition(name: string, body: BodyKind, timeout: boolean, self: () => Tool): ToolDefinition {
    const more = timeout ? { timeoutMs: 3 } : {}
    return bodyTool(
      name,
      (args: { callId: string; index: number }, exec) => {
        const { callId } = args
        if (this.entered.has(callId)) this.violations.push(`${callId}: ran twice`)
        if (!self().live) this.violations.push(`${callId}: ran a disposed definition`)
        this.entered.set(callId, self())
        return this.behave(body, args.index, exec.signal)
      },
      more,
    )
  }

  private behave(body: BodyKind, index: number, signal: AbortSignal): unknown {
    switch (body) {
      case 'now':
        return { deep: [{ value: body }] }
      case 'later':
        return new Promise((resolve) => setTimeout(resolve, 1, { deep: [{ value: body }] }))
      case 'throws':
        throw new Error('thrown')
      case 'rejects':
        return Promise.resolve().then(() => {
          throw new Error('rejected')
        })
      case 'polite':
        return new Promise((_resolve, reject) => {
          if (signal.aborted) reject(signal.reason as Error)
          else signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
        })
      case 'never':
        return new Promise(() => undefined)
      case 'late': // ignores its signal for longer than the grace period, or for less, as it comes
        return new Promise((resolve) => {
          signal.addEventListener('abort', () => setTimeout(resolve, index % 10, null), { once: true })
          this.late.push(() => resolve(null))
        })
      case 'aborts':
        this.controller(index).abort(new Error('cancelled by its own body'))
        return new Promise(() => undefined)
    }
    return body satisfies never
  }
}

function isDeeplyFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  return Object.isFrozen(value) && Object.values(value).every(isDeeplyFrozen)
}

it('keeps every promise of a call through any interleaving', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const ctx = new Context()
      await ctx.plugin(ToolRegistry, { abandonAfterMs: 5 })
      const world = new World(ctx)
      for (const each of steps) await world.run(each)
      await world.end()

      expect(world.violations).toEqual([])
      expect(world.observed.size).toBe(world.running.length)
      const { tools } = ctx
      for (const agent of world.agents) {
        expect(tools.schemas(agent)).toEqual([])
        expect(NAMES.map((each) => tools.get(each, agent))).toEqual([undefined, undefined, undefined])
        expect(tools.diagnostics(agent).quarantined).toEqual([])
      }
      const given = [...world.entered].filter(([, tool]) => tool.body === 'never' || tool.body === 'aborts')
      const abandoned = tools.diagnostics().abandoned.map((each) => each.callId)
      expect(abandoned.filter((callId) => world.entered.get(callId)?.body !== 'late').toSorted()).toEqual(
        given.map(([callId]) => callId).toSorted(),
      )
      await expect.poll(() => tools.diagnostics().abandoned.length).toBe(given.length)
      for (const signal of world.used) expect(getEventListeners(signal, 'abort')).toEqual([])
      await ctx.fiber.dispose()
    }),
    { numRuns: 150, interruptAfterTimeLimit: 8_000 },
  )
}, 20_000)
