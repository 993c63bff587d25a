// `run_code`: the tool through which a model runs a program that calls tools. Each call of the program goes through the whole pipeline.
import { HarnessError } from '@deepseek-ai/cordis'
import { defineTool } from '../define-tool.ts'
import type { Json } from '../presentation.ts'
import { RUN_CODE } from '../registration.ts'
import type { ToolBodyExecution, ToolDefinition } from '../types.ts'
import { Bridge, type BridgeHost } from './bridge.ts'
import type { CodeRunner } from './runner.ts'

/** A program that ended without a result. The message holds what it had printed. */
export class CodeRunFailedError extends HarnessError {
  constructor(kind: string, message: string, logs: readonly string[]) {
    const captured = logs.length === 0 ? '' : `\nCaptured output:\n${logs.join('\n')}`
    super(`code run failed (${kind}): ${message}${captured}`, 'CODE_RUN_FAILED')
  }
}

export interface RunCodeHost extends BridgeHost {
  readonly maxProgramOutputBytes: number
  /** The runtime in use. Throws when there is none. */
  runtime(): CodeRunner
  /** The names a program of this call may use. */
  names(exec: ToolBodyExecution): readonly string[]
}

/** The definition that every registry brings for scopes that show code. */
export function runCodeTool(host: RunCodeHost): ToolDefinition {
  return defineTool({
    name: RUN_CODE,
    description:
      'Runs a TypeScript program that calls tools as functions, and returns what it prints and returns. Use it to combine several calls, to loop, and to filter large results before you read them.',
    parameters: {
      code: {
        type: 'string',
        required: true,
        minLength: 1,
        description: 'Body of an async function. `return` a JSON value; print with console.log.',
      },
      description: {
        type: 'string',
        required: true,
        pattern: '\\S',
        description: 'What the program does, in 5 to 10 words, shown in the UI.',
      },
    },
    output: {
      schema: {
        type: 'object',
        additionalProperties: false,
        properties: { logs: { type: 'array', items: { type: 'string' }, required: true }, result: { type: 'json' } },
      },
      render: (_args, value) => [{ type: 'text', text: rendered(value.logs, value.result) }],
    },
    maxResultBytes: host.maxProgramOutputBytes,
    execute: (args, exec) => runProgram(host, args.code, exec),
    presentCall: (args) => ({ card: 'generic', title: args.description, kind: 'execute', rawInput: args.code }),
  })
}

async function runProgram(
  host: RunCodeHost,
  program: string,
  exec: ToolBodyExecution,
): Promise<{ logs: readonly string[]; result?: Json }> {
  const runtime = host.runtime()
  const bridge = new Bridge(host, exec)
  try {
    const run = await runtime.run({
      program,
      bindings: [
        {
          global: 'tools',
          names: host.names(exec),
          call: (name, argument) => bridge.call(name, argument),
          errorClass: { name: 'ToolCallError', memberNameProperty: 'toolName' },
        },
      ],
      signal: exec.signal,
      onLog: (line) => exec.report({ kind: 'text', text: `${line}\n`, stream: 'stdout' }),
    })
    if (run.error !== undefined) throw new CodeRunFailedError(run.error.kind, run.error.message, run.logs)
    return run.value === undefined ? { logs: run.logs } : { logs: run.logs, result: run.value }
  } finally {
    // Whatever ended the run, every call that was started has its outcome before the result of `run_code`.
    await bridge.close()
  }
}

function rendered(logs: readonly string[], result: Json | undefined): string {
  const lines = [...logs]
  if (result !== undefined) lines.push(typeof result === 'string' ? result : JSON.stringify(result, null, 2))
  return lines.length === 0 ? '(run_code completed with no output)' : lines.join('\n')
}
