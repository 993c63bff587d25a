// The definition of a shell tool, made for what its host can do, and the plugin body that keeps it so.
import { FiberState, type Context } from '@deepseek-ai/cordis'
import type { PromptSection } from '@deepseek-ai/dsh-system-prompt'
import { defineTool, type ToolDefinition } from '@deepseek-ai/dsh-tools'
import { withDefaults, type ShellToolConfig } from './config.ts'
import { presentShellCall, presentShellResult, shellMeta } from './present.ts'
import { renderShell } from './render.ts'
import { runShell } from './run.ts'
import { SHELL_OUTPUT, shellParameters, type Abilities } from './schema.ts'
import type { ShellServices } from './services.ts'
import type { ShellWording } from './wording.ts'

/** For hosts that register tools by hand. What the services cannot do is left out of the parameters. */
export function shellTool(
  wording: ShellWording,
  services: ShellServices,
  options: Partial<ShellToolConfig> = {},
): ToolDefinition {
  const config = withDefaults(options)
  const { shell, jobs, approval, sandboxPolicy } = services
  const abilities: Abilities = {
    background: config.enableRunInBackground && jobs !== undefined,
    escalation: shell.sandboxMode !== undefined && approval !== undefined && sandboxPolicy !== undefined,
  }
  const setup = { wording, services, abilities, config }
  return defineTool({
    name: wording.tool,
    description: description(wording, abilities),
    parameters: shellParameters(wording, abilities),
    output: {
      schema: SHELL_OUTPUT,
      render: (_args, value) => [{ type: 'text', text: renderShell(value, abilities).text }],
      presentationMeta: (_args, value) => shellMeta(value, abilities),
    },
    execute: (args, exec) => runShell(setup, args, exec),
    presentCall: presentShellCall,
    presentResult: (_args, result) => presentShellResult(result),
  })
}

const OPTIONAL = ['jobs', 'approval', 'sandboxPolicy', 'spill'] as const

/**
 * The body of a shell tool's plugin, which injects `tools` and `shell`: registers the tool, and again whenever a service that changes
 * what it can do comes or goes. Throws when the host's shell speaks another language.
 */
export function applyShellTool(ctx: Context, wording: ShellWording, options: Partial<ShellToolConfig> = {}): void {
  const { shell, tools } = ctx
  if (shell.dialect !== wording.dialect) {
    throw new Error(
      `the tool "${wording.tool}" needs a ${wording.dialect} shell, and this host's speaks ${shell.dialect}`,
    )
  }
  const services: { -readonly [Name in keyof ShellServices]: ShellServices[Name] } = { shell }
  for (const name of OPTIONAL) services[name] = ctx.get(name as never) as never
  const registration = keepRegistered(ctx, () => tools.register(shellTool(wording, { ...services }, options)))
  for (const name of OPTIONAL) {
    ctx.inject([name], (child) => {
      // Those of the first registration are no news. The objects cannot tell: each context sees a service through one of its own.
      const isNew = services[name] === undefined
      services[name] = child.get(name as never) as never
      if (isNew) registration.renew()
      child.effect(
        () => () => {
          delete services[name]
          registration.renew()
        },
        `${wording.tool}.${name}`,
      )
    })
  }
  ctx.inject(['systemPrompt'], (child) => {
    child.systemPrompt.section(section(wording))
  })
}

/**
 * Registers at once. `renew()` replaces the registration at the end of the tick, once for all services that came or went in it: until
 * then a call finds the former definition, whose services are those it was made with.
 */
function keepRegistered(ctx: Context, register: () => () => void): { renew(): void } {
  let dispose = register()
  let due = false
  const replace = (): void => {
    due = false
    if (ctx.fiber.state !== FiberState.ACTIVE && ctx.fiber.state !== FiberState.LOADING) return
    dispose()
    dispose = register()
  }
  return {
    renew(): void {
      if (due) return
      due = true
      queueMicrotask(replace)
    },
  }
}

function section({ tool }: ShellWording): PromptSection {
  const text = `After each ${tool} call look at the last line: [exit code: N] or [killed by signal: X] means that the command failed. \
Find out why before you go on. [still running: …] names processes that you left behind.`
  return { name: `tool:${tool}`, order: 105, text }
}

function description({ summary, backgroundSign, notes }: ShellWording, abilities: Abilities): string {
  const paragraphs = [
    summary,
    `Each call is a fresh shell: no folder, variable or function is kept from the one before. Standard input is at its end, so a \
program that asks a question gets none answered: pass flags instead. When the call ends by its limit or by cancellation, \
everything that the command started is ended too. What a command leaves running behind ${backgroundSign} is named in the result and goes on. \
Long output keeps its head and its tail; the result names a file with the rest where there is one.`,
    ...(notes === undefined ? [] : [notes]),
  ]
  if (abilities.background) {
    paragraphs.push(
      'For servers, watchers and other long work set run_in_background: the call returns a job id at once, and you are told when the job ends.',
    )
  }
  if (abilities.escalation) {
    paragraphs.push(
      'Commands run in a sandbox. Try first; only after a result that says that the sandbox denied something, repeat the same command with \
sandbox_permissions and a justification. A refusal by the person is final for that command.',
    )
  }
  return paragraphs.join('\n\n')
}
