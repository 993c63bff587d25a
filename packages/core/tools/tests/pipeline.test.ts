import { getEventListeners } from 'node:events'
import { createScope } from '@deepseek-ai/cordis'
import { describe, expect, it, vi } from 'vitest'
import { ToolArgsError, type ToolExecution, type ToolExecutionResult } from '../src/index.ts'
import { OwnError, bodyTool, failureOf, greet, harness, waitingBody } from './fixtures.ts'

const text = (value: string): { type: 'text'; text: string }[] => [{ type: 'text', text: value }]

describe('arguments', () => {
  it('are read once, detached and frozen before any policy', async () => {
    const { ctx, tools, call } = await harness()
    let reads = 0
    const given = {
      get name() {
        return `n${++reads}`
      },
    }
    const seen: unknown[] = []
    tools.register(
      bodyTool('echo', (args) => {
        seen.push(args)
        return args
      }),
    )
    ctx.on('tools/pre-execute', (exec, next) => {
      seen.push(exec.arguments)
      return next()
    })
    const result = await call('echo', given)
    expect(result).toMatchObject({ value: { name: 'n1' } })
    expect(reads).toBe(1)
    expect(seen[0]).toBe(seen[1])
    expect(Object.isFrozen(seen[0])).toBe(true)
  })

  it('that are not JSON fail with INVALID_ARGS before any policy, pre-aborted or not', async () => {
    const { ctx, tools, call } = await harness()
    tools.register(greet())
    const pre = vi.fn((_exec: ToolExecution, next: () => unknown) => next())
    ctx.on('tools/pre-execute', pre as never)
    for (const signal of [new AbortController().signal, AbortSignal.abort()]) {
      const error = failureOf(await call('greet', { name: 1n }, { signal }))
      expect(error.code).toBe('INVALID_ARGS')
      expect(error.message).toContain('tool execution arguments must be losslessly JSON-serializable')
      expect(error.message).toContain('"name"')
    }
    expect(pre).not.toHaveBeenCalled()
  })

  it('that do not match fail with INVALID_ARGS and every violation', async () => {
    const { tools, call } = await harness()
    tools.register(greet())
    expect(failureOf(await call('greet', { nam: 'Ada' }))).toMatchObject({
      code: 'INVALID_ARGS',
      name: ToolArgsError.name,
      violations: ['missing required property "name"', 'unknown argument "nam"; did you mean "name"?'],
    })
  })

  it('needs a signal', async () => {
    const { call } = await harness()
    await expect(call('greet', {}, { signal: undefined as never })).rejects.toThrow(TypeError)
  })
})

