// The registry and its pipeline.
import { Context } from '../../packages/core/cordis/dist/index.js'
import ToolRegistry, { defineTool } from '../../packages/core/tools/dist/index.js'
import { against, median, perCall, time } from './measure.mjs'

const { signal } = new AbortController()
const call = (name, args) => ({ callId: 'bench', name, arguments: args, signal })

function greet(name) {
  return defineTool({
    name,
    description: 'Greet someone.',
    parameters: {
      name: { type: 'string', required: true, description: 'Who to greet' },
      times: { type: 'integer', minimum: 1 },
      tags: { type: 'array', items: { type: 'string' } },
    },
    output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value }] },
    execute: (args) => `Hello, ${args.name}!`,
  })
}

const ROW = {
  type: 'object',
  additionalProperties: false,
  properties: {
    id: { type: 'integer', required: true },
    name: { type: 'string', required: true },
    ok: { type: 'boolean', required: true },
    tags: { type: 'array', items: { type: 'string' }, required: true },
  },
}

const rows = (count) =>
  Array.from({ length: count }, (_, id) => ({
    id,
    name: `row number ${id}`,
    ok: id % 2 === 0,
    tags: ['alpha', 'beta'],
  }))

async function registry() {
  const ctx = new Context()
  await ctx.plugin(ToolRegistry)
  return { ctx, tools: ctx.tools }
}

async function execute() {
  const { ctx, tools } = await registry()
  tools.register(greet('greet'))
  const input = call('greet', { name: 'Ada' })
  const bare = await perCall(async (i) => `Hello, ${i}!`, { count: 20_000 })
  const trivial = await perCall(() => tools.execute(input), { count: 20_000, rounds: 11 })
  for (let i = 0; i < 5; i++) ctx.on('tools/pre-execute', (_exec, next) => next())
  for (let i = 0; i < 2; i++) tools.guard(() => undefined)
  ctx.on('tools/execute', (_exec, next) => next())
  ctx.on('tools/post-execute', (_exec, _result, next) => next())
  const policy = await perCall(() => tools.execute(input), { count: 10_000, rounds: 11 })
  const [us, reference] = [(ms) => ms * 1000, bare * 1000]
  return [
    { id: 'execute-trivial', value: us(trivial), unit: 'µs', reference, ratio: trivial / bare, budget: 4 },
    { id: 'execute-policy', value: us(policy), unit: 'µs', reference, ratio: policy / bare, budget: 15 },
  ]
}

async function large() {
  const { tools } = await registry()
  const output = { schema: { type: 'integer' }, render: () => [{ type: 'text', text: 'done' }] }
  const parameters = { rows: { type: 'array', items: ROW, required: true } }
  tools.register(defineTool({ name: 'take', description: '', parameters, output, execute: (args) => args.rows.length }))
  const big = { rows: rows(13_000) }
  tools.register(
    defineTool({
      name: 'give',
      description: '',
      parameters: {},
      output: {
        schema: {
          type: 'object',
          additionalProperties: false,
          properties: { rows: { type: 'array', items: ROW, required: true } },
        },
        render: () => [{ type: 'text', text: 'done' }],
      },
      execute: () => big,
    }),
  )
  const args = { rows: rows(100) }
  const [take, give] = [call('take', args), call('give', {})]
  const loop = (count, work) => async () => {
    for (let i = 0; i < count; i++) await work()
  }
  const nested = await against(
    loop(200, () => tools.execute(take)),
    loop(200, () => JSON.parse(JSON.stringify(args))),
    { rounds: 15, warmup: 5 },
  )
  const megabyte = await against(
    loop(2, () => tools.execute(give)),
    loop(2, () => JSON.parse(JSON.stringify(big))),
    { rounds: 15, warmup: 3 },
  )
  return [
    {
      id: 'args-nested',
      value: nested.ratio,
      unit: '× JSON round trip',
      reference: nested.reference / 200,
      budget: 0.8,
    },
    {
      id: 'output-1mb',
      value: megabyte.ratio,
      unit: '× JSON round trip',
      reference: megabyte.reference / 2,
      budget: 0.8,
    },
  ]
}

async function thousand() {
  const register = []
  const first = []
  const again = []
  for (let round = 0; round < 9; round++) {
    const { tools } = await registry()
    register.push(
      await time(() => {
        for (let i = 0; i < 1000; i++) tools.register(greet(`greet_${i}`))
      }),
    )
    first.push(await time(() => tools.schemas()))
    again.push(await time(() => tools.schemas()))
  }
  return [
    { id: 'register-1000', value: median(register), unit: 'ms', budget: 30 },
    { id: 'schemas-1000', value: median(first), unit: 'ms', budget: 15 },
    { id: 'schemas-1000-again', value: median(again), unit: 'ms', budget: 3 },
  ]
}

export const benches = [execute, large, thousand]
