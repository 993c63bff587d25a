// Makes a command of bubblewrap out of a mount plan, and reads back what really happened. What is mounted is decided in the plan.
import { execFile } from 'node:child_process'
import { closeSync, existsSync, openSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  SandboxError,
  isWithin,
  writableRootsOf,
  type ConfineRequest,
  type ConfinedCommand,
  type ConfinedOutcome,
  type SandboxPolicy,
  type SandboxReport,
} from '@deepseek-ai/dsh-sandbox'
import { isReplaced, type MountPlan } from './plan.ts'
import { RunnerStatus } from './runner-status.ts'
import { seccompFilter } from './seccomp.ts'

/** How a command is started: a plan, and files that hold its options and the filter. */
export interface Launch {
  readonly plan: MountPlan
  readonly argsFile: string
  readonly filterFile: string | undefined
  /** In front of the runner: enters the session's network. */
  readonly prefix: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** What is known only afterwards: denials and warnings. */
  report(outcome: ConfinedOutcome): Promise<Pick<SandboxReport, 'denied' | 'warnings'>>
  /** The sentence for a runner that failed. */
  remedy(said: string): string
}

/** The child's descriptors: status, options, filter. */
const STATUS_FD = 3
const ARGS_FD = 4
const FILTER_FD = 5
const FIRST_FREE_FD = 6

export class Bubblewrap {
  readonly path: string
  readonly version: string
  private readonly folder: string
  private readonly inherited: readonly number[]
  private files = 0

  /** `folder` is private: what is written there decides what is confined. `inherited` descriptors are covered. */
  constructor(path: string, version: string, folder: string, inherited: readonly number[]) {
    this.path = path
    this.version = version
    this.folder = folder
    this.inherited = inherited
  }

  /** Since 0.8; before, the filter does it. */
  get canDisableUserNamespaces(): boolean {
    const [major = 0, minor = 0] = this.version.split('.').map(Number)
    return major > 0 || minor >= 8
  }

  /** The files that a launch reads, again and again. */
  prepare(plan: MountPlan, policy: SandboxPolicy): Pick<Launch, 'plan' | 'argsFile' | 'filterFile'> {
    const argsFile = join(this.folder, `plan-${++this.files}`)
    writeFileSync(argsFile, plan.options.map((option) => `${option}\0`).join(''), { mode: 0o400 })
    return { plan, argsFile, filterFile: policy.mode === 'danger-full-access' ? undefined : this.filterFile(policy) }
  }

  discard(files: Pick<Launch, 'argsFile'>): void {
    unlinkSync(files.argsFile)
  }

  command(request: ConfineRequest, launch: Launch): ConfinedCommand {
    const { policy } = request
    const filtered = launch.filterFile !== undefined
    const options = [
      '--args',
      String(ARGS_FD),
      '--json-status-fd',
      String(STATUS_FD),
      ...(filtered ? ['--seccomp', String(FILTER_FD)] : []),
      ...(request.terminal === true ? [] : ['--new-session']),
      ...workdirMount(request.workdir, policy),
      '--chdir',
      request.workdir,
      '--',
    ]
    const runner = [...launch.prefix, this.path, ...options, ...request.argv]
    const statusFile = request.terminal === true ? join(this.folder, `status-${++this.files}`) : undefined
    const [file, ...rest] = (statusFile === undefined ? runner : [...openedByShell(statusFile, launch), ...runner]) as [
      string,
      ...string[],
    ]
    const descriptors = statusFile === undefined ? this.open(launch) : []
    const status = new RunnerStatus(statusFile)
    const { tempDir } = policy
    return {
      argv: [file, ...rest],
      env: { ...request.env, ...launch.env, TMPDIR: tempDir, TMP: tempDir, TEMP: tempDir },
      extraStdio: descriptors,
      observe: (streams) => {
        const stream = streams[0]
        if (stream) status.observe(stream)
      },
      signalTargets: () => {
        const group = status.commandGroup(launch.plan.pidNamespace)
        return group === undefined ? [] : [group]
      },
      finish: async (outcome) => {
        await status.settled()
        if (!status.started && outcome.exitCode !== null) throw runnerFailed(outcome, launch)
        const told = await launch.report(outcome)
        return { mode: policy.mode, network: policy.network, ...told, ...endOf(outcome) }
      },
      release: () => {
        if (statusFile !== undefined) rmSync(statusFile, { force: true })
        for (const fd of new Set(descriptors.splice(0))) if (typeof fd === 'number') closeSync(fd)
      },
    }
  }

