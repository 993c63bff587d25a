// `dsh call`: one tool call through the whole pipeline, with no model and no session.
import { randomUUID } from 'node:crypto'
import { errorMessage } from '@deepseek-ai/cordis'
import { contentText, type ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import { CommandError, EXIT, exitForToolFailure, type ExitCode } from '../exit.ts'
import { onInterrupt, required, withHost } from '../host.ts'
import { asLines, textInput } from '../text.ts'
import type { OutputFlags } from '../program.ts'

export async function call(tool: string, word: string | undefined, flags: OutputFlags): Promise<ExitCode> {
  const args = parseArguments(word === undefined ? '{}' : await textInput(word, 'the arguments'))
  return withHost(flags, async ({ ctx }) => {
    const tools = required(ctx, 'tools', flags)
    const controller = new AbortController()
    const release = onInterrupt(() => controller.abort(new DOMException('interrupted', 'AbortError')))
    try {
      const { signal } = controller
      const result = await tools.execute({ callId: randomUUID(), name: tool, arguments: args, signal })
      return print(
        result,
        tool,
        flags,
        tools.schemas().map((schema) => schema.name),
      )
    } finally {
      release()
    }
  })
}

function parseArguments(text: string): unknown {
  let args: unknown
  try {
    args = JSON.parse(text)
  } catch (error) {
    throw new CommandError(`the arguments are not JSON: ${errorMessage(error)} (got ${shown(text)})`, EXIT.usage)
  }
  if (typeof args === 'object' && args !== null && !Array.isArray(args)) return args
  throw new CommandError(`the arguments must be a JSON object such as {"name":"Ada"} (got ${shown(text)})`, EXIT.usage)
}

function print(result: ToolExecutionResult, tool: string, flags: OutputFlags, known: string[]): ExitCode {
  if (!result.isError) {
    process.stdout.write(asLines(flags.json === true ? JSON.stringify(result.value) : contentText(result.content)))
    return EXIT.done
  }
  const { error } = result
  if (flags.json === true) process.stdout.write(`${JSON.stringify({ error })}\n`)
  const hint = error.code === 'UNKNOWN_TOOL' ? `; there are ${known.sort().join(', ') || 'none'}` : ''
  process.stderr.write(`dsh: ${tool}: ${error.code}: ${error.message}${hint}\n`)
  return exitForToolFailure(error.code)
}

function shown(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
