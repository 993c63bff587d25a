// The abstract shell service: what every provider promises. Providers live in packages of their own.
import { Service, type Context } from '@deepseek-ai/cordis'
import type { SandboxMode } from '@deepseek-ai/dsh-sandbox'
import type { ShellProcess, ShellRequest, ShellResult, ShellSpec } from './types.ts'

declare module '@deepseek-ai/cordis' {
  interface Context {
    shell: Shell
  }
}

export type ShellDialect = 'bash' | 'pwsh'

/**
 * `ctx.shell`: runs one command in a fresh shell per call.
 *
 * - `resolve()` is the only place where defaults and caps are applied, and throws `ShellError` for a request that cannot work.
 * - `run()` rejects only when the command could not be started (`ShellError`). Non-zero exit, death by a signal, timeout and
 *   abort resolve, each as a fact of its own. A signal that fired beforehand resolves as aborted and starts nothing.
 * - `run()` settles when the shell has ended and its output is drained within `drainMs`, or once a kill has been verified.
 *   What outlives the call is named in `kill.survivors` and stays the provider's to end.
 * - Disposing the provider aborts what runs, ends what was left running, and waits until both are verified.
 */
export abstract class Shell extends Service {
  /** Capability fact: the mode that commands are confined to by default; undefined means that nothing is confined. */
  abstract readonly sandboxMode: SandboxMode | undefined

  /** Which language commands are written in. */
  abstract readonly dialect: ShellDialect

  constructor(ctx: Context) {
    super(ctx, 'shell')
    // No method depends on who calls: without the caller's view of `this`, access costs next to nothing.
    const tracker = Reflect.get(this, Service.tracker) as { noShadow?: boolean }
    tracker.noShadow = true
  }

  abstract resolve(request: ShellRequest): ShellSpec

  abstract run(spec: ShellSpec): Promise<ShellResult>

  /** Starts a command and returns while it runs; `run()` is this and its result. Rejects as `run()` does. */
  abstract start(spec: ShellSpec): Promise<ShellProcess>
}