describe('pre-execute, guards and post-execute', () => {
  it('run in order around the body, and result observers get the very object the caller gets', async () => {
    const { ctx, tools, call } = await harness()
    const log: string[] = []
    tools.register(
      bodyTool('t', () => {
        log.push('body')
        return 1
      }),
    )
    ctx.on('tools/result', (_exec, result) => void (log.push('result'), observed.push(result)))
    ctx.on('tools/post-execute', (_exec, _result, next) => {
      log.push('post')
      return next()
    })
    ctx.on('tools/execute', async (_exec, next) => {
      log.push('around')
      const r = await next()
      log.push('around ends')
      return r
    })
    tools.guard(() => void log.push('guard'))
    ctx.on('tools/pre-execute', (_exec, next) => {
      log.push('pre')
      return next()
    })
    const observed: ToolExecutionResult[] = []
    const result = await call('t')
    expect(log).toEqual(['pre', 'guard', 'around', 'body', 'around ends', 'post', 'result'])
    expect(observed[0]).toBe(result)
    expect(Object.isFrozen(result)).toBe(true)
  })

  it('deny with DENIED or GUARD_DENIED, skip the body and still reach post-execute', async () => {
    const { ctx, tools, call } = await harness()
    const body = vi.fn(() => 1)
    const post = vi.fn((_e: unknown, _r: unknown, next: () => unknown) => next())
    tools.register(bodyTool('t', body))
    ctx.on('tools/post-execute', post as never)
    const off = ctx.on('tools/pre-execute', () => ({ kind: 'deny', reason: 'not today' }))
    expect(failureOf(await call('t'))).toMatchObject({ code: 'DENIED', message: 'not today' })
    off()
    tools.guard((exec) => (exec.name === 't' ? 'guarded' : undefined))
    const denied = await call('t')
    expect(failureOf(denied)).toMatchObject({ code: 'GUARD_DENIED', message: 'guarded' })
    expect(denied.content).toEqual(text('Error: guarded'))
    expect(body).not.toHaveBeenCalled()
    expect(post).toHaveBeenCalledTimes(2)
  })

  it('cannot undo a guard', async () => {
    const { ctx, tools, call } = await harness()
    tools.register(bodyTool('t', () => 1))
    tools.guard(() => 'no')
    ctx.on('tools/pre-execute', () => ({ kind: 'allow' }))
    ctx.on('tools/execute', () => ({ isError: false, value: 1, content: [] }))
    expect(failureOf(await call('t')).code).toBe('GUARD_DENIED')
  })

  it('answer an ask with APPROVAL_UNAVAILABLE when nobody can approve', async () => {
    const { ctx, tools, call } = await harness()
    tools.register(bodyTool('t', () => 1))
    ctx.on('tools/pre-execute', () => ({ kind: 'ask', reason: 'writes files' }))
    expect(failureOf(await call('t'))).toMatchObject({
      code: 'APPROVAL_UNAVAILABLE',
      message: expect.stringContaining('writes files') as string,
    })
  })

  it.each([
    ['an unknown decision', () => ({ kind: 'maybe' })],
    ['no decision', () => undefined],
    ['a deny without reason', () => ({ kind: 'deny' })],
    [
      'a throw',
      () => {
        throw new Error('boom')
      },
    ],
    ['a rejection', () => Promise.reject(new Error('boom'))],
  ])('refuse the call with POLICY_FAILED on %s', async (_what, listener) => {
    const { ctx, tools, call } = await harness()
    const body = vi.fn(() => 1)
    tools.register(bodyTool('t', body))
    ctx.on('tools/pre-execute', listener as never)
    expect(failureOf(await call('t')).code).toBe('POLICY_FAILED')
    expect(body).not.toHaveBeenCalled()
  })

  it.each([
    ['a promise', () => Promise.resolve('x')],
    ['false', () => false],
    [
      'a throw',
      () => {
        throw new Error('boom')
      },
    ],
  ])('refuse the call with POLICY_FAILED on a guard that gives %s', async (_what, guard) => {
    const { tools, call } = await harness()
    tools.register(bodyTool('t', () => 1))
    tools.guard(guard as never)
    expect(failureOf(await call('t')).code).toBe('POLICY_FAILED')
  })

  it('of a scope see the calls of that agent alone', async () => {
    const { ctx, tools, call } = await harness()
    tools.register(bodyTool('t', () => 1))
    const agent = { id: 'a', inject: () => undefined }
    const scope = createScope(ctx, agent)
    scope.ctx.on('tools/pre-execute', () => ({ kind: 'deny', reason: 'scoped' }))
    scope.ctx.tools.guard(() => 'scoped guard')
    expect((await call('t')).isError).toBe(false)
    expect(failureOf(await call('t', {}, { agent })).message).toBe('scoped')
    await scope.dispose()
    expect((await call('t', {}, { agent })).isError).toBe(false)
  })

  it('may call next only once outside tools/execute', async () => {
    const { ctx, tools, call } = await harness()
    tools.register(bodyTool('t', () => 1))
    ctx.on('tools/pre-execute', async (_exec, next) => {
      await next()
      return next()
    })
    expect(failureOf(await call('t'))).toMatchObject({ code: 'POLICY_FAILED', message: 'next() called multiple times' })
  })
})

