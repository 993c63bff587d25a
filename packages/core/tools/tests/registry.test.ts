import { Context, createScope, disposeAndJoin } from '@deepseek-ai/cordis'
import { describe, expect, it } from 'vitest'
import ToolRegistry, { JsonSchemaError, defineTool, type ToolDefinition } from '../src/index.ts'
import { bodyTool, failureOf, greet, harness } from './fixtures.ts'

describe('register', () => {
  it('needs nothing but a bare context', async () => {
    const ctx = new Context()
    await ctx.plugin(ToolRegistry)
    ctx.tools.register(greet())
    const { signal } = new AbortController()
    const result = await ctx.tools.execute({ callId: '1', name: 'greet', arguments: { name: 'Ada' }, signal })
    expect(result).toEqual({ isError: false, value: 'Hello, Ada!', content: [{ type: 'text', text: 'Hello, Ada!' }] })
  })

  it.each([
    ['no output', {}],
    ['a null output', { output: null }],
    ['no render', { output: { schema: {} } }],
    ['a render that is no function', { output: { schema: {}, render: 'x' } }],
    ['a presentationMeta that is no function', { output: { schema: {}, render: () => [], presentationMeta: 1 } }],
  ])('refuses a definition with %s', async (_what, part) => {
    const { tools } = await harness()
    const definition = { name: 'bad', description: '', parameters: { type: 'object' }, execute: () => null, ...part }
    const register = (): unknown => tools.register(definition as unknown as ToolDefinition)
    expect(register).toThrow(TypeError)
    expect(register).toThrow('tool "bad" must declare output { schema, render, presentationMeta? }')
  })

  it('refuses an unsupported output schema', async () => {
    const { tools } = await harness()
    const output = { schema: { type: 'strnig' as never }, render: () => [] }
    expect(() => tools.register(bodyTool('bad', () => null, { output }))).toThrow(JsonSchemaError)
  })

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])(
    'refuses timeoutMs %s, in the words of each door',
    async (timeoutMs) => {
      const { tools } = await harness()
      const direct = (): unknown => tools.register(bodyTool('slow', () => null, { timeoutMs }))
      expect(direct).toThrow(TypeError)
      expect(direct).toThrow('tool "slow" timeoutMs must be a positive finite number')
      const defined = (): unknown =>
        defineTool({
          name: 'slow',
          description: '',
          parameters: {},
          output: { schema: { type: 'null' }, render: () => [] },
          timeoutMs,
          execute: () => null,
        })
      expect(defined).toThrow('defineTool(slow): timeoutMs must be a positive finite number')
      expect(defined).not.toThrow(TypeError)
    },
  )

  it('reserves run_code in every layer', async () => {
    const { ctx, tools } = await harness()
    const scope = createScope(ctx, {})
    const text =
      'tool name "run_code" is reserved for the Code Mode presentation transport and cannot be registered or shadowed'
    expect(() => tools.register(greet('run_code'))).toThrow(text)
    expect(() => scope.ctx.tools.register(greet('run_code'))).toThrow(text)
  })

  it('refuses a duplicate in one layer and says what to do', async () => {
    const { ctx, tools } = await harness()
    tools.register(greet())
    expect(() => tools.register(greet())).toThrow(
      'tool "greet" is already registered (for a per-agent variant, register through that agent\'s `agent.ctx` instead)',
    )
    const scope = createScope(ctx, {})
    scope.ctx.tools.register(greet())
    expect(() => scope.ctx.tools.register(greet())).toThrow('tool "greet" is already registered in this scope')
  })

  it('removes exactly its own entry, once', async () => {
    const { tools } = await harness()
    const dispose = tools.register(greet())
    dispose()
    dispose()
    expect(tools.get('greet')).toBeUndefined()
    const again = greet()
    tools.register(again)
    dispose()
    expect(tools.get('greet')).toBe(again)
  })

  it('unregisters with the fiber of the plugin that registered', async () => {
    const { ctx, tools } = await harness()
    const fiber = await ctx.plugin({
      name: 'owner',
      inject: ['tools'],
      apply: (child: Context) => void child.tools.register(greet()),
    })
    expect(tools.get('greet')).toBeDefined()
    await disposeAndJoin(fiber)
    expect(tools.get('greet')).toBeUndefined()
  })

  it('leaves no entry behind a change listener that throws', async () => {
    const { ctx, tools } = await harness()
    const off = ctx.on('tools/change', () => {
      throw new Error('listener is unhappy')
    })
    expect(() => tools.register(greet())).toThrow('listener is unhappy')
    expect(tools.get('greet')).toBeUndefined()
    off()
    tools.register(greet())
    expect(tools.get('greet')).toBeDefined()
  })

  it('tells every change listener of additions and removals', async () => {
    const { ctx, tools } = await harness()
    let changes = 0
    const scope = createScope(ctx, {})
    scope.ctx.on('tools/change', () => void changes++)
    tools.register(greet())()
    expect(changes).toBe(2)
  })
})

