// One call of a shell tool: from arguments to the canonical value, in the foreground, in the background, or from the one into the other.
import { resolve } from 'node:path'
import { HarnessError } from '@deepseek-ai/cordis'
import { escalate } from '@deepseek-ai/dsh-approval'
import {
  ShellError,
  type KillReceipt,
  type ShellProcess,
  type ShellResult,
  type ShellSpec,
} from '@deepseek-ai/dsh-shell'
import type { SandboxPolicy } from '@deepseek-ai/dsh-sandbox'
import { ToolArgsError, type ToolBodyExecution } from '@deepseek-ai/dsh-tools'
import type { ShellToolConfig } from './config.ts'
import { shellJob } from './job.ts'
import { LiveOutput } from './live-output.ts'
import type { Abilities, BackgroundValue, ForegroundValue, ShellArgs, ShellValue } from './schema.ts'
import { sessionOf, type ShellServices } from './services.ts'
import { SpillFiles, streamBudget } from './spill-files.ts'
import type { ShellWording } from './wording.ts'

export interface ShellToolSetup {
  readonly wording: ShellWording
  readonly services: ShellServices
  readonly abilities: Abilities
  readonly config: ShellToolConfig
}

/** What is printed before a promotion and told with it, in UTF-8 bytes. */
const PROMOTED_OUTPUT_BYTES = 8192

/** How much longer than its limit a command may run while its promotion is tried. */
const PROMOTION_MS = 2000

export async function runShell(setup: ShellToolSetup, args: ShellArgs, exec: ToolBodyExecution): Promise<ShellValue> {
  refuseUnknownAbilities(setup.abilities, args)
  const policy = await policyFor(setup, args, exec)
  const call = new ShellCall(setup, args, exec, policy)
  return args.run_in_background === true ? call.inBackground() : call.inForeground()
}

class ShellCall {
  readonly #setup: ShellToolSetup
  readonly #args: ShellArgs
  readonly #exec: ToolBodyExecution
  readonly #live: LiveOutput
  readonly #files: SpillFiles
  readonly #spec: ShellSpec

  constructor(setup: ShellToolSetup, args: ShellArgs, exec: ToolBodyExecution, policy: SandboxPolicy | undefined) {
    this.#setup = setup
    this.#args = args
    this.#exec = exec
    this.#live = new LiveOutput((progress) => exec.report(progress))
    this.#files = new SpillFiles(setup.services.spill, exec)
    this.#spec = this.#resolve(policy)
  }

