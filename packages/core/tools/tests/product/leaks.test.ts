// Thousands of registrations and calls leave the process where it began: heap, listeners, fibers, handles. In a process of its own,
// since all of these belong to the process.
import { getEventListeners } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Context, createScope, fiberTable, hooksOf } from '@deepseek-ai/cordis'
import { expect, it } from 'vitest'
import ToolRegistry, { type ToolExecutionResult } from '../../src/index.ts'
import { bodyTool, greet } from '../fixtures.ts'

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as () => void

const MiB = 1024 * 1024
/** 10,000 forgotten registrations or calls of even 200 bytes would show. */
const HEAP_TOLERANCE = 2 * MiB

interface State {
  readonly fibers: number
  /** Registered effects of the root fiber, which own every plain registration. */
  readonly effects: number
  readonly listeners: Record<string, number>
  readonly processListeners: Record<string, number>
}

function stateOf(ctx: Context): State {
  const lengths = (entries: [string, { length: number } | undefined][]): Record<string, number> =>
    Object.fromEntries(entries.map(([event, list]) => [event, list?.length ?? 0]))
  return {
    fibers: fiberTable(ctx).length,
    effects: ctx.fiber.getEffects().length,
    listeners: lengths(Object.entries(hooksOf(ctx))),
    processListeners: lengths(process.eventNames().map((event) => [String(event), process.listeners(event as 'exit')])),
  }
}

/** Timers that keep the process alive. */
function timers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout' || kind === 'Immediate').length
}

/** Live bytes: collected until another pass gains nothing that counts. */
async function liveHeap(): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let pass = 0; pass < 8; pass++) {
    await new Promise((resolve) => setImmediate(resolve)) // finalizers and WeakRefs need a turn of their own
    gc()
    const { heapUsed } = process.memoryUsage()
    if (least - heapUsed < 0.05 * MiB && pass > 2) return Math.min(least, heapUsed)
    least = Math.min(least, heapUsed)
  }
  return least
}

/** Runs the work once to warm caches and compiled code up, then measures what a second, equal run leaves behind. */
async function leavesNothing(ctx: Context, work: () => Promise<void>): Promise<void> {
  await work()
  const before = stateOf(ctx)
  const heap = await liveHeap()
  const ticking = timers()
  await work()
  const grown = (await liveHeap()) - heap
  expect(stateOf(ctx)).toEqual(before)
  expect(timers()).toBeLessThanOrEqual(ticking + 2) // the test runner has timers of its own, which come and go
  expect(grown, `the heap grew by ${Math.round(grown / 1024)} KiB`).toBeLessThan(HEAP_TOLERANCE)
}

async function registry(): Promise<{ ctx: Context; tools: ToolRegistry }> {
  const ctx = new Context()
  await ctx.plugin(ToolRegistry, { abandonAfterMs: 5 })
  return { ctx, tools: ctx.tools }
}

it('10,000 cycles of register and dispose, global and scoped, with projection and lookup', async () => {
  const { ctx, tools } = await registry()
  tools.register(greet('stays'))
  let changes = 0
  ctx.on('tools/change', () => void changes++)
  await leavesNothing(ctx, async () => {
    const agent = { id: 'agent', inject: () => undefined }
    const scope = createScope(ctx, agent)
    const scoped = scope.ctx.tools
    for (let cycle = 0; cycle < 10_000; cycle++) {
      const undo = [
        tools.register(bodyTool(`tool-${cycle}`, () => cycle)),
        scoped.register(bodyTool(`own-${cycle}`, () => cycle)),
        ...(cycle % 10 === 0 ? [scoped.restrict({ deny: ['stays'] }), scoped.presentAs('both')] : []),
        ...(cycle % 7 === 0 ? [scoped.guard(() => undefined), tools.guard(() => undefined)] : []),
      ]
      if (cycle % 50 === 0) tools.schemas(agent)
      for (const each of undo) each()
    }
    await scope.dispose()
  })
  expect(changes).toBeGreaterThan(80_000)
  expect(tools.schemas().map((schema) => schema.name)).toEqual(['stays'])
})

