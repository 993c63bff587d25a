// The bash tool: a model's call becomes a shell request, the result the canonical value. Knows no provider and no policy.
import { resolve } from 'node:path'
import { HarnessError, type Context } from '@deepseek-ai/cordis'
import { ShellError, type KillReceipt, type Shell, type ShellResult } from '@deepseek-ai/dsh-shell'
import type { PromptSection } from '@deepseek-ai/dsh-system-prompt'
import { defineTool, type ToolDefinition, type ToolExecution } from '@deepseek-ai/dsh-tools'
import { LiveOutput } from './live-output.ts'
import { bashMeta, presentBashCall, presentBashResult } from './present.ts'
import { renderBash } from './render.ts'
import { OUTPUT, PARAMETERS, type BashArgs, type BashValue } from './schema.ts'

const DESCRIPTION = `Runs a command with bash and returns its output and how it ended.

Each call is a fresh shell: no folder, variable or function is kept from the one before. Standard input is at its end, so a \
program that asks a question gets none answered: pass flags instead. When the call ends by its limit or by cancellation, \
everything that the command started is ended too. What a command leaves running behind "&" is named in the result and goes on. \
Long output keeps its head and its tail.`

const GUIDANCE = `After each bash call look at the last line: [exit code: N] or [killed by signal: X] means that the command failed. \
Find out why before you go on. [still running: …] names processes that you left behind.`

const SECTION: PromptSection = { name: 'tool:bash', order: 105, text: GUIDANCE }

export const name = 'tool-bash'
export const inject = ['tools', 'shell']

export function apply(ctx: Context): void {
  ctx.tools.register(bashTool(ctx.shell))
  ctx.inject(['systemPrompt'], (child) => {
    child.systemPrompt.section(SECTION)
  })
}

/** The definition, for hosts that register tools by hand. */
export function bashTool(shell: Shell): ToolDefinition {
  return defineTool({
    name: 'bash',
    description: DESCRIPTION,
    parameters: PARAMETERS,
    output: {
      schema: OUTPUT,
      render: (_args, value) => [{ type: 'text', text: renderBash(value).text }],
      presentationMeta: (_args, value) => bashMeta(value),
    },
    execute: (args, exec) => runBash(shell, args, exec),
    presentCall: presentBashCall,
    presentResult: (_args, result) => presentBashResult(result),
  })
}

async function runBash(shell: Shell, args: BashArgs, exec: ToolExecution): Promise<BashValue> {
  const { command, timeoutMs, workdir } = args
  const cwd = exec.agent?.cwd
  const live = new LiveOutput((progress) => exec.report(progress))
  const spec = shell.resolve({
    command,
    signal: exec.signal,
    onOutput: ({ stream, text }) => live.push(stream, text),
    ...(workdir === undefined ? {} : { workdir }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  })
  let result: ShellResult
  try {
    result = await shell.run(spec)
  } finally {
    live.flush()
  }
  if (result.aborted) throw abortion(exec.signal, result.kill)
  const missing = workdir === undefined && cwd !== undefined && resolve(cwd) !== result.workdir
  return { kind: 'foreground', ...result, ...(missing ? { missingWorkdir: cwd } : {}) }
}

/** Thrown once the tree is dead, or as dead as it gets: then the message says who is left. */
function abortion(signal: AbortSignal, kill: KillReceipt | undefined): HarnessError {
  const left = (kill?.survivors ?? []).map(({ pid, command }) => `${pid} ${command}`).join(', ')
  const tail = left === '' ? '' : `; still running: ${left}`
  return signal.aborted
    ? new HarnessError(`the command was cancelled${tail}`, 'ABORTED', { cause: signal.reason })
    : new ShellError(`the shell was shut down while the command ran${tail}`, 'SHELL_DISPOSED')
}
