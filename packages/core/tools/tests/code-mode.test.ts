import { Context, createScope } from '@deepseek-ai/cordis'
import { describe, expect, it, vi } from 'vitest'
import ToolRegistry, { CallScheduler, contentText, defineTool, type SubCallEvent, type ToolMode } from '../src/index.ts'
import { sdkText } from '../src/code/sdk.ts'
import { bodyTool, failureOf, greet, harness, type Harness } from './fixtures.ts'
import { inProcessRuntime, provideRuntime } from './program-runner.ts'

const agent = (id: string): { id: string; inject(): void } => ({ id, inject: () => undefined })

interface CodeHarness extends Harness {
  program: (code: string, input?: Parameters<Harness['call']>[2]) => ReturnType<Harness['call']>
  events: SubCallEvent[]
}

async function coding(config: { mode?: ToolMode; maxParallelSubCalls?: number } = {}): Promise<CodeHarness> {
  const ctx = new Context()
  await ctx.plugin(ToolRegistry, { mode: 'code', ...config })
  provideRuntime(ctx)
  const { tools } = ctx
  const events: SubCallEvent[] = []
  ctx.on('tools/sub-call', (_exec, event) => void events.push(event))
  let calls = 0
  const call: Harness['call'] = (name, args = {}, input = {}) =>
    tools.execute({ callId: `call-${++calls}`, name, arguments: args, signal: new AbortController().signal, ...input })
  return {
    ctx,
    tools,
    call,
    events,
    program: (code, input) => call('run_code', { code, description: 'test it' }, input),
  }
}

describe('what a model is shown', () => {
  it.each([
    ['native', ['greet']],
    ['code', ['run_code']],
    ['both', ['greet', 'run_code']],
  ] as const)('in mode %s is %s', async (mode, names) => {
    const { tools } = await coding({ mode })
    tools.register(greet())
    expect(tools.schemas().map((schema) => schema.name)).toEqual(names)
  })

  it('follows the nearest scope that chose', async () => {
    const { ctx, tools } = await coding({ mode: 'native' })
    tools.register(greet())
    const [outer, inner] = [agent('outer'), agent('inner')]
    const scope = createScope(ctx, outer)
    createScope(scope.ctx, inner)
    const undo = scope.ctx.tools.presentAs('code')
    const names = (key?: object): string[] => tools.schemas(key).map((schema) => schema.name)
    expect([names(), names(outer), names(inner)]).toEqual([['greet'], ['run_code'], ['run_code']])
    undo()
    expect(names(inner)).toEqual(['greet'])
  })

  it('describes every visible tool exactly, in the same bytes for the same tools', () => {
    const tools = [
      greet('zulu'),
      defineTool({
        name: 'odd name',
        description: 'Does */ odd\n things.',
        parameters: {
          kind: { type: 'string', enum: ['a', 'b'], required: true, description: 'Which  one' },
          'x-y': { oneOf: [{ type: 'integer' }, { type: 'array', items: { type: 'string' } }] },
          any: { type: 'json' },
        },
        output: {
          schema: {
            type: 'object',
            additionalProperties: true,
            properties: { ok: { type: 'boolean', const: true, required: true } },
          },
          render: () => [],
        },
        execute: () => ({ ok: true }),
      }),
    ]
    const text = sdkText(tools)
    expect(text).toBe(sdkText(tools.toReversed()))
    expect(text.slice(text.indexOf('interface'), text.indexOf('type ToolName'))).toBe(`interface ToolArgsMap {
  /** Does *\\/ odd things. */
  "odd name": {
    /** Which one */
    kind: "a" | "b";
    "x-y"?: number | string[];
    any?: JsonValue;
  };
  /** Greet someone. */
  zulu: {
    name: string;
  };
}
interface ToolOutputMap {
  "odd name": {
    ok: true;
  } & Record<string, JsonValue>;
  zulu: string;
}
`)
  })

  it('fails the assembly, not the boot, without a runtime or with an unknown language', async () => {
    const ctx = new Context()
    await ctx.plugin(ToolRegistry, { mode: 'code' })
    const sections: { name: string; text: (asking: object) => string }[] = []
    await ctx.plugin({
      name: 'prompt',
      apply: (child: Context) =>
        void child.provide('systemPrompt', {
          tools: () => undefined,
          section: (each: never) => sections.push(each),
        } as never),
    })
    await expect.poll(() => sections.length).toBe(2)
    const sdk = (): string => sections.find((each) => each.name === 'tools:sdk')?.text({}) ?? ''
    expect(sdk).toThrow('dsh-tools: mode "code" requires a code runtime')
    const remove = ctx.provide('codeRuntime', { ...inProcessRuntime(), language: 'python' } as never)
    expect(sdk).toThrow('dsh-tools: no SDK renderer registered for runtime language "python" (known: "typescript")')
    await Promise.resolve(remove())
    provideRuntime(ctx)
    expect(sdk()).toContain('interface ToolArgsMap')
    expect(sections.find((each) => each.name === 'tools:code-only')?.text({})).toContain('`run_code`')
  })
})