it('1,000 scopes that come, register, call and go, refused registrations included', async () => {
  const { ctx, tools } = await registry()
  tools.register(greet())
  let first: WeakRef<object> | undefined
  await leavesNothing(ctx, async () => {
    for (let cycle = 0; cycle < 1_000; cycle++) {
      const agent = { id: `agent ${cycle}`, inject: () => undefined }
      first ??= new WeakRef(agent)
      const scope = createScope(ctx, agent)
      scope.ctx.tools.register(bodyTool('own', () => cycle))
      scope.ctx.tools.restrict({ deny: ['greet'] })
      tools.schemas(agent)
      const { signal } = new AbortController()
      await tools.execute({ callId: `call ${cycle}`, name: 'own', arguments: {}, signal, agent })
      await scope.dispose()
      expect(() => scope.ctx.tools.register(greet('late'))).toThrow('inactive')
    }
  })
  expect(first?.deref(), 'a disposed agent is still held').toBeUndefined()
})

it.each([
  ['without listeners', false],
  ['with listeners at every stage', true],
])('100,000 calls %s', async (_what, listening) => {
  const { ctx, tools } = await registry()
  tools.register(bodyTool('sync', (args) => args))
  tools.register(bodyTool('async', async () => ({ deep: [1, 2, 3] })))
  tools.register(
    bodyTool('fails', () => {
      throw new Error('no')
    }),
  )
  tools.register(bodyTool('deadline', (_args, exec) => Promise.resolve(exec.signal.aborted), { timeoutMs: 60_000 }))
  tools.register(
    bodyTool(
      'waits',
      (_args, { signal }) =>
        new Promise((_resolve, reject) => {
          if (signal.aborted) reject(signal.reason as Error)
          else signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
        }),
      { timeoutMs: 60_000 },
    ),
  )
  let observed = 0
  if (listening) {
    ctx.on('tools/pre-execute', (_exec, next) => next())
    tools.guard(() => undefined)
    ctx.on('tools/execute', async (exec, next) => {
      const before = exec.signal
      exec.signal = new AbortController().signal
      const result = await next()
      exec.signal = before
      return result
    })
    ctx.on('tools/post-execute', (_exec, _result, next) => next())
    ctx.on('tools/result', () => void observed++)
  }
  const longLived = new AbortController()
  const preAborted = AbortSignal.abort()
  const outcomes = new Map<string, number>()
  const count = (result: ToolExecutionResult): void => {
    const outcome = result.isError ? result.error.code : 'ok'
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
  }
  const call = (name: string, signal: AbortSignal): Promise<void> =>
    tools.execute({ callId: 'call', name, arguments: { n: 1 }, signal }).then(count)

  await leavesNothing(ctx, async () => {
    // 5,000 rounds of 10 calls, twice: 100,000.
    for (let round = 0; round < 5_000; round++) {
      const turn = new AbortController()
      const waiting = [call('waits', turn.signal), call('waits', turn.signal)]
      await Promise.all([
        ...['sync', 'async', 'async', 'fails', 'deadline', 'nobody'].map((name) => call(name, longLived.signal)),
        call('sync', preAborted),
        call('async', preAborted),
      ])
      turn.abort()
      await Promise.all(waiting)
    }
    expect(getEventListeners(longLived.signal, 'abort')).toEqual([])
    expect(getEventListeners(preAborted, 'abort')).toEqual([])
  })
  expect(Object.fromEntries(outcomes)).toEqual({
    ok: 40_000,
    TOOL_FAILED: 10_000,
    UNKNOWN_TOOL: 10_000,
    ABORTED_BEFORE_DISPATCH: 20_000,
    ABORTED: 20_000,
  })
  expect(observed).toBe(listening ? 100_000 : 0)
})

it('2,000 calls that end at their deadline, are given up, and settle late', async () => {
  const { ctx, tools } = await registry()
  const settle: (() => void)[] = []
  tools.register(bodyTool('stuck', () => new Promise((resolve) => settle.push(() => resolve(1))), { timeoutMs: 1 }))
  let late = 0
  ctx.on('tools/late', () => void late++)
  const { signal } = new AbortController()
  await leavesNothing(ctx, async () => {
    const calls = Array.from({ length: 1_000 }, (_, index) =>
      tools.execute({ callId: `call ${index}`, name: 'stuck', arguments: { pad: 'x'.repeat(2_000) }, signal }),
    )
    const results = await Promise.all(calls)
    expect(new Set(results.map((result) => (result.isError ? result.error.code : 'ok')))).toEqual(
      new Set(['TOOL_ABANDONED']),
    )
    expect(tools.diagnostics().abandoned).toHaveLength(1_000)
    for (const each of settle.splice(0)) each()
    await expect.poll(() => tools.diagnostics().abandoned).toEqual([])
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
  expect(late).toBe(2_000)
})
