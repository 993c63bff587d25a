// The authoring reference as tests: one a sentence, on the real registry. Each title names its sentence.
//
// Advice, and sentences that other packages keep, have no test here:
// - "do not mutate its schema or replace callbacks after registration": a request to authors.
// - "Throw for infrastructure failures" as such: which failure is one is the author's choice; both sides are tested below.
// - "The core persists it on tool/result": the agent package writes the log.
// - "it is not a wake-up (an idle agent stays idle)": the agent package.
// - "Prefer not to build deployment policy into the tool"; a sandbox "inside the tool's executor": a matter of design.
// - "Design output.schema as a useful programmatic API", "the producer's truthful acquisition bounds": advice.
// - "write uses oldText: null", "the UI adapter supplies session context", "the adapter adds any fallback framing": diff cards and hosts.
// - "tools never import a UI or transport type": a rule for the tool packages.
// - "programs can inspect only its name, toolName and message": the contract suite of code runtimes.
import { contentText } from '@deepseek-ai/dsh-tools'
import { setTimeout as delay } from 'node:timers/promises'
import { Context, createScope, type Scope } from '@deepseek-ai/cordis'
import { describe, expect, it, vi } from 'vitest'
import ToolRegistry, {
  JsonSchemaError,
  ToolArgsError,
  defineTool,
  snapshotJson,
  type ContentBlock,
  type ContextMessage,
  type Json,
  type JsonSchema,
  type PresentedResult,
  type SubCallEvent,
  type ToolAgent,
  type ToolBodyExecution,
  type ToolDefinition,
  type ToolExecution,
  type ToolExecutionResult,
  type ToolMode,
  type ToolRegistryConfig,
} from '../src/index.ts'
import { OwnError, bodyTool, failureOf, greet, harness, waitingBody, type Harness } from './fixtures.ts'
import { inProcessRuntime, provideRuntime } from './program-runner.ts'

const text = (value: string): ContentBlock[] => [{ type: 'text', text: value }]
const note = (content: string): ContextMessage => ({ content, source: { kind: 'plugin', plugin: 'test' } })
const agentNamed = (id: string): ToolAgent => ({ id, inject: () => undefined })
const pass = (_exec: unknown, next: () => unknown): unknown => next()
const passResult = (_exec: unknown, _result: unknown, next: () => unknown): unknown => next()

interface Scoped extends Harness {
  readonly agent: ToolAgent
  readonly scope: Scope
}

async function scoped(): Promise<Scoped> {
  const made = await harness()
  const agent = agentNamed('one')
  return { ...made, agent, scope: createScope(made.ctx, agent) }
}

function boom(): never {
  throw new Error('boom')
}

describe('Rules of the execute() contract: "Args are validated for you"', () => {
  const strict = (seen: unknown[]): ToolDefinition =>
    defineTool({
      name: 'strict',
      description: 'Takes one of everything.',
      parameters: {
        path: { type: 'string', required: true },
        mode: { type: 'string', enum: ['fast', 'slow'] },
        version: { type: 'integer', const: 2 },
        target: { oneOf: [{ type: 'integer' }, { type: 'string' }] },
        options: {
          type: 'object',
          additionalProperties: false,
          properties: { deep: { type: 'array', items: { type: 'boolean' }, required: true } },
        },
      },
      output: { schema: { type: 'null' }, render: () => [] },
      execute: (args) => (seen.push(args), null),
    })

  it.each([
    ['types', { path: 7 }, '"path" must be a string'],
    ['required keys', {}, 'missing required property "path"'],
    ['literal constraints (enum)', { path: '', mode: 'medium' }, '"mode" must be one of'],
    ['literal constraints (const)', { path: '', version: 3 }, '"version" must be 2'],
    ['exact-one unions', { path: '', target: true }, '"target"'],
    ['nested values', { path: '', options: { deep: [true, 'no'] } }, '"options.deep[1]" must be a boolean'],
  ])('validates %s before execute runs', async (_what, args, violation) => {
    const { tools, call } = await harness()
    const seen: unknown[] = []
    tools.register(strict(seen))
    const error = failureOf(await call('strict', args))
    expect(error.code).toBe('INVALID_ARGS')
    expect(error.violations?.join('\n')).toContain(violation)
    expect(seen).toEqual([])
  })

  it('gives execute arguments that match what was declared', async () => {
    const { tools, call } = await harness()
    const seen: unknown[] = []
    tools.register(strict(seen))
    const args = { path: 'a', mode: 'fast', version: 2, target: 'x', options: { deep: [true] } }
    expect((await call('strict', args)).isError).toBe(false)
    expect(seen).toEqual([args])
  })

  it('demands that explicit object nodes declare additionalProperties', () => {
    const define = (node: object): unknown =>
      defineTool({
        name: 'open',
        description: '',
        parameters: { options: node as never },
        output: { schema: { type: 'null' }, render: () => [] },
        execute: () => null,
      })
    expect(() => define({ type: 'object' })).toThrow(JsonSchemaError)
    expect(() => define({ type: 'object' })).toThrow(
      'parameters.options.additionalProperties must be explicitly true or false',
    )
    for (const additionalProperties of [true, false]) {
      expect(() => define({ type: 'object', additionalProperties })).not.toThrow()
    }
  })

  it('keeps the implicit parameter root open', async () => {
    const { tools, call } = await harness()
    const seen: unknown[] = []
    tools.register(strict(seen))
    expect((await call('strict', { path: 'a', unheardOf: 1 })).isError).toBe(false)
    expect(seen).toEqual([{ path: 'a', unheardOf: 1 }])
  })

  it('leaves constraints that the DSL cannot express to hand checks', async () => {
    const { tools, call } = await harness()
    tools.register(
      defineTool({
        name: 'range',
        description: '',
        parameters: { from: { type: 'integer', required: true }, to: { type: 'integer', required: true } },
        output: { schema: { type: 'integer' }, render: () => [] },
        execute({ from, to }) {
          if (from > to) throw new Error('`from` must not be after `to`')
          return to - from
        },
      }),
    )
    expect(await call('range', { from: 1, to: 3 })).toMatchObject({ value: 2 })
    expect(failureOf(await call('range', { from: 3, to: 1 }))).toMatchObject({
      code: 'TOOL_FAILED',
      message: '`from` must not be after `to`',
    })
  })

  it('leaves raw JSON-Schema tools their own input validation', async () => {
    const { tools, call } = await harness()
    const parameters: JsonSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
    tools.register(bodyTool('raw', (args) => args, { parameters }))
    expect(await call('raw', { n: 'not a number' })).toMatchObject({ value: { n: 'not a number' } })
  })
})

describe('Rules of the execute() contract: "Registration borrows your readonly definition"', () => {
  it('is no serialization boundary: the registry holds the very object', async () => {
    const { tools } = await harness()
    const definition = Object.freeze(greet())
    tools.register(definition)
    expect(tools.get('greet')).toBe(definition)
  })

  it('materializes only the explicit model-facing projection in schemas()', async () => {
    const { tools } = await harness()
    const more = { timeoutMs: 5, maxResultBytes: 9, isConcurrencySafe: () => true, presentCall: () => undefined }
    tools.register(bodyTool('t', () => 1, { ...more, secret: 'mine' } as Partial<ToolDefinition>))
    expect(tools.schemas()).toEqual([{ name: 't', description: 'Runs a body.', parameters: { type: 'object' } }])
  })

  it('hot-swaps by disposing the owning effect and registering the replacement', async () => {
    const { tools, call } = await harness()
    const dispose = tools.register(bodyTool('t', () => 'old'))
    dispose()
    tools.register(bodyTool('t', () => 'new'))
    expect(await call('t')).toMatchObject({ value: 'new' })
  })

  it("leaves mutable state in the callback's closure ordinary plugin state", async () => {
    const { tools, call } = await harness()
    let calls = 0
    tools.register(bodyTool('count', () => ++calls))
    await call('count')
    expect(await call('count')).toMatchObject({ value: 2 })
  })
})

