// A registry on a bare context and the smallest tools that tests need.
import { Context, HarnessError } from '@deepseek-ai/cordis'
import ToolRegistry, {
  defineTool,
  type ToolDefinition,
  type ToolExecutionInput,
  type ToolExecutionResult,
} from '../src/index.ts'

export interface Harness {
  readonly ctx: Context
  readonly tools: ToolRegistry
  readonly call: (name: string, args?: unknown, input?: Partial<ToolExecutionInput>) => Promise<ToolExecutionResult>
}

export async function harness(): Promise<Harness> {
  const ctx = new Context()
  await ctx.plugin(ToolRegistry)
  const { tools } = ctx
  let calls = 0
  return {
    ctx,
    tools,
    call: (name, args = {}, input = {}) =>
      tools.execute({
        callId: `call-${++calls}`,
        name,
        arguments: args,
        signal: new AbortController().signal,
        ...input,
      }),
  }
}

export function greet(name = 'greet'): ToolDefinition {
  return defineTool({
    name,
    description: 'Greet someone.',
    parameters: { name: { type: 'string', required: true } },
    output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value }] },
    execute: (args) => `Hello, ${args.name}!`,
  })
}

/** A tool whose body is given; its value may be any JSON. */
export function bodyTool(
  name: string,
  execute: ToolDefinition['execute'],
  more: Partial<ToolDefinition> = {},
): ToolDefinition {
  return {
    name,
    description: 'Runs a body.',
    parameters: { type: 'object' },
    output: { schema: {}, render: (_args, value) => [{ type: 'text', text: JSON.stringify(value) }] },
    execute,
    ...more,
  }
}

export class OwnError extends HarnessError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, 'OWN_CODE', options)
  }
}

/** The failure of a result; fails the test when it is a success. */
export function failureOf(result: ToolExecutionResult): Extract<ToolExecutionResult, { isError: true }>['error'] {
  if (!result.isError) throw new Error(`expected a failure, got ${JSON.stringify(result.value)}`)
  return result.error
}

/** A body that runs until its signal fires and then rejects with the reason, as `fetch` does. */
export function waitingBody(): { execute: ToolDefinition['execute']; started: () => Promise<void> } {
  const waiting: (() => void)[] = []
  return {
    execute: (_args, exec) =>
      new Promise((_resolve, reject) => {
        exec.signal.addEventListener('abort', () => reject(exec.signal.reason as Error))
        waiting.shift()?.()
      }),
    started: () => new Promise((resolve) => waiting.push(resolve)),
  }
}

export interface Deferred<T = void> {
  readonly promise: Promise<T>
  readonly resolve: (value: T) => void
}

export function deferred<T = void>(): Deferred<T> {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((done) => (resolve = done))
  return { promise, resolve }
}
