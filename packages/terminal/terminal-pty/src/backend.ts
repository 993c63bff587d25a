// The backend `shell` of `ctx.terminals`: what runs in a terminal, with which environment, and under which confinement.
import { randomUUID } from 'node:crypto'
import { basename, isAbsolute } from 'node:path'
import { errorMessage, type Context } from '@deepseek-ai/cordis'
import { SANDBOX_MODES, SandboxError, type ConfinedCommand, type SandboxPolicy } from '@deepseek-ai/dsh-sandbox'
import type { Session } from '@deepseek-ai/dsh-session'
import { Watchdog, commandEnvironment, findBash, workdirProblem } from '@deepseek-ai/dsh-shell/executor'
import {
  TerminalError,
  type OpenRequest,
  type Terminal,
  type TerminalBackend,
  type TerminalOwner,
} from '@deepseek-ai/dsh-terminal'
import type { TerminalPtyConfig } from './config.ts'
import { Ending } from './ending.ts'
import { PtyProcess, failed } from './pty-process.ts'
import { PtyTerminal } from './pty-terminal.ts'

type SpawnRequest = OpenRequest & { readonly id: string; readonly cwd: string }

interface Launch {
  readonly argv: readonly [string, ...string[]]
  readonly env: Readonly<Record<string, string>>
  readonly policy: SandboxPolicy | undefined
  readonly confined: ConfinedCommand | undefined
}

/** Marks every process of a terminal, so that one that left its session is still found. */
const MARK = 'DSH_TERMINAL_MARK'
/** How long a confined shell may take to its first prompt before it is believed to run. */
const CONFINED_START_MS = 5000

/** Ends with BEL, and is no part of the prompt's width. */
const mark = (letter: string): string => String.raw`\[\e]133;${letter}\a\]`
const PROMPT = `${mark('A')}${String.raw`\w\$ `}${mark('B')}`
const MORE = `${mark('A;k=s')}> ${mark('B')}`

/**
 * A prompt that says when it is shown and when a command runs, and goes back to that whatever a program makes of it. The prompts themselves are
 * not exported: another shell would show them as they stand here.
 */
const PROMPT_COMMAND = `printf '\\033]133;D;%s\\007' "$?"; PS0='\\e]133;C\\a' PS1='${PROMPT}' PS2='${MORE}'`

const TERMINAL_ENVIRONMENT: Readonly<Record<string, string>> = {
  TERM: 'xterm-256color',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  // An agent's commands, and what a person types into its terminals, stay out of the person's own history.
  HISTFILE: '',
  DSH_SHELL: '1',
}

/** Of the terminal and the shell that the host itself runs in. */
const OTHERS = [
  'PS0',
  'PS1',
  'PS2',
  'PS4',
  'TMUX',
  'TMUX_PANE',
  'STY',
  'WINDOW',
  'WINDOWID',
  'TERMCAP',
  'COLUMNS',
  'LINES',
]

export class PtyBackend implements TerminalBackend {
  readonly type = 'shell'
  readonly #ctx: Context
  readonly #config: TerminalPtyConfig
  readonly #id = randomUUID()
  readonly #watchdog: Watchdog
  readonly #warn: (message: string) => void
  #numbers = 0

  constructor(ctx: Context, config: TerminalPtyConfig) {
    this.#ctx = ctx
    this.#config = config
    this.#watchdog = new Watchdog({ markPrefix: `${MARK}=${this.#id}-`, graceMs: config.disposeGraceMs })
    const logger = ctx.logger('terminal-pty')
    this.#warn = (message) => logger.warn('%s', message)
  }

  /** Rejects with `TERMINAL_SPAWN_FAILED`, `SANDBOX_UNAVAILABLE` or `SANDBOX_POLICY_INVALID`. */
  async spawn(request: SpawnRequest): Promise<Terminal> {
    const config = this.#config
    const { cols = config.cols, rows = config.rows, owner } = request
    this.#check(request)
    const ownMark = `${this.#id}-${++this.#numbers}`
    const launch = await this.#launch(request, { ...this.#environment(request), [MARK]: ownMark })
    let terminal: PtyTerminal
    try {
      const [file, ...args] = launch.argv
      // Before the program: a host that dies in between would leave it.
      this.#watchdog.start()
      const pty = await PtyProcess.start({ file, args, cwd: request.cwd, env: launch.env, cols, rows })
      const ending = new Ending(pty.pid, `${MARK}=${ownMark}`, config.disposeGraceMs, launch.confined)
      this.#watchdog.guard(pty, 'leader', pty.pid)
      terminal = await PtyTerminal.open(pty, {
        id: request.id,
        name: request.name,
        type: this.type,
        cwd: request.cwd,
        cols,
        rows,
        config,
        ending,
        admit: () => this.#admit(owner, launch.policy),
        onClosed: () => this.#watchdog.release(pty),
        onTrouble: (message) => this.#warn(`${request.id}: ${message}`),
      })
    } catch (error) {
      launch.confined?.release()
      throw error
    }
    if (launch.confined !== undefined) await this.#confine(terminal, launch.confined)
    return terminal
  }

  /** Lets the watchdog go. Terminals are closed by then. */
  dispose(): Promise<void> {
    return this.#watchdog.close()
  }