  async inForeground(): Promise<ShellValue> {
    const { shell } = this.#setup.services
    const promotesAtLimit = this.#canBePromoted && this.#setup.config.atTimeout === 'promote'
    const limit = this.#spec.timeoutMs
    const spec = promotesAtLimit ? { ...this.#spec, timeoutMs: limit + PROMOTION_MS } : this.#spec
    const process = await shell.start({ ...spec, signal: this.#exec.signal })
    const promotion = this.#canBePromoted ? new Promotion(this.#setup, this.#exec, this.#label, this.#files) : undefined
    promotion?.offer(process, promotesAtLimit ? limit : undefined)
    try {
      const end = await Promise.race([process.result, ...(promotion === undefined ? [] : [promotion.done])])
      if ('jobId' in end) return { ...end, workdir: spec.workdir }
      return this.#finished(end, limit)
    } finally {
      promotion?.withdraw()
      this.#live.flush()
    }
  }

  /** A call that was cancelled before is refused: there is no job whose id it could return. */
  inBackground(): BackgroundValue {
    const { jobs, shell } = this.#setup.services
    if (jobs === undefined) throw new HarnessError('this host has no background jobs', 'JOBS_UNAVAILABLE')
    const jobId = jobs.start({
      kind: this.#setup.wording.tool,
      label: this.#label,
      owner: this.#exec.agent,
      signal: this.#exec.signal,
      run: () => shellJob(shell.start(this.#spec), 0, () => this.#files.paths),
    })
    return { kind: 'background', jobId, workdir: this.#spec.workdir }
  }

  /** Only a call of its own: what a program runs is waited for by the program. */
  get #canBePromoted(): boolean {
    return this.#setup.services.jobs !== undefined && this.#exec.parent === undefined
  }

  get #label(): string {
    return oneLine(this.#args.command)
  }

  #resolve(sandboxPolicy: SandboxPolicy | undefined): ShellSpec {
    const { command, timeoutMs, workdir } = this.#args
    const { agent } = this.#exec
    const { shell, spill } = this.#setup.services
    const spec = shell.resolve({
      command,
      env: { DSH_SHELL: '1', ...(agent === undefined ? {} : { DSH_SESSION_ID: agent.id }) },
      onOutput: ({ stream, text }) => this.#live.push(stream, text),
      ...(this.#files.open === undefined ? {} : { spill: this.#files.open }),
      ...(sandboxPolicy === undefined ? {} : { sandboxPolicy }),
      ...(workdir === undefined ? {} : { workdir }),
      ...(agent?.cwd === undefined ? {} : { cwd: agent.cwd }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    })
    // A program gets what the shell keeps; only what a model reads has the one budget.
    if (spill === undefined || this.#exec.parent !== undefined) return spec
    return { ...spec, maxOutputBytes: Math.min(spec.maxOutputBytes, streamBudget(spill.inlineBytes)) }
  }

  #finished(result: ShellResult, limit: number): ForegroundValue {
    const { signal, agent } = this.#exec
    if (result.aborted) throw abortion(signal, result.kill)
    const missing =
      this.#args.workdir === undefined && agent?.cwd !== undefined && resolve(agent.cwd) !== result.workdir
    return {
      kind: 'foreground',
      ...(result as Omit<ForegroundValue, 'kind'>),
      timeoutMs: limit,
      ...(missing ? { missingWorkdir: agent.cwd } : {}),
    }
  }
}

/** Turns a running call into a job, when a person or its limit says so. */
class Promotion {
  readonly done: Promise<Omit<BackgroundValue, 'workdir'>>
  readonly #setup: ShellToolSetup
  readonly #exec: ToolBodyExecution
  readonly #label: string
  readonly #files: SpillFiles
  readonly #startedAt = performance.now()
  #settle!: (value: Omit<BackgroundValue, 'workdir'>) => void
  #timer: NodeJS.Timeout | undefined
  #withdraw: () => void = () => {}
  #over = false

  constructor(setup: ShellToolSetup, exec: ToolBodyExecution, label: string, files: SpillFiles) {
    this.#setup = setup
    this.#exec = exec
    this.#label = label
    this.#files = files
    this.done = new Promise((settle) => {
      this.#settle = settle
    })
  }

  offer(process: ShellProcess, limit: number | undefined): void {
    const promote = (by: 'person' | 'timeout'): string => this.#promote(process, by)
    const { callId, agent: owner } = this.#exec
    this.#withdraw = this.#setup.services.jobs!.promotable({ callId, owner, label: this.#label, promote })
    if (limit === undefined) return
    this.#timer = setTimeout(() => {
      try {
        promote('timeout')
      } catch {
        // At the cap or while the owner ends: the shell's own limit, a moment later, ends the command instead.
      }
    }, limit)
  }

  withdraw(): void {
    this.#over = true
    clearTimeout(this.#timer)
    this.#withdraw()
  }

  #promote(process: ShellProcess, by: 'person' | 'timeout'): string {
    if (this.#over) throw new HarnessError('the call has ended', 'JOB_NOT_FOUND')
    const { services, wording } = this.#setup
    const printed = process.read(0)
    const jobId = services.jobs!.start({
      kind: wording.tool,
      label: this.#label,
      owner: this.#exec.agent,
      run: () => shellJob(Promise.resolve(process), printed.cursor, () => this.#files.paths),
    })
    process.detach()
    this.#over = true
    const afterMs = Math.round(performance.now() - this.#startedAt)
    this.#settle({ kind: 'background', jobId, promoted: { by, afterMs, output: tailOf(printed.text) } })
    return jobId
  }
}

function refuseUnknownAbilities(abilities: Abilities, args: ShellArgs): void {
  const refused: string[] = []
  if (!abilities.background && args.run_in_background !== undefined) {
    refused.push('run_in_background: this host has no background jobs; leave it out')
  }
  for (const name of ['sandbox_permissions', 'justification'] as const) {
    if (!abilities.escalation && args[name] !== undefined) {
      refused.push(`${name}: nothing can be widened on this host; leave it out`)
    }
  }
  if (refused.length > 0) throw new ToolArgsError(refused)
}

/** The policy of this one call; a wider one only after a person has agreed to it. */
async function policyFor(
  { services, wording }: ShellToolSetup,
  args: ShellArgs,
  exec: ToolBodyExecution,
): Promise<SandboxPolicy | undefined> {
  const { shell, sandboxPolicy: policies, approval } = services
  if (shell.sandboxMode === undefined || policies === undefined) return undefined
  const session = sessionOf(exec.agent)
  const { sandbox_permissions: requested, justification, command, workdir } = args
  if (requested === undefined && justification === undefined) return policies.resolve({ session })
  const effective = session === undefined ? policies.defaultMode : await policies.modeOf(session)
  const mode = await escalate(
    {
      requested,
      justification,
      effective,
      subject: { kind: 'command', command, dialect: wording.dialect, workdir: workdir ?? exec.agent?.cwd ?? '' },
    },
    { approval, exec },
  )
  return policies.resolve({ session, ...(mode === undefined ? {} : { mode }) })
}

/** Thrown once the tree is dead, or as dead as it gets: then the message says who is left. */
function abortion(signal: AbortSignal, kill: KillReceipt | undefined): HarnessError {
  const left = (kill?.survivors ?? []).map(({ pid, command }) => `${pid} ${command}`).join(', ')
  const tail = left === '' ? '' : `; still running: ${left}`
  return signal.aborted
    ? new HarnessError(`the command was cancelled${tail}`, 'ABORTED', { cause: signal.reason })
    : new ShellError(`the shell was shut down while the command ran${tail}`, 'SHELL_DISPOSED')
}

function oneLine(command: string): string {
  const flat = command.trim().replace(/\s+/gu, ' ')
  const points = Array.from(flat)
  return points.length <= 200 ? flat : `${points.slice(0, 199).join('')}…`
}

function tailOf(text: string): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= PROMOTED_OUTPUT_BYTES) return text
  const end = bytes.subarray(-PROMOTED_OUTPUT_BYTES).toString('utf8')
  const line = end.indexOf('\n')
  return `[…]\n${line < 0 ? end : end.slice(line + 1)}`
}
