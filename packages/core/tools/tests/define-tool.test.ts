// What defineTool adds to the parts an author writes: compiled schemas, validation before each callback, exact author errors.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import { describe, expect, expectTypeOf, it } from 'vitest'
import {
  defineTool,
  JsonSchemaError,
  snapshotJson,
  ToolArgsError,
  ToolRegistry,
  type ContentBlock,
  type Json,
  type ToolDefinition,
  type ToolBodyExecution,
} from '../src/index.ts'
import * as readFileTool from './fixtures/read-file.ts'

const exec: ToolBodyExecution = {
  deferContext: () => undefined,
  concludeTurn: () => undefined,
  callId: 'call-1',
  name: 'greet',
  arguments: {},
  agent: undefined,
  token: Symbol('call'),
  parent: undefined,
  signal: new AbortController().signal,
  report() {},
}

const output = {
  schema: { type: 'string' } as const,
  render: (_args: unknown, value: string): ContentBlock[] => [{ type: 'text', text: value }],
}

type AnyArgs = (...args: unknown[]) => unknown

/** Calls a callback of a definition with arguments of any kind, as the registry does. */
function call(definition: ToolDefinition, callback: keyof ToolDefinition, ...args: unknown[]): unknown {
  return (definition[callback] as unknown as AnyArgs)(...args)
}

function greet(extra: Record<string, unknown> = {}, seen: unknown[] = []): ToolDefinition {
  return defineTool({
    name: 'greet',
    description: 'Greets.',
    parameters: { name: { type: 'string', required: true } },
    output,
    execute(args) {
      seen.push(args)
      return `Hello, ${args.name}!`
    },
    ...extra,
  })
}

