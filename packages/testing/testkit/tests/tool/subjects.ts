// A tool that keeps every part of the contract and declares every part, and variants of it with one part broken.
import { setTimeout as delay } from 'node:timers/promises'
import {
  defineTool,
  ToolArgsError,
  validatorFor,
  type ToolBodyExecution,
  type ToolDefinition,
} from '@deepseek-ai/dsh-tools'
import type { ToolCheckOptions } from '../../src/index.ts'

interface RepeatArgs {
  text: string
  times?: number
  waitMs?: number
}

interface RepeatValue {
  lines: readonly string[]
}

export const repeat = defineTool({
  name: 'repeat',
  description: 'Repeats a text, a line each.',
  parameters: {
    text: { type: 'string', required: true, description: 'The text', minLength: 1, maxLength: 1000, examples: ['ab'] },
    times: { type: 'integer', description: 'How often', minimum: 1, maximum: 20, default: 1 },
    mode: { type: 'string', description: 'Which case', enum: ['upper', 'lower'] },
    code: { type: 'string', description: 'A code', pattern: '^[a-z]{2}-[0-9]+$' },
    options: {
      description: 'Either a limit or none',
      oneOf: [
        {
          type: 'object',
          additionalProperties: false,
          properties: { limit: { type: 'number', required: true, minimum: 0, maximum: 1 } },
        },
        { type: 'null' },
      ],
    },
    tags: { type: 'array', description: 'Labels', items: { type: 'string', maxLength: 5 }, minItems: 1, maxItems: 3 },
    extra: { type: 'json', description: 'Anything' },
    waitMs: { type: 'integer', description: 'How long to wait first', minimum: 0, maximum: 60_000 },
  },
  output: {
    schema: {
      type: 'object',
      properties: { lines: { type: 'array', items: { type: 'string' }, required: true } },
      additionalProperties: false,
    },
    render: (_args, { lines }) => [{ type: 'text', text: lines.join('\n') }],
    presentationMeta: (_args, { lines }) => ({ count: lines.length }),
  },
  timeoutMs: 60_000,
  isConcurrencySafe: () => true,
  async execute(args, exec) {
    return repeatBody(args, exec)
  },
  presentCall: ({ text }) => ({ card: 'generic', title: text }),
  presentResult: (_args, { meta }) => {
    const count = (meta as { count?: unknown } | null | undefined)?.count
    return typeof count === 'number' ? { card: 'generic', title: `${count} lines` } : undefined
  },
})

export async function repeatBody(
  { text, times = 1, waitMs = 0 }: RepeatArgs,
  exec: ToolBodyExecution,
): Promise<RepeatValue> {
  if (waitMs > 0) await delay(waitMs, undefined, { signal: exec.signal })
  return { lines: Array.from({ length: times }, () => text) }
}

/** Keeps what is made up from waiting. */
export const options: ToolCheckOptions = {
  args: [{ text: 'a' }, { text: 'b', times: 3, options: { limit: 0.5 }, tags: ['x'], extra: { a: [1] } }],
  slowArgs: [{ text: 'slow', waitMs: 30_000 }],
  arbitraries: (fc) => ({ waitMs: fc.constant(0) }),
  settleMs: 300,
  runMs: 1000,
}

type Body = (args: RepeatArgs, exec: ToolBodyExecution) => unknown

/** The tool with other parts. `execute` is the work behind the validation of arguments, where `defineTool` puts it. */
export function variant(parts: Partial<Omit<ToolDefinition, 'execute'>> & { execute?: Body }): ToolDefinition {
  const { execute, ...rest } = parts
  if (execute === undefined) return { ...repeat, ...rest }
  const validator = validatorFor(repeat.parameters)
  return {
    ...repeat,
    ...rest,
    execute: async (args: never, exec: ToolBodyExecution) => {
      if (!validator.check(args)) throw new ToolArgsError(validator.violations(args, ''))
      return execute(args, exec)
    },
  }
}

export function withoutDeadline(tool: ToolDefinition): ToolDefinition {
  const copy = { ...tool }
  delete copy.timeoutMs
  return copy
}