describe('direct calls', () => {
  it('are refused in mode code before any policy, with the way out', async () => {
    const { ctx, tools, call } = await coding()
    tools.register(greet())
    const pre = vi.fn((_exec: unknown, next: () => unknown) => next())
    ctx.on('tools/pre-execute', pre as never)
    expect(failureOf(await call('greet', { name: 'Ada' }))).toMatchObject({
      code: 'UNKNOWN_TOOL',
      message:
        'unknown tool "greet": only `run_code` is callable directly — call `greet` from inside a `run_code` program instead',
    })
    expect(pre).not.toHaveBeenCalled()
  })

  it('go on in mode both, and run_code is unknown in mode native', async () => {
    const both = await coding({ mode: 'both' })
    both.tools.register(greet())
    expect(await both.call('greet', { name: 'Ada' })).toMatchObject({ value: 'Hello, Ada!' })
    const native = await harness()
    expect(failureOf(await native.call('run_code', { code: '1', description: 'x' })).code).toBe('UNKNOWN_TOOL')
  })
})

describe('programs', () => {
  it('get canonical values, print, and return', async () => {
    const { tools, program } = await coding()
    tools.register(bodyTool('rows', () => [{ id: 1 }, { id: 2 }]))
    const result = await program('const rows = await tools.rows({}); print(rows.length); return rows[1]')
    expect(result).toMatchObject({
      value: { logs: ['2'], result: { id: 2 } },
      content: [{ text: '2\n{\n  "id": 2\n}' }],
    })
  })

  it('get one message for a denial, a failure and a block alike, and may go on', async () => {
    const { ctx, tools, program } = await coding()
    for (const name of ['denied', 'fails', 'blocked']) {
      tools.register(
        bodyTool(name, () => {
          if (name === 'fails') throw new Error('it broke')
          return 1
        }),
      )
    }
    ctx.on('tools/pre-execute', (exec, next) =>
      exec.name === 'denied' ? { kind: 'deny', reason: 'not allowed' } : next(),
    )
    ctx.on('tools/post-execute', (exec, _result, next) =>
      exec.name === 'blocked' ? { kind: 'block', feedback: [{ type: 'text', text: 'held back' }] } : next(),
    )
    const code = `for (const name of ['denied', 'fails', 'blocked']) { try { await tools[name]({}) } catch (error) { print(error.message) } }`
    expect(await program(code)).toMatchObject({ value: { logs: ['not allowed', 'it broke', 'held back'] } })
  })

  it('that fail say how and what they had printed', async () => {
    const { program } = await coding()
    const error = failureOf(await program(`print('so far'); throw new Error('oh no')`))
    expect(error).toMatchObject({
      code: 'CODE_RUN_FAILED',
      message: 'code run failed (exception): oh no\nCaptured output:\nso far',
    })
  })

  it('never see run_code nor what their agent may not', async () => {
    const { ctx, tools, program } = await coding()
    const a = agent('a')
    tools.register(greet('one'))
    tools.register(greet('two'))
    createScope(ctx, a).ctx.tools.restrict({ deny: ['two'] })
    expect(await program('return Object.keys(tools)', { agent: a })).toMatchObject({ value: { result: ['one'] } })
    expect(await program('return Object.keys(tools)')).toMatchObject({ value: { result: ['one', 'two'] } })
  })

  it('overlap safe calls up to the limit and serialise exclusive ones in order', async () => {
    const { tools, program } = await coding({ maxParallelSubCalls: 3 })
    let [running, most] = [0, 0]
    const log: string[] = []
    const body = async (args: never): Promise<string> => {
      most = Math.max(most, ++running)
      log.push(String((args as { n: number }).n))
      await new Promise((resolve) => setImmediate(resolve))
      running--
      return ''
    }
    tools.register(bodyTool('safe', body, { isConcurrencySafe: () => true }))
    tools.register(bodyTool('alone', body))
    await program('await Promise.all([1,2,3,4,5,6].map((n) => tools.safe({ n })))')
    expect(most).toBe(3)
    most = 0
    log.length = 0
    await program('await Promise.all([1,2,3].map((n) => tools.alone({ n })))')
    expect([most, log]).toEqual([1, ['1', '2', '3']])
  })

  it('leave no call unsettled behind: what was started ends before the result, what was not is abandoned without a trace', async () => {
    const { tools, program, events } = await coding()
    const seen: string[] = []
    tools.register(
      bodyTool('slow', (args, exec) => {
        seen.push((args as { n: string }).n)
        return new Promise((_resolve, reject) =>
          exec.signal.addEventListener('abort', () => reject(exec.signal.reason as Error)),
        )
      }),
    )
    const result = await program(
      `tools.slow({ n: 'first' }).catch(() => {}); tools.slow({ n: 'second' }).catch(() => {}); return 'gone'`,
    )
    expect(result).toMatchObject({ value: { result: 'gone' } })
    expect(seen).toEqual(['first'])
    expect(events.map(({ kind, callId }) => `${kind} ${callId}`)).toEqual(['start call-1:code:1', 'end call-1:code:1'])
    expect(events[1]).toMatchObject({ isError: true, error: { code: 'ABORTED' } })
  })

  it('end with the call that runs them', async () => {
    const { tools, program } = await coding()
    const caller = new AbortController()
    tools.register(
      bodyTool('slow', (_args, exec) => {
        queueMicrotask(() => caller.abort())
        return new Promise((_resolve, reject) =>
          exec.signal.addEventListener('abort', () => reject(exec.signal.reason as Error)),
        )
      }),
    )
    const error = failureOf(await program('return await tools.slow({})', { signal: caller.signal }))
    expect(['ABORTED', 'CODE_RUN_FAILED']).toContain(error.code)
  })

  it('carry contexts and the end of a turn out to their own result', async () => {
    const { tools, program } = await coding()
    tools.register(
      bodyTool('notes', (_args, exec) => {
        exec.deferContext({ content: 'remember', source: { kind: 'plugin', plugin: 'p' } })
        exec.concludeTurn()
        return 1
      }),
    )
    expect(await program('await tools.notes({})')).toMatchObject({
      concludesTurn: true,
      additionalContexts: [{ content: 'remember', source: { kind: 'plugin', plugin: 'p' } }],
    })
  })

  it('carry their pictures out beside the result, and the value into the program', async () => {
    const { events, tools, program } = await coding()
    const image = { type: 'image', mediaType: 'image/png', data: 'AAAA' } as const
    tools.register({
      ...bodyTool('look', () => 'value'),
      output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: String(value) }, image] },
    })
    const result = await program('return await tools.look({})', { callId: 'c1' })
    expect(contentText(result.content)).toContain('value')
    expect(result.additionalContexts).toEqual([
      {
        source: { kind: 'tool', callId: 'c1' },
        content: [{ type: 'text', text: 'From look, called by the program in c1:' }, image],
      },
    ])
    expect(events.at(-1)).toMatchObject({ kind: 'end', content: [{ text: 'value' }, { text: '[image/png, 3 bytes]' }] })
  })

  it('print live', async () => {
    const { program } = await coding()
    const onReport = vi.fn()
    await program(`print('one'); print('two')`, { onReport })
    expect(onReport.mock.calls.map(([progress]) => progress)).toEqual([
      { kind: 'text', text: 'one\n', stream: 'stdout' },
      { kind: 'text', text: 'two\n', stream: 'stdout' },
    ])
  })

  it('are exclusive, and their arguments are checked', async () => {
    const { tools, call } = await coding()
    expect(
      tools.executionMode({ name: 'run_code', arguments: { code: '1', description: 'x' }, agent: undefined }).kind,
    ).toBe('exclusive')
    expect(failureOf(await call('run_code', { code: '1', description: '  ' })).code).toBe('INVALID_ARGS')
  })

  it('carry the token of their own call as parent, so that nested calls have no cards', async () => {
    const { ctx, tools, program } = await coding()
    const parents = new Map<string, unknown>()
    ctx.on('tools/pre-execute', (exec, next) => {
      parents.set(exec.name, exec.parent ?? exec.token)
      return next()
    })
    tools.register(greet())
    await program(`await tools.greet({ name: 'Ada' })`)
    expect(parents.get('greet')).toBe(parents.get('run_code'))
  })
})

it('schedules a hundred thousand waiting calls without slowing down', async () => {
  const scheduler = new CallScheduler<number>({ maxParallelCalls: 10 })
  let committed = 0
  const calls = Array.from({ length: 100_000 }, (_, n) =>
    scheduler.submit({
      mode: () => ({ kind: 'parallel' }),
      run: async () => n,
      unstarted: () => -1,
      commit: () => void committed++,
    }),
  )
  const outcomes = await Promise.all(calls)
  expect(committed).toBe(100_000)
  expect(outcomes.at(-1)).toBe(99_999)
}, 20_000)