describe('next()', () => {
  it('gives a promise at every stage, also where the listener after it answers at once', async () => {
    const { ctx, tools, call } = await harness()
    tools.register(greet())
    const order: string[] = []
    ctx.on('tools/pre-execute', (_exec, next) => next().then((answer) => (order.push(`pre ${answer.kind}`), answer)))
    ctx.on('tools/execute', (_exec, next) => next().then((answer) => (order.push(`${answer.isError}`), answer)))
    ctx.on('tools/post-execute', (_e, _r, next) => next().then((answer) => (order.push(`post ${answer.kind}`), answer)))
    expect(await call('greet', { name: 'Ada' })).toMatchObject({ value: 'Hello, Ada!' })
    ctx.on('tools/pre-execute', () => ({ kind: 'allow' }))
    ctx.on('tools/execute', () => ({ isError: false, value: 'mine', content: [] }))
    ctx.on('tools/post-execute', () => ({ kind: 'accept' }))
    expect(await call('greet', { name: 'Ada' })).toMatchObject({ value: 'mine' })
    expect(order).toEqual(['pre allow', 'false', 'post accept', 'pre allow', 'false', 'post accept'])
  })
})

describe('tools/execute wrappers', () => {
  it('may retry the body', async () => {
    const { ctx, tools, call } = await harness()
    let runs = 0
    tools.register(
      bodyTool('flaky', () => {
        if (++runs < 3) throw new Error('again')
        return runs
      }),
    )
    ctx.on('tools/execute', async (_exec, next) => {
      let result = await next()
      while (result.isError) result = await next()
      return result
    })
    expect(await call('flaky')).toMatchObject({ value: 3 })
  })

  it('may replace the signal, never remove it, and the body still hears the caller', async () => {
    const { ctx, tools, call } = await harness()
    const own = new AbortController()
    const body = waitingBody()
    tools.register(bodyTool('wait', body.execute))
    ctx.on('tools/execute', async (exec, next) => {
      const before = exec.signal
      exec.signal = own.signal
      const result = await next()
      exec.signal = before
      return result
    })
    const caller = new AbortController()
    const started = body.started()
    const running = call('wait', {}, { signal: caller.signal })
    await started
    caller.abort()
    expect(failureOf(await running).code).toBe('ABORTED')
    const deadlineStarted = body.started()
    const deadline = call('wait')
    await deadlineStarted
    own.abort(new Error('deadline of the wrapper'))
    expect(failureOf(await deadline).message).toBe('deadline of the wrapper')
    ctx.on(
      'tools/execute',
      (exec, next) => {
        exec.signal = undefined as never
        return next()
      },
      { prepend: true },
    )
    expect(failureOf(await call('wait'))).toMatchObject({ code: 'POLICY_FAILED' })
  })

  it('cannot change identity', async () => {
    const { ctx, tools, call } = await harness()
    tools.register(bodyTool('t', () => 1))
    for (const field of ['callId', 'name', 'arguments', 'agent', 'token', 'parent']) {
      const off = ctx.on('tools/execute', (exec, next) => {
        ;(exec as unknown as Record<string, unknown>)[field] = 'x'
        return next()
      })
      expect(failureOf(await call('t')).code, field).toBe('POLICY_FAILED')
      off()
      const offPre = ctx.on('tools/pre-execute', (exec, next) => {
        ;(exec as unknown as Record<string, unknown>)[field] = 'x'
        return next()
      })
      expect(failureOf(await call('t')).code, field).toBe('POLICY_FAILED')
      offPre()
    }
    ctx.on('tools/pre-execute', (exec, next) => {
      ;(exec as unknown as { signal: unknown }).signal = AbortSignal.abort()
      return next()
    })
    expect(failureOf(await call('t')).code).toBe('POLICY_FAILED')
  })

  it('have a result of their own validated and rendered by the tool', async () => {
    const { ctx, tools, call } = await harness()
    tools.register(greet())
    let mine: unknown = { isError: false, value: 'from a cache', content: text('ignored') }
    ctx.on('tools/execute', () => mine as never)
    expect(await call('greet', { name: 'Ada' })).toMatchObject({ value: 'from a cache', content: text('from a cache') })
    mine = { isError: false, value: 42, content: [] }
    expect(failureOf(await call('greet', { name: 'Ada' })).code).toBe('INVALID_TOOL_OUTPUT')
    mine = { isError: true, error: { message: 'busy', code: 'BUSY' } }
    expect(failureOf(await call('greet', { name: 'Ada' }))).toMatchObject({ code: 'BUSY', message: 'busy' })
    mine = 'what'
    expect(failureOf(await call('greet', { name: 'Ada' })).code).toBe('POLICY_FAILED')
  })
})

