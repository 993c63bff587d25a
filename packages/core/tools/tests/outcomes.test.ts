// What a body may say besides its value, and what bounds and outlives a call.
import { contentText } from '@deepseek-ai/dsh-tools'
import { describe, expect, it, vi } from 'vitest'
import ToolRegistry, { defineTool, type ContextMessage, type ToolExecutionResult } from '../src/index.ts'
import { Context } from '@deepseek-ai/cordis'
import { OwnError, bodyTool, failureOf, harness, waitingBody } from './fixtures.ts'

const note = (content: string): ContextMessage => ({ content, source: { kind: 'plugin', plugin: 'test' } })
const contexts = (result: ToolExecutionResult): unknown[] =>
  (result.additionalContexts ?? []).map((each) => each.content)
const text = (value: string): { type: 'text'; text: string }[] => [{ type: 'text', text: value }]

describe('deferContext', () => {
  it('comes before what policy adds, from a body that succeeds or fails', async () => {
    const { ctx, tools, call } = await harness()
    tools.register(bodyTool('ok', (_args, exec) => (exec.deferContext(note('body')), 1)))
    tools.register(
      bodyTool('bad', (_args, exec) => {
        exec.deferContext(note('body'))
        throw new OwnError('no')
      }),
    )
    expect(contexts(await call('ok'))).toEqual(['body'])
    ctx.on('tools/post-execute', () => ({ kind: 'accept', additionalContexts: [note('policy')] }))
    expect(contexts(await call('ok'))).toEqual(['body', 'policy'])
    const failed = await call('bad')
    expect([failureOf(failed).code, contexts(failed)]).toEqual(['OWN_CODE', ['body', 'policy']])
  })

  it('survives a wrapper that throws and an abort, and is dropped by a block', async () => {
    const { ctx, tools, call } = await harness()
    let controller = new AbortController()
    tools.register(bodyTool('t', (_args, exec) => (exec.deferContext(note('body')), 1)))
    tools.register(bodyTool('aborts', (_args, exec) => (exec.deferContext(note('body')), controller.abort(), 1)))
    const off = ctx.on('tools/execute', async (_exec, next) => {
      await next()
      throw new Error('wrapper')
    })
    const thrown = await call('t')
    expect([failureOf(thrown).code, contexts(thrown)]).toEqual(['POLICY_FAILED', ['body']])
    off()
    controller = new AbortController()
    const aborted = await call('aborts', {}, { signal: controller.signal })
    expect([failureOf(aborted).code, contexts(aborted)]).toEqual(['ABORTED', ['body']])
    ctx.on('tools/post-execute', () => ({ kind: 'block', feedback: text('no'), additionalContexts: [note('policy')] }))
    expect(contexts(await call('t'))).toEqual(['policy'])
  })
})

describe('concludeTurn', () => {
  it('marks a success alone', async () => {
    const { ctx, tools, call } = await harness()
    tools.register(bodyTool('ok', (_args, exec) => (exec.concludeTurn(), 1)))
    tools.register(
      bodyTool('bad', (_args, exec) => {
        exec.concludeTurn()
        throw new Error('no')
      }),
    )
    expect(await call('ok')).toMatchObject({ concludesTurn: true })
    expect(await call('bad')).not.toHaveProperty('concludesTurn')
    let decision: unknown = { kind: 'accept', value: 2 }
    ctx.on('tools/post-execute', () => decision as never)
    expect(await call('ok')).toMatchObject({ concludesTurn: true, value: 2 })
    decision = { kind: 'block', feedback: [] }
    expect(await call('ok')).not.toHaveProperty('concludesTurn')
  })
})

describe('maxResultBytes', () => {
  const sizes = (result: ToolExecutionResult): number => Buffer.byteLength(contentText(result.content))

  it('bounds every outcome in bytes, between code points, keeping head and tail', async () => {
    const { ctx, tools, call } = await harness()
    const long = `head ${'😀'.repeat(5000)} tail`
    const render = (_args: never, value: never): { type: 'text'; text: string }[] => text(value)
    const output = { schema: {}, render }
    tools.register(bodyTool('ok', () => long, { output, maxResultBytes: 300 }))
    tools.register(
      bodyTool(
        'bad',
        () => {
          throw new OwnError(long)
        },
        { maxResultBytes: 300 },
      ),
    )
    tools.register(
      bodyTool('asks', () => long, { output, maxResultBytes: ((args: { bytes: number }) => args.bytes) as never }),
    )
    for (const result of [await call('ok'), await call('bad'), await call('asks', { bytes: 300 })]) {
      expect(sizes(result)).toBeLessThanOrEqual(300)
      const [block] = result.content
      expect(contentText(block === undefined ? [] : [block])).toMatch(
        /head 😀.*\n\[\d+ of \d+ bytes are missing here.*\]\n.*tail$/su,
      )
      expect(contentText(block === undefined ? [] : [block])).not.toContain('\uFFFD')
    }
    expect(await call('ok')).toMatchObject({ value: long })
    ctx.on('tools/pre-execute', () => ({ kind: 'deny', reason: long }))
    expect(sizes(await call('ok'))).toBeLessThanOrEqual(300)
  })

  it('leaves alone what fits, and a bound that throws', async () => {
    const { tools, call } = await harness()
    tools.register(bodyTool('small', () => 1, { maxResultBytes: 10 }))
    tools.register(
      bodyTool('odd', () => 'x'.repeat(100), {
        maxResultBytes: () => {
          throw new Error('no')
        },
      }),
    )
    expect((await call('small')).content).toEqual(text('1'))
    expect(sizes(await call('odd'))).toBe(102)
  })

  it.each([0, -1, Number.NaN, 'much'])('refuses %s at registration', async (maxResultBytes) => {
    const { tools } = await harness()
    expect(() => tools.register(bodyTool('t', () => 1, { maxResultBytes: maxResultBytes as never }))).toThrow(
      'tool "t" maxResultBytes must be a positive number or a function',
    )
  })
})