  #check({ cwd, command, env = {}, cols = 2, rows = 2 }: SpawnRequest): void {
    if (process.platform === 'win32') throw failed('this backend needs Linux or macOS')
    if (!isAbsolute(cwd) || cwd.includes('\0')) throw failed(`the folder ${JSON.stringify(cwd)} is no absolute path`)
    const problem = workdirProblem(cwd)
    if (problem !== undefined) throw failed(`the folder ${JSON.stringify(cwd)} ${problem}; name an existing one`)
    if (command?.trim() === '' || command?.includes('\0') === true) {
      throw new TerminalError('the command is blank or holds a NUL; omit it for a shell', 'TERMINAL_INVALID_REQUEST')
    }
    for (const [name, value] of Object.entries(env)) {
      if (/^[^=\0]+$/.test(name) && !value.includes('\0') && name !== MARK) continue
      throw new TerminalError(
        `the environment variable ${JSON.stringify(name)} cannot be set; a name has no "=", and neither has a NUL`,
        'TERMINAL_INVALID_REQUEST',
      )
    }
    if ([cols, rows].some((each) => !Number.isInteger(each) || each < 1 || each > 1000)) {
      throw new TerminalError(
        `a terminal of ${cols} by ${rows} cannot be; each is a whole number from 1 to 1000`,
        'TERMINAL_INVALID_REQUEST',
      )
    }
  }

  #environment({ owner, id, env: added = {} }: SpawnRequest): Record<string, string> {
    const env = commandEnvironment({
      ambient: process.env,
      allow: new Set(this.#config.envAllow),
      quiet: { ...TERMINAL_ENVIRONMENT, PROMPT_COMMAND },
      explicit: { ...added, DSH_PTY_SESSION_ID: id, ...(owner === undefined ? {} : { DSH_SESSION_ID: owner.id }) },
    })
    for (const name of OTHERS) if (added[name] === undefined) delete env[name]
    return env
  }

  async #launch({ owner, cwd, command }: SpawnRequest, env: Record<string, string>): Promise<Launch> {
    const argv = this.#argv(command)
    const policies = this.#ctx.get('sandboxPolicy')
    const session = sessionOf(owner)
    const policy = await policies?.resolve(session === undefined ? {} : { session })
    if (policy === undefined || (policy.mode === 'danger-full-access' && policy.network === 'open')) {
      return { argv, env, policy, confined: undefined }
    }
    const sandbox = this.#ctx.get('sandbox')
    if (sandbox === undefined) {
      throw new SandboxError(
        `terminals run under the mode ${policy.mode}, and no sandbox is there to enforce it; add one, or choose danger-full-access`,
        'SANDBOX_UNAVAILABLE',
      )
    }
    const confined = await sandbox.confine({ argv, workdir: cwd, env, policy, terminal: true })
    if (confined.extraStdio.length > 0) {
      confined.release()
      throw new SandboxError('this sandbox cannot confine terminals; use another one', 'SANDBOX_UNAVAILABLE')
    }
    return { argv: confined.argv, env: confined.env, policy, confined }
  }

  #argv(command: string | undefined): [string, ...string[]] {
    const { shellPath, args } = this.#config
    let shell: string
    try {
      shell = findBash(shellPath, process.env['PATH'] ?? '')
    } catch (error) {
      throw failed(errorMessage(error), error)
    }
    const isBash = basename(shell) === 'bash'
    if (command !== undefined) return [shell, ...(isBash ? ['--noprofile', '--norc'] : []), '-c', command]
    return [shell, ...(args ?? (isBash ? ['--noprofile', '--norc', '-i'] : ['-i']))]
  }

  /** A runner that fails says so at once; the command never ran then, and nobody gets the terminal. */
  async #confine(terminal: PtyTerminal, confined: ConfinedCommand): Promise<void> {
    confined.observe([])
    const finished = terminal.ended.then(async () => {
      const { status } = terminal.row
      const { exitCode, signal } = status.kind === 'exited' ? status : { exitCode: null, signal: null }
      try {
        return await confined.finish({ exitCode, signal, stderrTail: terminal.tail() })
      } finally {
        confined.release()
      }
    })
    const told = finished.then(
      ({ warnings = [] }) => warnings.forEach((warning) => this.#warn(`${terminal.id}: ${warning}`)),
      (error: unknown) => this.#warn(`${terminal.id}: ${errorMessage(error)}`),
    )
    await terminal.ready(CONFINED_START_MS)
    if (terminal.row.status.kind === 'running') return
    try {
      await finished
    } catch (error) {
      await terminal.close()
      throw error
    }
    await told
  }

  /** A terminal keeps the policy that it was opened under: once the session's is narrower, nothing more is typed into it. */
  async #admit(owner: TerminalOwner | undefined, opened: SandboxPolicy | undefined): Promise<void> {
    const session = sessionOf(owner)
    const mode = session === undefined ? undefined : await this.#ctx.get('sandboxPolicy')?.modeOf(session)
    if (mode === undefined) return
    const width = SANDBOX_MODES.indexOf(opened?.mode ?? 'danger-full-access')
    if (SANDBOX_MODES.indexOf(mode) >= width) return
    throw new SandboxError(
      `the session's mode is now ${mode}, and this terminal was opened under ${opened?.mode ?? 'none'}; close it and open another`,
      'SANDBOX_POLICY_INVALID',
    )
  }
}

/** An owner that is an agent has one. */
function sessionOf(owner: TerminalOwner | undefined): Session | undefined {
  return (owner as { readonly session?: Session } | undefined)?.session
}