describe('Rules of the execute() contract: "Execution identity is protected"', () => {
  it('materializes arguments as detached lossless JSON, frozen before policy starts', async () => {
    const { ctx, tools, call } = await harness()
    const given = { list: [{ n: 1 }] }
    let atPolicy: Json | undefined
    ctx.on('tools/pre-execute', (exec, next) => {
      atPolicy = exec.arguments
      given.list.push({ n: 2 })
      return next()
    })
    tools.register(bodyTool('echo', (args) => args))
    expect(await call('echo', given)).toMatchObject({ value: { list: [{ n: 1 }] } })
    const { list } = atPolicy as { list: readonly object[] }
    expect([atPolicy, list, list[0]].every((each) => Object.isFrozen(each))).toBe(true)
  })

  it('assigns an opaque exec.token, one a call', async () => {
    const { ctx, tools, call } = await harness()
    const tokens = new Set<unknown>()
    ctx.on('tools/result', (exec) => void tokens.add(exec.token))
    tools.register(bodyTool('t', () => 1))
    await call('t', {}, { callId: 'same' })
    await call('t', {}, { callId: 'same' })
    expect(tokens.size).toBe(2)
    for (const token of tokens) expect(typeof token).toBe('symbol')
  })

  it('keeps callId, name, arguments, agent, token, signal and parent immutable through dispatch', async () => {
    const { ctx, tools, call, agent } = await scoped()
    const fields = ['callId', 'name', 'arguments', 'agent', 'token', 'signal', 'parent'] as const
    const seen: Record<string, unknown>[] = []
    const attack = (exec: ToolExecution): void => {
      for (const field of fields) {
        expect(() => Object.assign(exec, { [field]: 'forged' })).toThrow(TypeError)
        expect(() => Object.defineProperty(exec, field, { value: 'forged' })).toThrow(TypeError)
      }
      seen.push(Object.fromEntries(fields.map((field) => [field, exec[field]])))
    }
    ctx.on('tools/pre-execute', (exec, next) => (attack(exec), next()))
    tools.guard((exec) => (attack(exec), undefined))
    ctx.on('tools/post-execute', (exec, _result, next) => (attack(exec), next()))
    ctx.on('tools/result', (exec) => attack(exec))
    tools.register(bodyTool('t', (_args, exec) => (attack(exec), 1)))
    const { signal } = new AbortController()
    const parent = Symbol('outer')
    expect((await call('t', { n: 1 }, { callId: 'id', agent, signal, parent })).isError).toBe(false)
    expect(seen).toHaveLength(5)
    const [first] = seen
    expect(first).toEqual({
      callId: 'id',
      name: 't',
      arguments: { n: 1 },
      agent,
      token: expect.any(Symbol) as symbol,
      signal,
      parent,
    })
    for (const each of seen) for (const field of fields) expect(each[field]).toBe(first?.[field])
  })

  it('makes parent identity-only, with no live outer execution', async () => {
    const { tools, call } = await harness()
    let inner: ToolBodyExecution | undefined
    tools.register(bodyTool('inner', (_args, exec) => ((inner = exec), 1)))
    tools.register(bodyTool('outer', async (_args, exec) => (await call('inner', {}, { parent: exec.token })).isError))
    expect(await call('outer')).toMatchObject({ value: false })
    expect(typeof inner?.parent).toBe('symbol')
  })

  it('treats args as readonly input: a body that writes to them fails and harms nobody', async () => {
    const { tools, call } = await harness()
    tools.register(
      bodyTool('writes', (args) => {
        ;(args as { n: number }).n = 2
        return 1
      }),
    )
    const given = { n: 1 }
    expect(failureOf(await call('writes', given)).name).toBe('TypeError')
    expect(given).toEqual({ n: 1 })
  })

  it('lets only an around-dispatch wrapper replace and restore exec.signal, to impose a deadline', async () => {
    const { ctx, tools, call } = await harness()
    const body = waitingBody()
    tools.register(bodyTool('slow', body.execute))
    const deadline = new AbortController()
    const signals: unknown[] = []
    ctx.on('tools/execute', async (exec, next) => {
      const before = exec.signal
      exec.signal = deadline.signal
      const result = await next()
      exec.signal = before
      signals.push(exec.signal)
      return result
    })
    const caller = new AbortController()
    const started = body.started()
    const running = call('slow', {}, { signal: caller.signal })
    await started
    deadline.abort(new OwnError('too slow'))
    expect(failureOf(await running)).toMatchObject({ code: 'OWN_CODE', message: 'too slow' })
    expect(signals).toEqual([caller.signal])
  })

  it('lets no wrapper remove the signal', async () => {
    const { ctx, tools, call } = await harness()
    tools.register(bodyTool('t', () => 1))
    const attempts: (() => unknown)[] = []
    ctx.on('tools/execute', (exec, next) => {
      attempts.push(
        () => ((exec as { signal: unknown }).signal = undefined),
        () => ((exec as { signal: unknown }).signal = null),
        () => ((exec as { signal: unknown }).signal = { aborted: false }),
      )
      for (const attempt of attempts) expect(attempt).toThrow(TypeError)
      Reflect.deleteProperty(exec, 'signal')
      expect(exec.signal).toBeInstanceOf(AbortSignal)
      return next()
    })
    expect(await call('t')).toMatchObject({ value: 1 })
  })
})

describe('Rules of the execute() contract: "Declare and return one canonical JSON value"', () => {
  it.each<[string, JsonSchema, Json]>([
    ['object', { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }, { id: 'x' }],
    ['array', { type: 'array', items: { type: 'integer' } }, [1, 2]],
    ['scalar', { type: 'boolean' }, false],
    ['null', { type: 'null' }, null],
  ])('takes output.schema with an %s root', async (_root, schema, value) => {
    const { tools, call } = await harness()
    tools.register(bodyTool('t', () => value, { output: { schema, render: () => [] } }))
    expect(await call('t')).toMatchObject({ isError: false, value })
  })

  it('snapshots the value, validates and freezes it, and passes it to output.render(args, value)', async () => {
    const { tools, call } = await harness()
    const mine = { rows: [{ id: 1 }] }
    const render = vi.fn((_args: unknown, _value: unknown) => text('rendered'))
    tools.register(bodyTool('t', () => mine, { output: { schema: { type: 'object' }, render } }))
    const result = await call('t', { q: 'x' })
    mine.rows.push({ id: 2 })
    if (result.isError) throw new Error('expected a success')
    expect(result.value).toEqual({ rows: [{ id: 1 }] })
    expect(result.value).not.toBe(mine)
    const [args, value] = render.mock.calls[0] ?? []
    expect(args).toEqual({ q: 'x' })
    expect(value).toBe(result.value)
    expect(() => (value as { rows: unknown[] }).rows.push(0)).toThrow(TypeError)
    expect(result.content).toEqual(text('rendered'))
  })

  it('refuses content blocks from a body that declared a value', async () => {
    const { tools, call } = await harness()
    const output = { schema: { type: 'string' as const }, render: (_args: never, value: never) => text(value) }
    tools.register(bodyTool('t', () => text('a block'), { output }))
    expect(failureOf(await call('t')).code).toBe('INVALID_TOOL_OUTPUT')
  })
})

