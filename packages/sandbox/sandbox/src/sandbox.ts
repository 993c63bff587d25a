// The abstract sandbox service: what every provider promises.
import { Service, type Context } from '@deepseek-ai/cordis'
import type { ConfineRequest, ConfinedCommand, SandboxStatus } from './types.ts'

declare module '@deepseek-ai/cordis' {
  interface Context {
    sandbox: Sandbox
  }
}

/**
 * `ctx.sandbox`: turns a command into one that the platform confines.
 *
 * - `confine()` enforces the whole policy or throws `SandboxError`; it never returns the command as it came. The mode
 *   `danger-full-access` with an open network needs no confinement: callers do not ask for it, and a provider refuses it.
 * - `status()` is a functional probe, made once: it runs what calls will run and checks that canaries hold.
 * - `temporaryFolder()` makes the session's shared temp folder; it is removed by `forget()` and at disposal.
 */
export abstract class Sandbox extends Service {
  constructor(ctx: Context) {
    super(ctx, 'sandbox')
    const tracker = Reflect.get(this, Service.tracker) as { noShadow?: boolean }
    tracker.noShadow = true
  }

  abstract status(): Promise<SandboxStatus>

  /** Rejects with `SANDBOX_UNAVAILABLE` or `SANDBOX_POLICY_INVALID`. */
  abstract confine(request: ConfineRequest): Promise<ConfinedCommand>

  /** Absolute real path of the session's own temp folder, made on first use with mode 0700. */
  abstract temporaryFolder(sessionId: string): string

  /** Ends what is kept for a session: network, temp folder, leftovers in its workspace. */
  abstract forget(sessionId: string): Promise<void>
}