  /** Opened anew for each command: who reads a descriptor moves its offset for everybody who shares it. */
  private open(launch: Launch): (number | 'pipe')[] {
    const last = Math.max(FIRST_FREE_FD - 1, ...this.inherited)
    const args = openSync(launch.argsFile, 'r')
    const nothing = last >= FIRST_FREE_FD || launch.filterFile === undefined ? openSync('/dev/null', 'r') : -1
    const filter = launch.filterFile === undefined ? nothing : openSync(launch.filterFile, 'r')
    const covers = Array.from({ length: last - FIRST_FREE_FD + 1 }, () => nothing)
    return ['pipe', args, filter, ...covers]
  }

  private filterFile(policy: SandboxPolicy): string {
    const { unixSockets = false, nestedNamespaces } = policy
    const name = `filter-${unixSockets ? 'unix' : 'inet'}-${nestedNamespaces ? 'nested' : 'flat'}`
    const file = join(this.folder, name)
    if (existsSync(file)) return file
    const filter = seccompFilter(process.arch, {
      unixSockets,
      nestedNamespaces,
      refuseUserNamespaces: !this.canDisableUserNamespaces,
    })
    if (filter === undefined) {
      throw new SandboxError(
        `no system call filter is known for the architecture ${process.arch}; run on x64 or arm64`,
        'SANDBOX_UNAVAILABLE',
      )
    }
    writeFileSync(file, filter, { mode: 0o400 })
    return file
  }
}

/** Who starts a terminal can hand on no descriptors: a shell opens them, and becomes the runner. */
function openedByShell(statusFile: string, launch: Launch): string[] {
  const script = `exec ${STATUS_FD}>>"$1" ${ARGS_FD}<"$2" ${FILTER_FD}<"$3"; shift 3; exec "$@"`
  return ['/bin/sh', '-c', script, 'sh', statusFile, launch.argsFile, launch.filterFile ?? '/dev/null']
}

/** `0.8.0`. Rejects when the program does not run. */
export async function versionOf(path: string): Promise<string> {
  const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: 10_000, env: {} })
  return /\d+(?:\.\d+)*/.exec(stdout)?.[0] ?? '0'
}

/** The runner says 128 + n for a command that a signal ended. */
export function endOf({ exitCode, signal }: ConfinedOutcome): { exitCode: number | null; signal: string | null } {
  if (exitCode === null || exitCode <= 128) return { exitCode, signal }
  const name = Object.entries(constants.signals).find(([, number]) => number === exitCode - 128)?.[0]
  return name === undefined ? { exitCode, signal } : { exitCode: null, signal: name }
}

/** A folder of the host that is replaced inside would not be there to start in. */
function workdirMount(workdir: string, policy: SandboxPolicy): string[] {
  if (policy.mode === 'danger-full-access' || !isReplaced(workdir)) return []
  const shown = [policy.root, policy.tempDir, ...writableRootsOf(policy)]
  if (shown.some((folder) => isWithin(workdir, folder))) return []
  if (isWithin(workdir, '/tmp') && existsSync(join(policy.tempDir, workdir.slice('/tmp'.length)))) return []
  return ['--ro-bind', workdir, workdir]
}

function runnerFailed(outcome: ConfinedOutcome, launch: Launch): SandboxError {
  const said = outcome.stderrTail.trim().split('\n').slice(-3).join(' ') || `exit ${outcome.exitCode}`
  return new SandboxError(
    `the sandbox could not be set up and the command was not run: ${said}; ${launch.remedy(said)}`,
    'SANDBOX_UNAVAILABLE',
  )
}