describe('Rules of the execute() contract: "Throwing or returning an invalid value means isError"', () => {
  it('catches throws, now or later', async () => {
    const { tools, call } = await harness()
    tools.register(bodyTool('now', boom))
    tools.register(bodyTool('later', () => delay(1).then(boom)))
    for (const name of ['now', 'later']) {
      expect(failureOf(await call(name))).toMatchObject({ code: 'TOOL_FAILED', message: 'boom' })
    }
  })

  it.each<[string, () => unknown, Partial<ToolDefinition['output']>]>([
    ['schema', () => 1, { schema: { type: 'string' } }],
    ['renderer', () => 'x', { render: boom }],
    ['metadata-projector', () => 'x', { presentationMeta: boom }],
    ['lossless-JSON', () => new Map(), {}],
  ])('contains %s failures before observers run', async (_what, body, part) => {
    const { ctx, tools, call } = await harness()
    const observed: ToolExecutionResult[] = []
    ctx.on('tools/post-execute', (_exec, result, next) => (observed.push(result), next()))
    ctx.on('tools/result', (_exec, result) => void observed.push(result))
    tools.register(bodyTool('t', body, { output: { schema: {}, render: () => [], ...part } }))
    const result = await call('t')
    expect(failureOf(result).code).toBe('INVALID_TOOL_OUTPUT')
    expect(observed).toHaveLength(2)
    for (const each of observed) expect(failureOf(each).code).toBe('INVALID_TOOL_OUTPUT')
  })

  it('takes a domain outcome in the canonical value for a success, whatever its renderer explains', async () => {
    const { tools, call } = await harness()
    tools.register(
      defineTool({
        name: 'run',
        description: '',
        parameters: {},
        output: {
          schema: {
            type: 'object',
            additionalProperties: false,
            properties: { exitCode: { type: 'integer', required: true } },
          },
          render: (_args, { exitCode }) =>
            text(exitCode === 0 ? 'ok' : `the command failed with exit code ${exitCode}`),
        },
        execute: () => ({ exitCode: 3 }),
      }),
    )
    expect(await call('run')).toMatchObject({
      isError: false,
      value: { exitCode: 3 },
      content: text('the command failed with exit code 3'),
    })
  })
})

describe('Rules of the execute() contract: "Honor exec.signal"', () => {
  it('cancels in-flight work when it fires', async () => {
    const { tools, call } = await harness()
    const caller = new AbortController()
    const work = vi.fn((_args: unknown, { signal }: ToolBodyExecution) => delay(3_600_000, 'never', { signal }))
    tools.register(bodyTool('sleeps', work))
    const running = call('sleeps', {}, { signal: caller.signal })
    await expect.poll(() => work.mock.calls.length).toBe(1)
    caller.abort()
    expect(failureOf(await running).code).toBe('ABORTED')
    await expect(work.mock.results[0]?.value).rejects.toThrow('aborted')
  })
})

describe('Rules of the execute() contract: "Project durable card data with presentationMeta"', () => {
  const counting = (seen: unknown[] = []): ToolDefinition =>
    defineTool({
      name: 'count',
      description: '',
      parameters: { word: { type: 'string', required: true } },
      output: {
        schema: { type: 'array', items: { type: 'integer' } },
        render: () => text('counted'),
        presentationMeta: (args, value) => (seen.push(args, value), { word: args.word, total: value.length }),
      },
      execute: () => [1, 2, 3],
      presentResult: (args, result) => {
        const { total } = result.meta as unknown as { total: number }
        return { card: 'generic', title: `${args.word}: ${total}` }
      },
    })

  it('derives replayable JSON from the same canonical value', async () => {
    const { tools, call } = await harness()
    const seen: unknown[] = []
    tools.register(counting(seen))
    const result = await call('count', { word: 'a' })
    if (result.isError) throw new Error('expected a success')
    expect(result.meta).toEqual({ word: 'a', total: 3 })
    expect(seen[1]).toBe(result.value)
    expect(JSON.parse(JSON.stringify(result.meta))).toEqual(result.meta)
  })

  it('hands it to presentResult, so that a replayed card needs no canonical value', async () => {
    const { tools, call } = await harness()
    tools.register(counting())
    const { content, isError, meta } = await call('count', { word: 'a' })
    const logged = JSON.parse(JSON.stringify({ content, isError, meta })) as PresentedResult
    expect(tools.get('count')?.presentResult?.({ word: 'a' } as never, logged)).toEqual({
      card: 'generic',
      title: 'a: 3',
    })
  })

  it('skips the projector for nested dispatches, which have no cards', async () => {
    const { tools, call } = await harness()
    const seen: unknown[] = []
    tools.register(counting(seen))
    expect(await call('count', { word: 'a' }, { parent: Symbol('outer') })).not.toHaveProperty('meta')
    expect(seen).toEqual([])
  })
})

describe('Rules of the execute() contract: "Use exec.agent for async notifications"', () => {
  it('gives the body the calling agent, whose inject() works after the call', async () => {
    const { tools, call } = await harness()
    const injected: ContextMessage[] = []
    const agent: ToolAgent = { id: 'a', inject: (message) => void injected.push(message) }
    let notify = (): void => undefined
    tools.register(
      bodyTool('starts', (_args, exec) => {
        notify = () => exec.agent?.inject(note('done'))
        return 'started'
      }),
    )
    expect(await call('starts', {}, { agent })).toMatchObject({ value: 'started' })
    notify()
    expect(injected).toEqual([note('done')])
  })

  it('lets a body guard against a disposed agent with try/catch, and contains one that does not', async () => {
    const { tools, call } = await harness()
    const agent: ToolAgent = { id: 'gone', inject: () => boom() }
    const inject = (exec: ToolBodyExecution): void => exec.agent?.inject(note('x'))
    tools.register(bodyTool('careless', (_args, exec) => (inject(exec), 'unreached')))
    tools.register(
      bodyTool('careful', (_args, exec) => {
        try {
          inject(exec)
        } catch {
          return 'nobody to tell' // the agent is gone
        }
        return 'told'
      }),
    )
    expect(await call('careful', {}, { agent })).toMatchObject({ value: 'nobody to tell' })
    expect(failureOf(await call('careless', {}, { agent }))).toMatchObject({ code: 'TOOL_FAILED', message: 'boom' })
  })
})