describe('scopes', () => {
  it('shadows a global tool for one agent only, whichever came first', async () => {
    const { ctx, tools, call } = await harness()
    const [first, second] = [agent('first'), agent('second')]
    const scope = createScope(ctx, first)
    createScope(ctx, second)
    scope.ctx.tools.register(bodyTool('greet', () => 'scoped'))
    tools.register(greet())
    expect(await call('greet', { name: 'Ada' }, { agent: first })).toMatchObject({ value: 'scoped' })
    expect(await call('greet', { name: 'Ada' }, { agent: second })).toMatchObject({ value: 'Hello, Ada!' })
    await scope.dispose()
    expect(await call('greet', { name: 'Ada' }, { agent: first })).toMatchObject({ value: 'Hello, Ada!' })
  })

  it('lets an inner scope inherit from an outer one, nearest first', async () => {
    const { ctx, tools } = await harness()
    const [outer, inner] = [agent('outer'), agent('inner')]
    const outerScope = createScope(ctx, outer)
    const innerScope = createScope(outerScope.ctx, inner)
    const [a, b] = [greet(), greet()]
    outerScope.ctx.tools.register(a)
    expect(tools.get('greet', inner)).toBe(a)
    innerScope.ctx.tools.register(b)
    expect(tools.get('greet', inner)).toBe(b)
    expect(tools.get('greet', outer)).toBe(a)
    expect(tools.get('greet')).toBeUndefined()
  })
})

describe('schemas', () => {
  it('shows name, description and parameters only, detached, in registration order', async () => {
    const { tools } = await harness()
    tools.register(greet('zulu'))
    tools.register(greet('alpha'))
    const schemas = tools.schemas()
    expect(schemas.map((schema) => schema.name)).toEqual(['zulu', 'alpha'])
    expect(Object.keys(schemas[0] ?? {})).toEqual(['name', 'description', 'parameters'])
    const [zulu] = schemas
    if (zulu !== undefined) zulu.parameters.properties = {}
    expect(tools.schemas()[0]?.parameters.properties).toEqual({ name: { type: 'string' } })
  })

  it('puts a shadowing tool in the place of what it shadows', async () => {
    const { ctx, tools } = await harness()
    const own = agent('own')
    const scope = createScope(ctx, own)
    tools.register(greet('one'))
    tools.register(greet('two'))
    scope.ctx.tools.register(bodyTool('one', () => null))
    scope.ctx.tools.register(bodyTool('three', () => null))
    expect(tools.schemas(own).map((schema) => `${schema.name}: ${schema.description}`)).toEqual([
      'one: Runs a body.',
      'two: Greet someone.',
      'three: Runs a body.',
    ])
  })

  it('leaves out one tool that cannot be projected and keeps the others', async () => {
    const { tools } = await harness()
    const parameters = { type: 'object' as const, default: 1n as never }
    tools.register(bodyTool('odd', () => null, { parameters }))
    tools.register(greet())
    expect(tools.schemas().map((schema) => schema.name)).toEqual(['greet'])
  })

  it('follows additions and removals', async () => {
    const { tools } = await harness()
    expect(tools.schemas()).toEqual([])
    const dispose = tools.register(greet())
    expect(tools.schemas()).toHaveLength(1)
    dispose()
    expect(tools.schemas()).toEqual([])
  })
})

describe('executionMode', () => {
  it('is parallel only for an exact true of a visible tool with valid arguments', async () => {
    const { tools } = await harness()
    const mode = (isConcurrencySafe: unknown, name: string): unknown => {
      tools.register(bodyTool(name, () => null, { isConcurrencySafe: isConcurrencySafe as () => boolean }))
      return tools.executionMode({ name, arguments: {}, agent: undefined }).kind
    }
    expect(mode(() => true, 'yes')).toBe('parallel')
    expect(mode(() => 1, 'truthy')).toBe('exclusive')
    expect(
      mode(() => {
        throw new Error('no')
      }, 'throws'),
    ).toBe('exclusive')
    expect(mode(undefined, 'undeclared')).toBe('exclusive')
    expect(tools.executionMode({ name: 'unknown', arguments: {}, agent: undefined }).kind).toBe('exclusive')
  })
})

it('offers its schemas to a prompt service when one is there', async () => {
  const ctx = new Context()
  await ctx.plugin(ToolRegistry)
  ctx.tools.register(greet())
  const providers: ((scope?: object) => readonly { name: string }[])[] = []
  await ctx.plugin({
    name: 'prompt',
    apply: (child: Context) =>
      void child.provide('systemPrompt', {
        tools: (provider: (typeof providers)[number]) => providers.push(provider),
      } as never),
  })
  await expect.poll(() => providers.length).toBe(1)
  expect(providers[0]?.().map((schema) => schema.name)).toEqual(['greet'])
})

it('answers an unknown tool with UNKNOWN_TOOL', async () => {
  const { call } = await harness()
  expect(failureOf(await call('nobody'))).toMatchObject({ code: 'UNKNOWN_TOOL', message: 'unknown tool "nobody"' })
})

function agent(id: string): { id: string; inject(): void } {
  return { id, inject: () => undefined }
}
