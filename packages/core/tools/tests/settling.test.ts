// Calls whose body, wrapper or policy misbehaves just where a call settles. Each ends with one outcome of its own; none rejects or hangs.
import { contentText } from '@deepseek-ai/dsh-tools'
import { getEventListeners } from 'node:events'
import { Context, createScope } from '@deepseek-ai/cordis'
import { describe, expect, it, vi } from 'vitest'
import ToolRegistry, { type ContextMessage } from '../src/index.ts'
import { bodyTool, failureOf, harness, waitingBody, type Harness } from './fixtures.ts'

const note = (content: string): ContextMessage => ({ content, source: { kind: 'plugin', plugin: 'test' } })

async function impatient(): Promise<Harness> {
  const ctx = new Context()
  await ctx.plugin(ToolRegistry, { abandonAfterMs: 5 })
  const { tools } = ctx
  return {
    ctx,
    tools,
    call: (name, args = {}, input = {}) =>
      tools.execute({ callId: 'c', name, arguments: args, signal: new AbortController().signal, ...input }),
  }
}

function boo(): never {
  throw new Error('boo')
}

function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

class ThrowingThen extends Promise<unknown> {
  // oxlint-disable-next-line unicorn/no-thenable -- that is the trap
  override then(): never {
    throw new Error('a `then` of its own')
  }
}

describe('a hostile body', () => {
  it.each<[string, () => unknown]>([
    // oxlint-disable-next-line unicorn/no-thenable -- that is the trap
    ['returns an object whose `then` throws', () => Object.defineProperty({}, 'then', { get: boo })],
    ['returns a promise of a kind that throws when it is waited for', () => new ThrowingThen(() => undefined)],
    ['returns a revoked proxy', revokedProxy],
    [
      'throws a revoked proxy',
      () => {
        throw revokedProxy()
      },
    ],
    ['rejects with a revoked proxy', () => Promise.reject(revokedProxy())],
    [
      'throws an error whose cause and code are traps',
      () => {
        throw Object.defineProperties(new Error('outer'), { cause: { get: boo }, code: { get: boo } })
      },
    ],
  ])('that %s fails its call alone', async (_what, body) => {
    const { tools, call } = await harness()
    tools.register(bodyTool('hostile', body))
    const error = failureOf(await call('hostile'))
    expect(error.code).toBe('TOOL_FAILED')
    expect(error.message).not.toBe('')
  })
})

describe('a body that cancels its own call before it first waits', () => {
  it('is given up when it never settles', async () => {
    const { tools, call } = await impatient()
    const caller = new AbortController()
    tools.register(bodyTool('own-end', () => (caller.abort(), new Promise(() => undefined))))
    expect(failureOf(await call('own-end', {}, { signal: caller.signal })).code).toBe('TOOL_ABANDONED')
  })

  it('hears of it through a signal that it took before', async () => {
    const { tools, call } = await harness()
    const caller = new AbortController()
    tools.register(
      bodyTool(
        'own-end',
        (_args, { signal }) => {
          caller.abort()
          return new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => reject(signal.reason as Error)),
          )
        },
        { timeoutMs: 60_000 },
      ),
    )
    expect(failureOf(await call('own-end', {}, { signal: caller.signal })).code).toBe('ABORTED')
  })
})

describe('a body that is done when it answers', () => {
  it.each<[string, () => unknown, number]>([
    ['returns a value', () => 1, 0],
    ['returns a promise that has settled', () => Promise.resolve(1), 0],
    ['waits', () => new Promise((resolve) => setImmediate(resolve, 1)), 1],
  ])('is not listened out for unless it waits: it %s', async (_what, execute, listeners) => {
    const { tools, call } = await harness()
    const { signal } = new AbortController()
    const listening = vi.spyOn(signal, 'addEventListener')
    tools.register(bodyTool('done', execute))
    expect(await call('done', {}, { signal })).toMatchObject({ isError: false, value: 1 })
    expect(listening).toHaveBeenCalledTimes(listeners)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it.each([undefined, 60_000])(
    'hears its caller cancel in the turn in which it began (deadline %s)',
    async (timeoutMs) => {
      const { tools, call } = await harness()
      const caller = new AbortController()
      const { execute } = waitingBody()
      tools.register(bodyTool('waits', execute, timeoutMs === undefined ? {} : { timeoutMs }))
      const result = call('waits', {}, { signal: caller.signal })
      caller.abort()
      expect(failureOf(await result).code).toBe('ABORTED')
    },
  )
})

it.each([
  ['an error', new Error('the user pressed stop')],
  ['text', 'stop'],
  ['the default', undefined],
])('reports ABORTED for a body that rejects with the reason of the caller, %s', async (_what, reason) => {
  const { tools, call } = await harness()
  const caller = new AbortController()
  const body = waitingBody()
  tools.register(bodyTool('waits', body.execute))
  const started = body.started()
  const running = call('waits', {}, { signal: caller.signal })
  await started
  caller.abort(reason)
  expect(failureOf(await running)).toMatchObject({ code: 'ABORTED', message: 'tool call aborted' })
})

describe('a deadline', () => {
  it('stays the cause when the caller cancels while the body cleans up', async () => {
    const { tools, call } = await harness()
    const caller = new AbortController()
    tools.register(
      bodyTool(
        'tidy',
        (_args, exec) =>
          new Promise((_resolve, reject) => {
            exec.signal.addEventListener('abort', () => {
              caller.abort()
              setImmediate(() => reject(exec.signal.reason as Error))
            })
          }),
        { timeoutMs: 2 },
      ),
    )
    expect(failureOf(await call('tidy', {}, { signal: caller.signal })).code).toBe('TOOL_TIMEOUT')
  })

  it('counts from the start of the body, not from where it first waits', async () => {
    const { tools, call } = await harness()
    let [started, fired] = [0, 0]
    tools.register(
      bodyTool(
        'slow-start',
        (_args, { signal }) => {
          started = performance.now()
          while (performance.now() - started < 150);
          return new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => {
              fired = performance.now()
              reject(signal.reason as Error)
            }),
          )
        },
        { timeoutMs: 200 },
      ),
    )
    expect(failureOf(await call('slow-start')).code).toBe('TOOL_TIMEOUT')
    expect(fired - started).toBeLessThan(320) // 350 if the clock began after the busy part
  })
})