describe('Execution policy and observation', () => {
  it.each([
    ['allow', { kind: 'allow' }, undefined],
    ['deny', { kind: 'deny', reason: 'no' }, 'DENIED'],
    ['ask', { kind: 'ask', reason: 'sure?' }, 'APPROVAL_UNAVAILABLE'],
  ] as const)('uses tools/pre-execute for extensible policy: %s', async (_kind, decision, code) => {
    const { ctx, tools, call } = await harness()
    const body = vi.fn(() => 1)
    tools.register(bodyTool('t', body))
    ctx.on('tools/pre-execute', pass as never)
    ctx.on('tools/pre-execute', () => decision)
    const result = await call('t')
    expect(result.isError ? result.error.code : undefined).toBe(code)
    expect(body).toHaveBeenCalledTimes(code === undefined ? 1 : 0)
  })

  it('makes ctx.tools.guard() a final monotonic deny that later listeners cannot undo', async () => {
    const { ctx, tools, call } = await harness()
    const body = vi.fn(() => 1)
    tools.register(bodyTool('t', body))
    tools.guard(() => 'guarded')
    tools.guard(() => undefined)
    ctx.on('tools/pre-execute', () => ({ kind: 'allow' }), { prepend: true })
    const around = vi.fn(() => ({ isError: false as const, value: 'forged', content: [] }))
    ctx.on('tools/execute', around)
    ctx.on('tools/post-execute', () => ({ kind: 'accept', content: text('looks fine') }))
    const result = await call('t')
    expect(failureOf(result)).toMatchObject({ code: 'GUARD_DENIED', message: 'guarded' })
    expect([body, around].map((each) => each.mock.calls.length)).toEqual([0, 0])
  })

  it('uses tools/execute to wrap dispatch with a deadline', async () => {
    const { ctx, tools, call } = await harness()
    tools.register(bodyTool('sleeps', (_args, { signal }) => delay(3_600_000, 'never', { signal })))
    ctx.on('tools/execute', async (exec, next) => {
      const before = exec.signal
      exec.signal = AbortSignal.timeout(5)
      try {
        return await next()
      } finally {
        exec.signal = before
      }
    })
    expect(failureOf(await call('sleeps')).code).toBe('ABORTED')
  })

  it('uses tools/execute to wrap dispatch with a retry', async () => {
    const { ctx, tools, call } = await harness()
    let runs = 0
    tools.register(bodyTool('flaky', () => (++runs < 3 ? boom() : runs)))
    ctx.on('tools/execute', async (_exec, next) => {
      let result = await next()
      while (result.isError) result = await next()
      return result
    })
    expect(await call('flaky')).toMatchObject({ value: 3 })
  })

  it('uses tools/execute to wrap dispatch with metrics collection', async () => {
    const { ctx, tools, call } = await harness()
    const metrics: [string, boolean][] = []
    tools.register(bodyTool('ok', () => 1))
    tools.register(bodyTool('bad', boom))
    ctx.on('tools/execute', async (exec, next) => {
      const result = await next()
      metrics.push([exec.name, result.isError])
      return result
    })
    await call('ok')
    await call('bad')
    expect(metrics).toEqual([
      ['ok', false],
      ['bad', true],
    ])
  })

  it('uses tools/post-execute to replace presentation content, leaving programmatic access to value intact', async () => {
    const { ctx, tools, call } = await harness()
    tools.register(bodyTool('t', () => ({ all: 'of it' })))
    ctx.on('tools/post-execute', () => ({ kind: 'accept', content: text('short') }))
    expect(await call('t')).toMatchObject({ value: { all: 'of it' }, content: text('short') })
  })

  it('uses tools/post-execute to replace the returned value, which is rendered anew', async () => {
    const { ctx, tools, call } = await harness()
    tools.register(greet())
    ctx.on('tools/post-execute', () => ({ kind: 'accept', value: 'Hello, ***!' }))
    const result = await call('greet', { name: 'Ada' })
    expect(result).toMatchObject({ value: 'Hello, ***!', content: text('Hello, ***!') })
  })

  it('uses tools/post-execute to block the result', async () => {
    const { ctx, tools, call } = await harness()
    tools.register(bodyTool('t', () => 'secret'))
    ctx.on('tools/post-execute', () => ({ kind: 'block', feedback: text('withheld') }))
    const result = await call('t')
    expect(failureOf(result).code).toBe('BLOCKED')
    expect(result.content).toEqual(text('withheld'))
  })

  it('uses tools/post-execute to attach model-facing context', async () => {
    const { ctx, tools, call } = await harness()
    tools.register(bodyTool('t', () => 1))
    ctx.on('tools/post-execute', () => ({ kind: 'accept', additionalContexts: [note('mind the gap')] }))
    expect(await call('t')).toMatchObject({ value: 1, additionalContexts: [note('mind the gap')] })
  })

  it('uses tools/result to observe the immutable normalized outcome', async () => {
    const { ctx, tools, call } = await harness()
    tools.register(bodyTool('t', () => ({ rows: [1] })))
    const attempts: (() => unknown)[] = []
    ctx.on('tools/result', (_exec, result) => {
      attempts.push(
        () => Object.assign(result, { isError: true }),
        () => (result.content as ContentBlock[]).push({ type: 'text', text: 'forged' }),
        () => Object.assign((result as unknown as { value: object }).value, { rows: [] }),
      )
      for (const attempt of attempts) expect(attempt).toThrow(TypeError)
    })
    expect(await call('t')).toMatchObject({ value: { rows: [1] }, content: text('{"rows":[1]}') })
    expect(attempts).toHaveLength(3)
  })

  it('keeps a secret when confidentiality policy blocks or replaces the value', async () => {
    const { ctx, tools, call } = await harness()
    const output = {
      schema: { type: 'string' as const },
      render: (_args: never, value: never) => text(value),
      presentationMeta: (_args: never, value: never) => ({ shown: value }),
    }
    tools.register(bodyTool('t', () => 'the secret', { output }))
    let decision: unknown = { kind: 'block', feedback: text('withheld') }
    const observed: string[] = []
    ctx.on('tools/post-execute', () => decision as never)
    ctx.on('tools/result', (_exec, result) => void observed.push(JSON.stringify(result)))
    await call('t')
    decision = { kind: 'accept', value: 'redacted' }
    await call('t')
    expect(observed).toHaveLength(2)
    for (const each of observed) expect(each).not.toContain('the secret')
    expect(observed[1]).toContain('"meta":{"shown":"redacted"}')
  })
})

interface Coding extends Harness {
  readonly program: (code: string) => Promise<ToolExecutionResult>
  readonly section: (name: string) => string
}

async function coding(config: ToolRegistryConfig = {}): Promise<Coding> {
  const ctx = new Context()
  await ctx.plugin(ToolRegistry, { mode: 'code', ...config })
  provideRuntime(ctx, inProcessRuntime())
  const sections: { name: string; text: (asking: object) => string }[] = []
  const prompt = { tools: () => undefined, section: (each: never) => sections.push(each) }
  await ctx.plugin({ name: 'prompt', apply: (child: Context) => void child.provide('systemPrompt', prompt as never) })
  await expect.poll(() => sections.length).toBe(2)
  const { tools } = ctx
  const call: Harness['call'] = (name, args = {}, input = {}) =>
    tools.execute({ callId: 'run', name, arguments: args, signal: new AbortController().signal, ...input })
  return {
    ctx,
    tools,
    call,
    program: (code) => call('run_code', { code, description: 'run a program' }),
    section: (name) => sections.find((each) => each.name === name)?.text({}) ?? '',
  }
}