describe('defineTool', () => {
  it('compiles both schemas and keeps only what was declared', () => {
    const definition = greet()
    expect(definition.parameters).toEqual({
      type: 'object',
      properties: { name: { type: 'string' } },
      required: ['name'],
    })
    expect(definition.output.schema).toEqual({ type: 'string' })
    expect(Object.keys(definition)).toEqual(['name', 'description', 'parameters', 'output', 'execute'])
    expect(Object.keys(greet({ timeoutMs: 5, presentCall: () => undefined }))).toContain('timeoutMs')
    expect('timeoutMs' in greet({ timeoutMs: undefined })).toBe(false)
  })

  it('hands valid arguments to the body as they are', async () => {
    const seen: unknown[] = []
    const args = snapshotJson({ name: 'Ada', extra: 1 })
    expect(await call(greet({}, seen), 'execute', args, exec)).toBe('Hello, Ada!')
    expect(seen).toEqual([args])
    expect(seen[0]).toBe(args)
  })

  it('rejects invalid arguments before the body', async () => {
    const seen: unknown[] = []
    const failure = call(greet({}, seen), 'execute', { name: 3 }, exec)
    await expect(failure).rejects.toBeInstanceOf(ToolArgsError)
    await expect(failure).rejects.toMatchObject({
      code: 'INVALID_ARGS',
      message: 'invalid arguments: "name" must be a string (got number 3)',
      violations: ['"name" must be a string (got number 3)'],
    })
    expect(seen).toEqual([])
  })

  it('reads arguments that are not yet snapshots once for validation and never more than once per accessor and pass', async () => {
    let reads = 0
    const args = {
      get name() {
        reads++
        return 'Ada'
      },
    }
    await call(greet({ execute: () => 'done' }), 'execute', args, exec)
    expect(reads).toBe(1)
  })

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, '5'])('refuses the timeout %s', (timeoutMs) => {
    const define = (): unknown => greet({ timeoutMs })
    expect(define).toThrow(new Error('defineTool(greet): timeoutMs must be a positive finite number'))
    expect(define).not.toThrow(TypeError)
  })

  it.each([undefined, null, 'text', {}, { schema: { type: 'string' } }, { ...output, presentationMeta: 1 }])(
    'refuses the output %j with the text of the registry',
    (bad) => {
      const text = 'tool "greet" must declare output { schema, render, presentationMeta? }'
      expect(() => greet({ output: bad })).toThrow(new TypeError(text))
      expect(() => greet({ output: bad })).toThrow(TypeError)
    },
  )

  it('reports mistakes of the author at once', () => {
    expect(() => greet({ parameters: { a: { type: 'text' } } })).toThrow(JsonSchemaError)
    expect(() => greet({ output: { ...output, schema: { type: 'object' } } })).toThrow(
      'unsupported JSON schema: schema.additionalProperties must be explicitly true or false',
    )
  })

  it('asks presenters about valid arguments only and survives their throws', () => {
    const boo = (): never => {
      throw new Error('boo')
    }
    const view = { card: 'generic', title: 'Greet' }
    const result = { content: [], isError: false, meta: { n: 1 } }
    const seen: unknown[] = []
    const shown = greet({
      presentCall: () => view,
      presentResult: (...args: unknown[]) => (seen.push(args), view),
    })
    expect(call(shown, 'presentCall', { name: 'Ada' })).toBe(view)
    expect(call(shown, 'presentResult', { name: 'Ada' }, result)).toBe(view)
    expect(seen).toEqual([[{ name: 'Ada' }, result]])
    for (const args of [{}, null, undefined, { name: 1 }, 'Ada']) {
      expect(call(shown, 'presentCall', args)).toBeUndefined()
      expect(call(shown, 'presentResult', args, result)).toBeUndefined()
    }
    const broken = greet({ presentCall: boo, presentResult: boo })
    expect(call(broken, 'presentCall', { name: 'Ada' })).toBeUndefined()
    expect(call(broken, 'presentResult', { name: 'Ada' }, result)).toBeUndefined()
  })

  it('calls a tool safe for concurrency only when the tool says exactly true of valid arguments', () => {
    const safe = (answer: () => unknown, args: unknown = { name: 'Ada' }): unknown =>
      call(greet({ isConcurrencySafe: answer }), 'isConcurrencySafe', args)
    expect(safe(() => true)).toBe(true)
    expect(safe(() => 1)).toBe(false)
    expect(safe(() => Promise.resolve(true))).toBe(false)
    expect(safe(() => true, { name: 1 })).toBe(false)
    expect(
      safe(() => {
        throw new Error('boo')
      }),
    ).toBe(false)
    expect('isConcurrencySafe' in greet()).toBe(false)
  })

  it('passes arguments and value on to render and presentationMeta, keeping their receiver', () => {
    const definition = greet({
      output: {
        ...output,
        prefix: '> ',
        render(this: { prefix: string }, _args: unknown, value: string) {
          return [{ type: 'text', text: this.prefix + value }]
        },
        presentationMeta: (args: { name: string }, value: string) => ({ name: args.name, value }),
      },
    })
    const { output: bound } = definition as unknown as { output: Record<string, AnyArgs> }
    expect(bound.render?.({ name: 'Ada' }, 'hi')).toEqual([{ type: 'text', text: '> hi' }])
    expect(bound.presentationMeta?.({ name: 'Ada' }, 'hi')).toEqual({ name: 'Ada', value: 'hi' })
    expect('presentationMeta' in greet().output).toBe(false)
  })

  it('types every callback from the two schemas', () => {
    defineTool({
      name: 'count',
      description: 'Counts.',
      parameters: {
        unit: { type: 'string', enum: ['line', 'word'], required: true },
        where: { type: 'array', items: { type: 'string' } },
      },
      output: {
        schema: {
          type: 'object',
          additionalProperties: false,
          properties: {
            total: { type: 'integer', required: true },
            kind: { type: 'string', const: 'count', required: true },
          },
        },
        render(args, value) {
          expectTypeOf(args).toEqualTypeOf<{ unit: 'line' | 'word'; where?: readonly string[] }>()
          expectTypeOf(value).toEqualTypeOf<{ total: number; kind: 'count' }>()
          return [{ type: 'text', text: `${value.total} ${args.unit}s` }]
        },
        presentationMeta: (_args, value) => ({ total: value.total }),
      },
      isConcurrencySafe: (args) => args.where === undefined,
      async execute(args, call) {
        expectTypeOf(args.unit).toEqualTypeOf<'line' | 'word'>()
        expectTypeOf(call).toEqualTypeOf<ToolBodyExecution>()
        return { total: 1, kind: 'count' }
      },
      presentCall: (args) => ({ card: 'generic', title: args.unit }),
      presentResult(args, result) {
        expectTypeOf(result.meta).toEqualTypeOf<Json | undefined>()
        return { card: 'generic', title: args.unit }
      },
    })
    defineTool({
      name: 'wrong',
      description: 'Returns what it did not declare.',
      parameters: {},
      output,
      // @ts-expect-error - a number is not the declared string
      execute: () => 1,
    })
  })
})

describe('the read_file sample of the authoring reference', () => {
  it('registers, runs and unregisters as printed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'dsh-read-file-'))
    const root = new Context()
    try {
      const path = join(folder, 'note.txt')
      await writeFile(path, 'grüß dich\n')
      await root.plugin(ToolRegistry)
      const fiber = await root.plugin(readFileTool)
      const { tools } = root as unknown as { tools: ToolRegistry }
      const run = (args: unknown): ReturnType<ToolRegistry['execute']> =>
        tools.execute({ callId: '1', name: 'read_file', arguments: args, signal: exec.signal })
      expect(await run({ path })).toMatchObject({
        isError: false,
        value: 'grüß dich\n',
        content: [{ type: 'text', text: 'grüß dich\n' }],
      })
      expect(await run({ path: 7 })).toMatchObject({ isError: true, error: { code: 'INVALID_ARGS' } })
      expect(await run({ path: join(folder, 'none') })).toMatchObject({ isError: true, error: { code: 'TOOL_FAILED' } })
      await fiber.dispose()
      expect(tools.get('read_file')).toBeUndefined()
    } finally {
      await root.fiber.dispose()
      await rm(folder, { recursive: true })
    }
  })
})