describe('the body', () => {
  it.each([
    ['undefined', undefined],
    ['a bigint', 1n],
    ['-0', -0],
    ['NaN', Number.NaN],
    ['a date', new Date()],
    [
      'a cycle',
      (() => {
        const a: unknown[] = []
        a.push(a)
        return a
      })(),
    ],
  ])('that returns %s fails with INVALID_TOOL_OUTPUT', async (_what, value) => {
    const { tools, call } = await harness()
    tools.register(bodyTool('t', () => value))
    expect(failureOf(await call('t'))).toMatchObject({
      code: 'INVALID_TOOL_OUTPUT',
      message: expect.stringContaining('tool "t" returned invalid output: value is not lossless JSON') as string,
    })
  })

  it.each([
    [
      'render throws',
      {
        render: () => {
          throw new Error('no')
        },
      },
      'output.render failed: no',
    ],
    ['render returns no blocks', { render: () => 'text' }, 'output.render returned'],
    ['render returns an unknown block', { render: () => [{ type: 'video' }] }, 'unknown type'],
    [
      'presentationMeta throws',
      {
        presentationMeta: () => {
          throw new Error('no')
        },
      },
      'output.presentationMeta failed: no',
    ],
    [
      'presentationMeta is not JSON',
      { presentationMeta: () => ({ at: new Date() }) },
      'output.presentationMeta returned non-lossless JSON',
    ],
  ])('fails with INVALID_TOOL_OUTPUT when %s', async (_what, part, message) => {
    const { tools, call } = await harness()
    const output = { schema: {}, render: () => [], ...part } as never
    tools.register(bodyTool('t', () => 1, { output }))
    const error = failureOf(await call('t'))
    expect(error.code).toBe('INVALID_TOOL_OUTPUT')
    expect(error.message).toContain(message)
  })

  it('projects meta for top-level calls only', async () => {
    const { tools, call } = await harness()
    const output = { schema: {}, render: () => [], presentationMeta: (_args: never, value: never) => ({ seen: value }) }
    tools.register(
      bodyTool(
        't',
        (_args, exec) => {
          token = exec.token
          return 1
        },
        { output },
      ),
    )
    let token: ToolExecution['token'] | undefined
    expect(await call('t')).toMatchObject({ meta: { seen: 1 } })
    expect(await call('t', {}, { parent: token })).not.toHaveProperty('meta')
  })

  it('that throws keeps only a code of its own kind, and the cause either way', async () => {
    const { tools, call } = await harness()
    let thrown: unknown
    tools.register(
      bodyTool('t', () => {
        throw thrown
      }),
    )
    thrown = new OwnError('mine', { cause: new Error('below') })
    expect(failureOf(await call('t'))).toMatchObject({
      code: 'OWN_CODE',
      name: 'OwnError',
      message: 'mine',
      cause: { message: 'below' },
    })
    thrown = Object.assign(new Error('no such file'), { code: 'ENOENT' })
    expect(failureOf(await call('t'))).toMatchObject({
      code: 'TOOL_FAILED',
      message: 'no such file',
      cause: { code: 'ENOENT' },
    })
    for (const odd of [
      'text',
      null,
      undefined,
      7,
      Object.create(null),
      {
        get message() {
          throw new Error('gotcha')
        },
      },
    ]) {
      thrown = odd
      const error = failureOf(await call('t'))
      expect(error.code).toBe('TOOL_FAILED')
      expect(typeof error.message).toBe('string')
    }
  })

  it('reports live until it settles, and a throwing receiver harms nobody', async () => {
    const { tools, call } = await harness()
    let late: ToolExecution | undefined
    tools.register(
      bodyTool('t', (_args, exec) => {
        late = exec
        exec.report({ kind: 'text', text: 'half' })
        return 1
      }),
    )
    const seen: unknown[] = []
    await call(
      't',
      {},
      {
        onReport: (progress) => {
          seen.push(progress)
          throw new Error('receiver')
        },
      },
    )
    late?.report({ kind: 'text', text: 'too late' })
    expect(seen).toEqual([{ kind: 'text', text: 'half' }])
  })
})