describe('Code Mode reaches your tool for free', () => {
  it('makes every visible registered tool available as await tools.<name>(args), without extra integration', async () => {
    const { tools, program } = await coding()
    tools.register(greet())
    tools.register(greet('greet-too'))
    const code = `return [await tools.greet({ name: 'Ada' }), await tools['greet-too']({ name: 'Bob' })]`
    expect(await program(code)).toMatchObject({ value: { result: ['Hello, Ada!', 'Hello, Bob!'] } })
  })

  it('derives exact argument and canonical-return types in ToolArgsMap and ToolOutputMap from the same schemas', async () => {
    const { tools, section } = await coding()
    tools.register(
      defineTool({
        name: 'find',
        description: 'Finds.',
        parameters: {
          pattern: { type: 'string', required: true },
          mode: { type: 'string', enum: ['regex', 'glob'] },
        },
        output: {
          schema: {
            oneOf: [
              { type: 'null' },
              {
                type: 'object',
                additionalProperties: false,
                properties: { paths: { type: 'array', items: { type: 'string' }, required: true } },
              },
            ],
          },
          render: () => [],
        },
        execute: () => null,
      }),
    )
    const sdk = section('tools:sdk').replace(/\s+/g, ' ')
    expect(sdk).toContain(
      'interface ToolArgsMap { /** Finds. */ find: { pattern: string; mode?: "regex" | "glob"; }; }',
    )
    expect(sdk).toContain('interface ToolOutputMap { find: null | { paths: string[]; }; }')
  })

  it('re-enters the normal execution pipeline with each call', async () => {
    const { ctx, tools, program } = await coding()
    const stages: string[] = []
    const seen = (stage: string, exec: { name: string }): void => {
      if (exec.name === 'greet') stages.push(stage)
    }
    ctx.on('tools/pre-execute', (exec, next) => (seen('pre', exec), next()))
    tools.guard((exec) => (seen('guard', exec), undefined))
    ctx.on('tools/execute', (exec, next) => (seen('around', exec), next()))
    ctx.on('tools/post-execute', (exec, _result, next) => (seen('post', exec), next()))
    ctx.on('tools/result', (exec) => seen('result', exec))
    tools.register(greet())
    await program(`await tools.greet({ name: 'Ada' })`)
    expect(stages).toEqual(['pre', 'guard', 'around', 'post', 'result'])
  })

  it('resolves to the final canonical JSON value after policy, not to rendered Native content', async () => {
    const { ctx, tools, program } = await coding()
    const output = { schema: { type: 'integer' as const }, render: () => text('about forty') }
    tools.register(bodyTool('measure', () => 40, { output }))
    ctx.on('tools/post-execute', (exec, _result, next) =>
      exec.name === 'measure' ? { kind: 'accept', value: 41 } : next(),
    )
    expect(await program('return (await tools.measure({})) + 1')).toMatchObject({ value: { result: 42 } })
  })

  it('rejects a failed call with a human-readable message and no internal code', async () => {
    const { tools, program } = await coding()
    tools.register(
      bodyTool('fails', () => {
        throw new OwnError('the disk is full')
      }),
    )
    const code = `try { await tools.fails({}) } catch (error) { return [error.message, error.code === undefined] }`
    expect(await program(code)).toMatchObject({ value: { result: ['the disk is full', true] } })
  })

  it('returns handles and fields directly and allows scalar, array and null roots', async () => {
    const { tools, program } = await coding()
    tools.register(bodyTool('start', () => ({ kind: 'background', jobId: 'bash-1' })))
    tools.register(bodyTool('list', () => [1, 2, 3]))
    tools.register(bodyTool('find', () => null))
    tools.register(bodyTool('count', () => 7))
    const code = `
      const { jobId } = await tools.start({})
      return { jobId, last: (await tools.list({})).at(-1), none: (await tools.find({})) === null, n: await tools.count({}) }`
    expect(await program(code)).toMatchObject({ value: { result: { jobId: 'bash-1', last: 3, none: true, n: 7 } } })
  })

  it('keeps intermediate values execution-local, unpersisted, untruncated and without a byte cap', async () => {
    const { ctx, tools, program } = await coding({ maxProgramOutputBytes: 200 })
    const large = 'x'.repeat(2_000_000)
    const events: SubCallEvent[] = []
    ctx.on('tools/sub-call', (_exec, event) => void events.push(event))
    tools.register(bodyTool('large', () => large, { maxResultBytes: 100 }))
    const result = await program('return (await tools.large({})).length')
    expect(result).toMatchObject({ value: { logs: [], result: large.length } })
    expect(JSON.stringify([result, events]).length).toBeLessThan(5_000)
  })

  it('bounds the outer run_code logs and result alone, and puts them through model-facing policy', async () => {
    const { ctx, tools, program } = await coding({ maxProgramOutputBytes: 200 })
    tools.register(bodyTool('large', () => 'x'.repeat(10_000)))
    const spilled: number[] = []
    ctx.on('tools/post-execute', (exec, result, next) => {
      if (exec.name === 'run_code') spilled.push(contentText(result.content).length)
      return next()
    })
    const result = await program('const text = await tools.large({}); print(text); return text')
    expect(Buffer.byteLength(contentText(result.content))).toBeLessThanOrEqual(200)
    expect(spilled).toEqual([20_001])
  })
})

describe('Hard rules', () => {
  const terminal = (): ToolDefinition & { asked: unknown[][] } => {
    const asked: unknown[][] = []
    const definition = defineTool({
      name: 'run',
      description: '',
      parameters: { command: { type: 'string', required: true } },
      output: {
        schema: {
          type: 'object',
          additionalProperties: false,
          properties: { stdout: { type: 'string', required: true } },
        },
        render: (_args, value) => text(value.stdout),
        presentationMeta: (_args, value) => ({ stdout: value.stdout, exitCode: 0 }),
      },
      execute: () => ({ stdout: '\u001B[31mred\u001B[0m' }),
      presentCall: (...given: [{ command: string }]) => {
        asked.push(given)
        return { card: 'terminal', title: given[0].command }
      },
      presentResult: (...given: [{ command: string }, PresentedResult]) => {
        asked.push(given)
        const { stdout, exitCode } = given[1].meta as unknown as { stdout: string; exitCode: number }
        return { card: 'terminal', output: stdout, exitCode }
      },
    })
    return Object.assign(definition, { asked })
  }
  const args = { command: 'ls' } as never

  it('Purity: presenters get args and the logged result, and nothing of the session, the agent or the value', async () => {
    const { tools, call } = await harness()
    const definition = terminal()
    tools.register(definition)
    const { content, isError, meta } = await call('run', args)
    definition.presentCall?.(args)
    definition.presentResult?.(args, { content, isError, ...(meta === undefined ? {} : { meta }) })
    const [onCall, onResult] = definition.asked
    expect(onCall).toEqual([args])
    expect(onResult).toHaveLength(2)
    expect(Object.keys(onResult?.[1] as object)).toEqual(['content', 'isError', 'meta'])
  })

  it('Purity: live and on replay the same input gives the same view', async () => {
    const { tools, call } = await harness()
    const definition = terminal()
    tools.register(definition)
    const result = await call('run', args)
    const replayed = JSON.parse(JSON.stringify([args, result])) as [never, PresentedResult]
    expect(definition.presentCall?.(replayed[0])).toEqual(definition.presentCall?.(args))
    expect(definition.presentResult?.(...replayed)).toEqual(definition.presentResult?.(args, result as PresentedResult))
  })

  it('UI-only formatting stays out of the model result: execution never asks a presenter', async () => {
    const { tools, call } = await harness()
    const definition = terminal()
    tools.register(definition)
    const result = await call('run', args)
    expect(definition.asked).toEqual([])
    expect(result).toMatchObject({
      value: { stdout: '\u001B[31mred\u001B[0m' },
      content: text('\u001B[31mred\u001B[0m'),
    })
  })

  it('a terminal result view carries raw output', async () => {
    const { tools, call } = await harness()
    const definition = terminal()
    tools.register(definition)
    const result = await call('run', args)
    expect(definition.presentResult?.(args, result as PresentedResult)).toEqual({
      card: 'terminal',
      output: '\u001B[31mred\u001B[0m',
      exitCode: 0,
    })
  })

  it.each([
    ['an older shape', { cmd: 'ls' }],
    ['another type', { command: 7 }],
    ['no object', 'ls'],
    ['null', null],
    ['nothing', undefined],
  ])('defineTool soft-validates the display path: logged arguments of %s give undefined', (_what, logged) => {
    const definition = terminal()
    expect(definition.presentCall?.(logged as never)).toBeUndefined()
    expect(definition.presentResult?.(logged as never, { content: [], isError: false })).toBeUndefined()
    expect(definition.asked).toEqual([])
  })

  it('display never crashes a replay: a presenter that throws gives undefined', () => {
    const definition = terminal()
    expect(definition.presentResult?.(args, { content: [], isError: false })).toBeUndefined() // reads absent meta
    expect(definition.asked).toHaveLength(1)
  })
})

