// Lines of the acceptance checklist that no other test proves. Where the others are proven:
//   model schema is an allowlist, detached            authoring-rules "schemas: one deep-cloned schema per visible tool, without callbacks"
//   duplicates, shadows, disposers, change listeners  registry "register" and "scopes"
//   restrictions                                      views "restrict"
//   required, open root, defaults, oneOf counts       schema-validate
//   author errors, const and enum, hostile input      schema-compile, schema-validate, json
//   order of stages, denials, guards                  pipeline "pre-execute, guards and post-execute"
//   arguments, pre-abort, aborts by stage             pipeline "arguments" and "cancellation"; authoring-rules "Cancellation …"
//   wrapper signals and short circuits                pipeline "tools/execute wrappers"; settling "a wrapper"
//   value and content replacement, block, contexts    pipeline "post-execute decisions"; outcomes "deferContext"
//   throwing observers, hostile thrown values         pipeline "result observers"; settling "a hostile body"
//   finalizers: replaced by maxResultBytes            outcomes "maxResultBytes"
import { expect, it } from 'vitest'
import { defineTool, type ToolExecutionResult } from '../src/index.ts'
import { sdkText } from '../src/code/sdk.ts'
import { bodyTool, failureOf, greet, harness } from './fixtures.ts'

it('revalidates a result that a wrapper cached from another call', async () => {
  const { ctx, tools, call } = await harness()
  tools.register(greet())
  tools.register(bodyTool('number', () => 7))
  let cached: ToolExecutionResult | undefined
  ctx.on('tools/execute', async (_exec, next) => (cached ??= await next()))
  expect(await call('number')).toMatchObject({ value: 7 })
  expect(failureOf(await call('greet', { name: 'Ada' })).code).toBe('INVALID_TOOL_OUTPUT')
})

it('loses the conclusion of a turn on abort', async () => {
  const { tools, call } = await harness()
  const caller = new AbortController()
  tools.register(bodyTool('t', (_args, exec) => (exec.concludeTurn(), caller.abort(), 1)))
  const result = await call('t', {}, { signal: caller.signal })
  expect(failureOf(result).code).toBe('ABORTED')
  expect(result).not.toHaveProperty('concludesTurn')
})

it('carries a property named __proto__ through compile, validation, snapshot, projection and SDK', async () => {
  const { tools, call } = await harness()
  const parameters = JSON.parse('{"__proto__": {"type": "string", "required": true}}') as Record<string, never>
  const output = { schema: { type: 'json' }, render: () => [] } as const
  const tool = defineTool({ name: 't', description: '', parameters, output, execute: (args) => args })
  tools.register(tool)
  const args: unknown = JSON.parse('{"__proto__": "kept"}')
  const result = await call('t', args)
  expect(JSON.stringify(result)).toContain('"value":{"__proto__":"kept"}')
  expect(failureOf(await call('t', {})).code).toBe('INVALID_ARGS')
  expect(JSON.stringify(tools.schemas())).toContain('"properties":{"__proto__":{"type":"string"}}')
  expect(sdkText([tool])).toContain('__proto__: string')
})