describe('cancellation', () => {
  it('before anything is ABORTED_BEFORE_DISPATCH, told to observers once, with no policy asked', async () => {
    const { ctx, tools, call } = await harness()
    const [body, pre, post, observe] = [vi.fn(() => 1), vi.fn(), vi.fn(), vi.fn()]
    tools.register(bodyTool('t', body))
    ctx.on('tools/pre-execute', pre)
    ctx.on('tools/post-execute', post)
    ctx.on('tools/result', observe)
    expect(failureOf(await call('t', {}, { signal: AbortSignal.abort() })).code).toBe('ABORTED_BEFORE_DISPATCH')
    expect(observe).toHaveBeenCalledTimes(1)
    for (const spy of [body, pre, post]) expect(spy).not.toHaveBeenCalled()
  })

  it('during pre-execute is ABORTED_BEFORE_DISPATCH; a denial that settles after it stays a denial', async () => {
    const { ctx, tools, call } = await harness()
    tools.register(bodyTool('t', () => 1))
    let controller = new AbortController()
    let answer: unknown = { kind: 'allow' }
    ctx.on('tools/pre-execute', () => {
      controller.abort()
      return answer as never
    })
    expect(failureOf(await call('t', {}, { signal: controller.signal })).code).toBe('ABORTED_BEFORE_DISPATCH')
    controller = new AbortController()
    answer = { kind: 'deny', reason: 'no' }
    expect(failureOf(await call('t', {}, { signal: controller.signal })).code).toBe('DENIED')
  })

  it('during the body waits for it and replaces only a success', async () => {
    const { tools, call } = await harness()
    const controller = new AbortController()
    tools.register(
      bodyTool('succeeds', async () => {
        controller.abort()
        return 1
      }),
    )
    expect(failureOf(await call('succeeds', {}, { signal: controller.signal })).code).toBe('ABORTED')
    const second = new AbortController()
    tools.register(
      bodyTool('fails', () => {
        second.abort()
        throw new OwnError('own failure')
      }),
    )
    expect(failureOf(await call('fails', {}, { signal: second.signal })).code).toBe('OWN_CODE')
  })

  it('during post-execute replaces a success and keeps a failure', async () => {
    const { ctx, tools, call } = await harness()
    let controller = new AbortController()
    tools.register(bodyTool('ok', () => 1))
    tools.register(
      bodyTool('bad', () => {
        throw new OwnError('own failure')
      }),
    )
    ctx.on('tools/post-execute', (_exec, _result, next) => {
      controller.abort()
      return next()
    })
    expect(failureOf(await call('ok', {}, { signal: controller.signal })).code).toBe('ABORTED')
    controller = new AbortController()
    expect(failureOf(await call('bad', {}, { signal: controller.signal })).code).toBe('OWN_CODE')
  })

  it('shares one listener among parallel calls and leaves none on a long-lived signal', async () => {
    const { tools, call } = await harness()
    const { signal } = new AbortController()
    const body = waitingBody()
    tools.register(bodyTool('waits', body.execute))
    const own = new AbortController()
    tools.register(bodyTool('ends', () => Promise.resolve(1), { timeoutMs: 1000 }))
    const started = body.started()
    const running = call('waits', {}, { signal: own.signal })
    const calls = Array.from({ length: 20 }, () => call('ends', {}, { signal }))
    await started
    expect(getEventListeners(signal, 'abort').length).toBeLessThanOrEqual(1)
    await Promise.all(calls)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
    own.abort()
    await running
    expect(getEventListeners(own.signal, 'abort').length).toBeLessThanOrEqual(1) // the body's own
  })
})