describe('The three gates of register()', () => {
  const faulty = (part: object): ToolDefinition =>
    ({ name: 'bad', description: '', parameters: { type: 'object' }, execute: () => null, ...part }) as never
  const thrownBy = (run: () => unknown): Error => {
    try {
      run()
    } catch (error) {
      return error as Error
    }
    throw new Error('expected a throw')
  }

  it.each<[string, object]>([
    ['undefined', {}],
    ['no object', { output: 'text' }],
    ['without render', { output: { schema: {} } }],
    ['with a presentationMeta that is no function', { output: { schema: {}, render: () => [], presentationMeta: {} } }],
  ])('first: output is not optional (%s)', async (_what, part) => {
    const { tools } = await harness()
    const error = thrownBy(() => tools.register(faulty(part)))
    expect(error).toBeInstanceOf(TypeError)
    expect(error.message).toBe('tool "bad" must declare output { schema, render, presentationMeta? }')
    expect(tools.get('bad')).toBeUndefined()
  })

  it('first: a render without a supported schema is not taken either', async () => {
    const { tools } = await harness()
    const error = thrownBy(() => tools.register(faulty({ output: { schema: { type: 'text' }, render: () => [] } })))
    expect(error).toBeInstanceOf(JsonSchemaError)
  })

  it.each([0, -5, Number.NaN, Number.POSITIVE_INFINITY])(
    'second: timeoutMs %s is refused twice, by type and text of each door',
    async (timeoutMs) => {
      const { tools } = await harness()
      const output = { schema: { type: 'null' } as const, render: () => [] }
      const registered = thrownBy(() => tools.register(faulty({ output, timeoutMs })))
      expect(registered).toBeInstanceOf(TypeError)
      expect(registered.message).toBe('tool "bad" timeoutMs must be a positive finite number')
      const defined = thrownBy(() =>
        defineTool({ name: 'bad', description: '', parameters: {}, output, timeoutMs, execute: () => null }),
      )
      expect(defined).not.toBeInstanceOf(TypeError)
      expect(defined.message).toBe('defineTool(bad): timeoutMs must be a positive finite number')
    },
  )

  it('second: timeoutMs has no default; unset, the field is absent', () => {
    expect(greet()).not.toHaveProperty('timeoutMs')
  })

  it.each(['native', 'code', 'both'] as const)(
    'third: run_code cannot be registered, shadowed or restricted in mode %s',
    async (mode) => {
      const ctx = new Context()
      await ctx.plugin(ToolRegistry, { mode })
      const { tools } = createScope(ctx, agentNamed('a')).ctx
      for (const registry of [ctx.tools, tools]) {
        expect(() => registry.register(greet('run_code'))).toThrow(
          'tool name "run_code" is reserved for the Code Mode presentation transport and cannot be registered or shadowed',
        )
      }
      expect(() => tools.restrict({ deny: ['run_code'] })).toThrow(
        'tools.restrict() cannot name reserved Code Mode presentation transport "run_code"',
      )
    },
  )

  it('asks in that order: output, its schema, timeoutMs, the name', async () => {
    const { tools } = await harness()
    const [name, timeoutMs] = ['run_code', -1]
    const message = (part: object): string => thrownBy(() => tools.register(faulty({ name, ...part }))).message
    const render = (): never[] => []
    expect(message({ timeoutMs, output: { schema: { type: 'text' } } })).toContain('must declare output')
    expect(message({ timeoutMs, output: { schema: { type: 'text' }, render } })).toContain('unsupported JSON schema')
    expect(message({ timeoutMs, output: { schema: {}, render } })).toContain('timeoutMs')
    expect(message({ output: { schema: {}, render } })).toContain('is reserved')
  })

  it('has the modes native (the default), code and both', async () => {
    const named = async (config: ToolRegistryConfig): Promise<string[]> => {
      const ctx = new Context()
      await ctx.plugin(ToolRegistry, config)
      ctx.tools.register(greet())
      return ctx.tools.schemas().map((schema) => schema.name)
    }
    expect(await named({})).toEqual(await named({ mode: 'native' }))
    expect(await named({})).toEqual(['greet'])
    expect(await named({ mode: 'code' })).toEqual(['run_code'])
    expect(await named({ mode: 'both' })).toEqual(['greet', 'run_code'])
  })
})