describe('a wrapper', () => {
  it('that copies the result of next() does not double what the body deferred', async () => {
    const { ctx, tools, call } = await harness()
    tools.register(bodyTool('t', (_args, exec) => (exec.deferContext(note('body')), 1)))
    ctx.on('tools/execute', async (_exec, next) => {
      const result = await next()
      return { ...result, additionalContexts: [...(result.additionalContexts ?? []), note('wrapper')] }
    })
    expect((await call('t')).additionalContexts).toEqual([note('body'), note('wrapper')])
  })

  it('cannot run the body once it has answered', async () => {
    const { ctx, tools, call } = await harness()
    let [runs, leaked] = [0, async (): Promise<unknown> => undefined]
    tools.register(bodyTool('t', () => ++runs))
    ctx.on('tools/execute', (_exec, next) => {
      leaked = next
      return { isError: false, value: 'cached', content: [] }
    })
    expect(await call('t')).toMatchObject({ value: 'cached' })
    await expect(leaked()).rejects.toThrow('next() called after the wrapper has answered')
    expect(runs).toBe(0)
  })
})

describe('contexts of another shape', () => {
  it.each([
    ['text', 'be careful'],
    ['a list of numbers', [7]],
    ['a message without source', [{ content: 'x' }]],
    ['a message from nobody known', [{ content: 'x', source: { kind: 'ghost' } }]],
    ['a message of unknown blocks', [{ content: [{ type: 'video' }], source: { kind: 'user' } }]],
  ])('fail policy that gives %s, and a wrapper alike', async (_what, additionalContexts) => {
    const { ctx, tools, call } = await harness()
    tools.register(bodyTool('t', () => 1))
    const off = ctx.on('tools/post-execute', () => ({ kind: 'accept', additionalContexts }) as never)
    expect(failureOf(await call('t')).code).toBe('POLICY_FAILED')
    off()
    ctx.on('tools/execute', () => ({ isError: false, value: 1, content: [], additionalContexts }) as never)
    expect(failureOf(await call('t')).code).toBe('POLICY_FAILED')
  })

  it('fail the body that defers them', async () => {
    const { tools, call } = await harness()
    tools.register(bodyTool('t', (_args, exec) => (exec.deferContext('remember' as never), 1)))
    expect(failureOf(await call('t'))).toMatchObject({
      code: 'TOOL_FAILED',
      message: 'exec.deferContext() needs a message {content, source}',
    })
  })
})

it('bounds the result of a tool that is unregistered while its body runs', async () => {
  const { tools, call } = await harness()
  const unregister = tools.register(
    bodyTool('t', async () => (unregister(), 'x'.repeat(1000)), { maxResultBytes: 100 }),
  )
  const result = await call('t')
  expect(result).toMatchObject({ value: 'x'.repeat(1000) })
  expect(Buffer.byteLength(contentText(result.content))).toBeLessThanOrEqual(100)
})

it('leaves a scope whole whose registration was refused', async () => {
  const { ctx, tools } = await harness()
  const agent = { id: 'a' }
  const scope = createScope(ctx, agent)
  await scope.dispose()
  expect(() => scope.ctx.tools.register(bodyTool('t', () => 1))).toThrow('inactive')
  expect(() => scope.ctx.tools.presentAs('code')).toThrow('inactive')
  expect(tools.get('t', agent)).toBeUndefined()
})