describe('timeoutMs', () => {
  it('aborts the signal of the body and reports TOOL_TIMEOUT', async () => {
    const { tools, call } = await harness()
    const body = waitingBody()
    tools.register(bodyTool('slow', body.execute, { timeoutMs: 5 }))
    expect(failureOf(await call('slow'))).toMatchObject({
      code: 'TOOL_TIMEOUT',
      message: 'tool call timed out after 5ms',
    })
  })

  it('reports TOOL_TIMEOUT for a body that never looked at its signal and settled late', async () => {
    const { tools, call } = await harness()
    tools.register(
      bodyTool(
        'busy',
        () => {
          const until = performance.now() + 8
          while (performance.now() < until);
          return 1
        },
        { timeoutMs: 2 },
      ),
    )
    expect(failureOf(await call('busy')).code).toBe('TOOL_TIMEOUT')
  })

  it('leaves a body in time alone', async () => {
    const { tools, call } = await harness()
    tools.register(bodyTool('quick', (_args, exec) => exec.signal.aborted, { timeoutMs: 5000 }))
    expect(await call('quick')).toMatchObject({ value: false })
  })

  it('yields to a caller who cancelled first', async () => {
    const { tools, call } = await harness()
    const caller = new AbortController()
    const body = waitingBody()
    tools.register(bodyTool('slow', body.execute, { timeoutMs: 5000 }))
    const started = body.started()
    const running = call('slow', {}, { signal: caller.signal })
    await started
    caller.abort()
    expect(failureOf(await running).code).toBe('ABORTED')
  })
})

describe('post-execute decisions', () => {
  it('may replace content and leave the value', async () => {
    const { ctx, tools, call } = await harness()
    tools.register(bodyTool('t', () => 1))
    ctx.on('tools/post-execute', () => ({ kind: 'accept', content: text('short') }))
    expect(await call('t')).toMatchObject({ value: 1, content: text('short') })
  })

  it('may replace the value, which is validated and rendered again', async () => {
    const { ctx, tools, call } = await harness()
    tools.register(greet())
    let value: unknown = 'redacted'
    ctx.on('tools/post-execute', () => ({ kind: 'accept', value }) as never)
    expect(await call('greet', { name: 'Ada' })).toMatchObject({ value: 'redacted', content: text('redacted') })
    value = 7
    expect(failureOf(await call('greet', { name: 'Ada' })).code).toBe('INVALID_TOOL_OUTPUT')
  })

  it('may not replace both, nor give a failed call a value', async () => {
    const { ctx, tools, call } = await harness()
    tools.register(bodyTool('ok', () => 1))
    let decision: unknown = { kind: 'accept', value: 2, content: text('x') }
    ctx.on('tools/post-execute', () => decision as never)
    expect(failureOf(await call('ok')).code).toBe('POLICY_FAILED')
    decision = { kind: 'accept', value: 2 }
    expect(failureOf(await call('nobody')).code).toBe('POLICY_FAILED')
  })

  it('may block with feedback and add context for the next request', async () => {
    const { ctx, tools, call } = await harness()
    tools.register(bodyTool('t', () => 'secret'))
    const additionalContexts = [{ content: 'be careful', source: { kind: 'plugin' as const, plugin: 'p' } }]
    ctx.on('tools/post-execute', () => ({ kind: 'block', feedback: text('withheld'), additionalContexts }))
    const result = await call('t')
    expect(failureOf(result)).toMatchObject({ code: 'BLOCKED', message: 'withheld' })
    expect(result).toMatchObject({ content: text('withheld'), additionalContexts })
    expect(JSON.stringify(result)).not.toContain('secret')
  })
})

describe('result observers', () => {
  it('cannot change the outcome nor starve each other', async () => {
    const { ctx, tools, call } = await harness()
    tools.register(bodyTool('t', () => 1))
    const last = vi.fn()
    ctx.on('tools/result', () => {
      throw new Error('observer')
    })
    ctx.on('tools/result', async () => Promise.reject(new Error('async observer')))
    ctx.on('tools/result', last)
    expect(await call('t')).toMatchObject({ value: 1 })
    expect(last).toHaveBeenCalledTimes(1)
  })
})