describe('One validate function, four callbacks: invalid arguments', () => {
  const bad = { name: 7 } as never
  const spies = {
    execute: vi.fn(() => 'x'),
    presentCall: vi.fn(() => ({ card: 'generic' as const, title: 'x' })),
    presentResult: vi.fn(() => ({ card: 'generic' as const, title: 'x' })),
    isConcurrencySafe: vi.fn(() => true),
  }
  const definition = defineTool({
    name: 'table',
    description: '',
    parameters: { name: { type: 'string', required: true } },
    output: { schema: { type: 'string' }, render: () => [] },
    ...spies,
  })

  it('execute: throws ToolArgsError(violations) and does not enter the body', async () => {
    const error: unknown = await (definition.execute(bad, undefined as never) as Promise<unknown>).catch(
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(ToolArgsError)
    expect(error).toMatchObject({ code: 'INVALID_ARGS', violations: ['"name" must be a string (got number 7)'] })
    expect(spies.execute).not.toHaveBeenCalled()
  })

  it('presentCall: returns undefined for the generic card', () => {
    expect(definition.presentCall?.(bad)).toBeUndefined()
    expect(spies.presentCall).not.toHaveBeenCalled()
  })

  it('presentResult: returns undefined for the generic card', () => {
    expect(definition.presentResult?.(bad, { content: [], isError: false })).toBeUndefined()
    expect(spies.presentResult).not.toHaveBeenCalled()
  })

  it('isConcurrencySafe: returns false', () => {
    expect(definition.isConcurrencySafe?.(bad)).toBe(false)
    expect(spies.isConcurrencySafe).not.toHaveBeenCalled()
  })
})

describe('Cancellation and what is more specific than it', () => {
  it('before the body is called is ABORTED_BEFORE_DISPATCH', async () => {
    const { tools, call } = await harness()
    const body = vi.fn(() => 1)
    tools.register(bodyTool('t', body))
    expect(failureOf(await call('t', {}, { signal: AbortSignal.abort() })).code).toBe('ABORTED_BEFORE_DISPATCH')
    expect(body).not.toHaveBeenCalled()
  })

  it('after it replaces a success by ABORTED', async () => {
    const { tools, call } = await harness()
    const caller = new AbortController()
    tools.register(bodyTool('t', async () => (caller.abort(), 1)))
    expect(failureOf(await call('t', {}, { signal: caller.signal })).code).toBe('ABORTED')
  })

  it.each<[string, string, (h: Harness, abort: () => void) => Partial<ToolDefinition>]>([
    [
      'a denial',
      'DENIED',
      ({ ctx }, abort) => {
        ctx.on('tools/pre-execute', () => (abort(), { kind: 'deny', reason: 'no' }))
        return {}
      },
    ],
    [
      'a wrapper failure',
      'POLICY_FAILED',
      ({ ctx }, abort) => {
        ctx.on('tools/execute', () => (abort(), boom()))
        return {}
      },
    ],
    [
      'a tool failure',
      'OWN_CODE',
      (_h, abort) => ({
        execute: () => {
          abort()
          throw new OwnError('mine')
        },
      }),
    ],
    [
      'a post-policy failure',
      'POLICY_FAILED',
      ({ ctx }, abort) => {
        ctx.on('tools/post-execute', () => (abort(), boom()))
        return {}
      },
    ],
    [
      'TOOL_TIMEOUT',
      'TOOL_TIMEOUT',
      (_h, abort) => ({
        timeoutMs: 2,
        execute: (_args, exec) =>
          new Promise((_resolve, reject) =>
            exec.signal.addEventListener('abort', () => (abort(), reject(exec.signal.reason as Error))),
          ),
      }),
    ],
  ])('is less specific than %s', async (_what, code, arrange) => {
    const made = await harness()
    const caller = new AbortController()
    made.tools.register(
      bodyTool(
        't',
        () => 1,
        arrange(made, () => caller.abort()),
      ),
    )
    expect(failureOf(await made.call('t', {}, { signal: caller.signal })).code).toBe(code)
    expect(caller.signal.aborted).toBe(true)
  })
})

describe('ctx.tools', () => {
  it('register: scoped tools shadow globals', async () => {
    const { tools, call, agent, scope } = await scoped()
    tools.register(bodyTool('t', () => 'global'))
    scope.ctx.tools.register(bodyTool('t', () => 'scoped'))
    expect(await call('t', {}, { agent })).toMatchObject({ value: 'scoped' })
    expect(await call('t')).toMatchObject({ value: 'global' })
  })

  it('register: duplicates within one layer fail', async () => {
    const { tools, scope } = await scoped()
    for (const registry of [tools, scope.ctx.tools]) {
      registry.register(greet())
      expect(() => registry.register(greet())).toThrow('tool "greet" is already registered')
    }
  })

  it('register: returns the exact disposer that unregisters the tool', async () => {
    const { tools, agent, scope } = await scoped()
    const [global, own] = [greet(), greet()]
    tools.register(global)
    const dispose = scope.ctx.tools.register(own)
    expect(tools.get('greet', agent)).toBe(own)
    dispose()
    expect(tools.get('greet', agent)).toBe(global)
    expect(tools.get('greet')).toBe(global)
  })

  it.each<[string, object, string]>([
    ['empty filters', {}, 'no-op'],
    ['unknown names', { allow: ['nobody'] }, 'unknown global tool(s) "nobody"'],
    ['scope-local names', { deny: ['local'] }, 'unknown global tool(s) "local"'],
    ['reserved transport names', { allow: ['run_code'] }, 'reserved Code Mode presentation transport'],
  ])('restrict: %s fail', async (_what, filter, message) => {
    const { tools, scope, agent } = await scoped()
    tools.register(greet())
    scope.ctx.tools.register(greet('local'))
    expect(() => scope.ctx.tools.restrict(filter)).toThrow(message)
    expect(tools.schemas(agent).map((schema) => schema.name)).toEqual(['greet', 'local'])
  })

  it('restrict: restrictions intersect, and each disposer lifts exactly its own', async () => {
    const { tools, scope, agent } = await scoped()
    for (const name of ['a', 'b', 'c']) tools.register(greet(name))
    const names = (): string[] => tools.schemas(agent).map((schema) => schema.name)
    const allow = scope.ctx.tools.restrict({ allow: ['a', 'b'] })
    const deny = scope.ctx.tools.restrict({ deny: ['b'] })
    expect(names()).toEqual(['a'])
    deny()
    expect(names()).toEqual(['a', 'b'])
    allow()
    expect(names()).toEqual(['a', 'b', 'c'])
  })

  it('restrict: scoped registrations remain visible', async () => {
    const { tools, scope, agent } = await scoped()
    tools.register(greet('a'))
    tools.register(greet('b'))
    scope.ctx.tools.register(greet('b'))
    scope.ctx.tools.restrict({ allow: ['a'] })
    expect(tools.schemas(agent).map((schema) => schema.name)).toEqual(['a', 'b'])
  })

  it('guard: runs after the tools/pre-execute waterfall, on what it allowed', async () => {
    const { ctx, tools, call } = await harness()
    tools.register(bodyTool('t', () => 1))
    const log: string[] = []
    tools.guard(() => void log.push('guard'))
    ctx.on('tools/pre-execute', async (_exec, next) => (log.push('pre'), next()))
    const off = ctx.on('tools/pre-execute', () => ({ kind: 'deny', reason: 'no' }))
    await call('t')
    expect(log).toEqual(['pre'])
    off()
    await call('t')
    expect(log).toEqual(['pre', 'pre', 'guard'])
  })

  it('guard: a plain-context guard applies globally; one of agent.ctx to that agent alone', async () => {
    const { ctx, tools, call, agent, scope } = await scoped()
    const other = agentNamed('other')
    createScope(ctx, other)
    tools.register(bodyTool('t', () => 1))
    const codes = async (): Promise<boolean[]> =>
      Promise.all([agent, other, undefined].map(async (each) => (await call('t', {}, { agent: each })).isError))
    const undo = scope.ctx.tools.guard(() => 'mine')
    expect(await codes()).toEqual([true, false, false])
    undo()
    tools.guard(() => 'everybody')
    expect(await codes()).toEqual([true, true, true])
  })

  it('guard: any may deny, none can force-allow what another denied', async () => {
    const { tools, call } = await harness()
    tools.register(bodyTool('t', () => 1))
    const allowing = vi.fn(() => undefined)
    tools.guard(allowing)
    tools.guard(() => 'denied')
    tools.guard(allowing)
    expect(failureOf(await call('t'))).toMatchObject({ code: 'GUARD_DENIED', message: 'denied' })
    expect(allowing).toHaveBeenCalledTimes(1)
  })

  it('guard: returns the exact disposer, also for a function that is registered twice', async () => {
    const { tools, call } = await harness()
    tools.register(bodyTool('t', () => 1))
    const deny = (): string => 'denied'
    const [first, second] = [tools.guard(deny), tools.guard(deny)]
    first()
    first()
    expect((await call('t')).isError).toBe(true)
    second()
    expect((await call('t')).isError).toBe(false)
  })

  it('get: resolves as one scope sees it; a restricted-away global reads as absent; no scope is the global view', async () => {
    const { tools, agent, scope } = await scoped()
    const [shown, hidden, own] = [greet('shown'), greet('hidden'), greet('own')]
    tools.register(shown)
    tools.register(hidden)
    scope.ctx.tools.register(own)
    scope.ctx.tools.restrict({ deny: ['hidden'] })
    const get = (name: string): unknown[] => [tools.get(name, agent), tools.get(name)]
    expect(get('shown')).toEqual([shown, shown])
    expect(get('hidden')).toEqual([undefined, hidden])
    expect(get('own')).toEqual([own, undefined])
  })

  it('get: presenters that pass the calling agent get the definition that actually executed', async () => {
    const { tools, call, agent, scope } = await scoped()
    tools.register(greet())
    const own = bodyTool('greet', () => 'mine')
    scope.ctx.tools.register(own)
    expect(await call('greet', {}, { agent })).toMatchObject({ value: 'mine' })
    expect(tools.get('greet', agent)).toBe(own)
  })

  it('schemas: one deep-cloned schema per visible tool, without callbacks', async () => {
    const { tools } = await harness()
    const definition = greet()
    tools.register(definition)
    const [first] = tools.schemas()
    expect(Object.keys(first ?? {})).toEqual(['name', 'description', 'parameters'])
    Object.assign(first?.parameters.properties?.name ?? {}, { type: 'integer' })
    first?.parameters.required?.push('forged')
    expect(tools.schemas()[0]?.parameters).toEqual(definition.parameters)
    expect(definition.parameters.required).toEqual(['name'])
  })

  it.each<[string, string, unknown]>([
    ['an exact true', 'parallel', () => true],
    ['a truthy value', 'exclusive', () => 'yes'],
    ['a promise of true', 'exclusive', async () => true],
    ['a throw', 'exclusive', boom],
    ['no declaration', 'exclusive', undefined],
  ])('executionMode: %s is %s', async (_what, kind, isConcurrencySafe) => {
    const { tools } = await harness()
    tools.register(bodyTool('t', () => 1, { isConcurrencySafe } as Partial<ToolDefinition>))
    expect(tools.executionMode({ name: 't', arguments: {}, agent: undefined })).toEqual({ kind })
  })

  it('executionMode: unknown, hidden and invalid calls are exclusive', async () => {
    const { tools, scope, agent } = await scoped()
    tools.register({ ...greet(), isConcurrencySafe: () => true })
    tools.register(
      defineTool({
        name: 'safe',
        description: '',
        parameters: { n: { type: 'integer', required: true } },
        output: { schema: { type: 'null' }, render: () => [] },
        isConcurrencySafe: () => true,
        execute: () => null,
      }),
    )
    scope.ctx.tools.restrict({ deny: ['greet'] })
    const kind = (name: string, args: unknown): string => tools.executionMode({ name, arguments: args, agent }).kind
    expect([kind('nobody', {}), kind('greet', {}), kind('safe', {}), kind('safe', { n: 1 })]).toEqual([
      'exclusive',
      'exclusive',
      'exclusive',
      'parallel',
    ])
  })

  it('execute: assigns the correlation token before policy begins, the same through every stage', async () => {
    const { ctx, tools, call } = await harness()
    const tokens: unknown[] = []
    ctx.on('tools/pre-execute', (exec, next) => (tokens.push(exec.token), next()))
    tools.guard((exec) => void tokens.push(exec.token))
    ctx.on('tools/execute', (exec, next) => (tokens.push(exec.token), next()))
    ctx.on('tools/post-execute', (exec, _result, next) => (tokens.push(exec.token), next()))
    ctx.on('tools/result', (exec) => void tokens.push(exec.token))
    tools.register(bodyTool('t', (_args, exec) => (tokens.push(exec.token), 1)))
    await call('t')
    expect(tokens).toHaveLength(6)
    expect(new Set(tokens).size).toBe(1)
  })

  it('execute: tool and listener failures resolve as materialized error results', async () => {
    const { ctx, tools, call } = await harness()
    tools.register(bodyTool('bad', boom))
    tools.register(bodyTool('ok', () => 1))
    expect(failureOf(await call('bad'))).toMatchObject({ code: 'TOOL_FAILED', message: 'boom' })
    for (const event of ['tools/pre-execute', 'tools/execute', 'tools/post-execute'] as const) {
      const off = ctx.on(event, boom)
      const result = await call('ok')
      expect(failureOf(result), event).toMatchObject({ code: 'POLICY_FAILED', message: 'boom' })
      expect(() => snapshotJson(result), event).not.toThrow()
      off()
    }
  })

  it('execute: an invisible tool reports UNKNOWN_TOOL', async () => {
    const { tools, call, agent, scope } = await scoped()
    tools.register(greet())
    scope.ctx.tools.restrict({ deny: ['greet'] })
    expect(failureOf(await call('greet', { name: 'Ada' }, { agent })).code).toBe('UNKNOWN_TOOL')
    expect(failureOf(await call('nobody')).code).toBe('UNKNOWN_TOOL')
  })

  it('execute: returns the same lossless, frozen snapshot that final observers receive', async () => {
    const { ctx, tools, call } = await harness()
    const observed: ToolExecutionResult[] = []
    ctx.on('tools/result', (_exec, result) => void observed.push(result))
    ctx.on('tools/post-execute', passResult as never)
    tools.register(bodyTool('ok', () => ({ deep: [1] })))
    tools.register(bodyTool('bad', boom))
    const results = [await call('ok'), await call('bad'), await call('nobody'), await call('ok', 1n)]
    expect(observed).toHaveLength(4)
    for (const [index, result] of results.entries()) {
      expect(observed[index]).toBe(result)
      expect(() => snapshotJson(result)).not.toThrow()
      expect(Object.isFrozen(result)).toBe(true)
    }
  })

  it.each<ToolMode>(['native', 'code', 'both'])(
    'has one visibility resolver for presentation, lookup and dispatch (mode %s)',
    async (mode) => {
      const { ctx, tools, call, agent, scope } = await scoped()
      provideRuntime(ctx)
      for (const name of ['shown', 'hidden']) tools.register(bodyTool(name, () => name))
      scope.ctx.tools.restrict({ deny: ['hidden'] })
      scope.ctx.tools.presentAs(mode)
      const parent = Symbol('program')
      const reached = async (name: string): Promise<boolean> => !(await call(name, {}, { agent, parent })).isError
      const code = 'return Object.keys(tools)'
      const run = await call('run_code', { code, description: 'list' }, { agent })
      expect(run.isError ? [] : (run.value as { result: string[] }).result).toEqual(mode === 'native' ? [] : ['shown'])
      for (const [name, visible] of [
        ['shown', true],
        ['hidden', false],
      ] as const) {
        expect(tools.get(name, agent) !== undefined).toBe(visible)
        expect(await reached(name)).toBe(visible)
        expect(tools.schemas(agent).some((schema) => schema.name === name)).toBe(visible && mode !== 'code')
      }
    },
  )
})