describe('warnings', () => {
  it('name an unknown argument near a declared one, in the content and on the result', async () => {
    const { tools, call } = await harness()
    tools.register(
      defineTool({
        name: 'find',
        description: '',
        parameters: { pattern: { type: 'string', required: true }, maxResults: { type: 'integer' } },
        output: { schema: { type: 'string' }, render: (_args, value) => text(value) },
        execute: (args) => args.pattern,
      }),
    )
    const warning = 'unknown argument "max_result"; did you mean "maxResults"?'
    const result = await call('find', { pattern: 'x', max_result: 5 })
    expect(result).toMatchObject({ warnings: [warning], content: [...text('x'), ...text(`[warning: ${warning}]`)] })
    expect(await call('find', { pattern: 'x', other: 5 })).not.toHaveProperty('warnings')
  })
})

describe('abandonment', () => {
  async function impatient(): Promise<ReturnType<typeof harness> extends Promise<infer H> ? H : never> {
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

  /** A body that ends when it is told to, whatever its signal says. */
  function stubborn(): {
    execute: () => Promise<unknown>
    end: (value: unknown) => void
    fail: (error: unknown) => void
  } {
    let [end, fail] = [(_value: unknown): void => undefined, (_error: unknown): void => undefined]
    const promise = new Promise((resolve, reject) => ([end, fail] = [resolve, reject]))
    return { execute: () => promise, end: (value) => end(value), fail: (error) => fail(error) }
  }

  it('gives a body up after its cancellation, tracks it, and tells when it settles', async () => {
    const { ctx, tools, call } = await impatient()
    const body = stubborn()
    tools.register(bodyTool('stuck', body.execute))
    const late = vi.fn()
    ctx.on('tools/late', late)
    const caller = new AbortController()
    const running = call('stuck', {}, { signal: caller.signal })
    await Promise.resolve()
    caller.abort()
    const error = failureOf(await running)
    expect(error).toMatchObject({
      code: 'TOOL_ABANDONED',
      message: expect.stringContaining('after its cancellation') as string,
    })
    expect(tools.diagnostics().abandoned).toMatchObject([{ callId: 'c', name: 'stuck', agent: undefined }])
    body.end('at last')
    await expect.poll(() => tools.diagnostics().abandoned).toEqual([])
    expect(late).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ callId: 'c', name: 'stuck' }),
      expect.objectContaining({ outcome: 'returned' }),
    )
  })

  it('gives a body up after its deadline, and a late failure is reported, not unhandled', async () => {
    const { ctx, tools, call } = await impatient()
    const body = stubborn()
    tools.register(bodyTool('stuck', body.execute, { timeoutMs: 2 }))
    const late = vi.fn()
    ctx.on('tools/late', late)
    expect(failureOf(await call('stuck'))).toMatchObject({
      code: 'TOOL_ABANDONED',
      message: expect.stringContaining('after its deadline of 2ms') as string,
    })
    body.fail(new Error('too late'))
    await expect.poll(() => late.mock.calls.length).toBe(1)
    expect(late.mock.calls[0]?.[1]).toMatchObject({ outcome: 'failed', message: 'too late' })
  })

  it('leaves a body that settles within the grace period its own outcome', async () => {
    const { tools, call } = await harness()
    const body = waitingBody()
    tools.register(bodyTool('polite', body.execute))
    const caller = new AbortController()
    const started = body.started()
    const running = call('polite', {}, { signal: caller.signal })
    await started
    caller.abort()
    expect(failureOf(await running).code).toBe('ABORTED')
    expect(tools.diagnostics().abandoned).toEqual([])
  })

  it('shows an abandoned body a signal that has fired, even when it first looks afterwards', async () => {
    const { tools, call } = await impatient()
    let look: (() => AbortSignal) | undefined
    tools.register(
      bodyTool('late-looker', (_args, exec) => ((look = () => exec.signal), new Promise(() => undefined)), {
        timeoutMs: 2,
      }),
    )
    await call('late-looker')
    expect(look?.().aborted).toBe(true)
  })
})

it.each([
  ['mode', 'loud'],
  ['abandonAfterMs', 0],
  ['maxParallelSubCalls', 1.5],
  ['abandonAfterSeconds', 1],
])('refuses a config whose %s is %s', async (field, value) => {
  const ctx = new Context()
  const error = await ctx
    .plugin(ToolRegistry, { [field]: value })
    .await()
    .then(() => undefined, String)
  expect(error).toContain(field)
})
