// The confining bash provider of `ctx.shell`: the shared executor core with bash's argv, each command handed to `ctx.sandbox` first.
// What a policy is and how it is enforced is decided there.
import type { Context } from '@deepseek-ai/cordis'
import type { SandboxMode, SandboxPolicy } from '@deepseek-ai/dsh-sandbox'
import {
  bashConfig,
  bashConfigSchema,
  bashDialect,
  LocalExecutor,
  LocalShell,
  type BashOptions,
  type Confine,
} from '@deepseek-ai/dsh-shell/executor'

/**
 * Runs `bash -c <command>` under the request's policy, or under the host's default for no session. A command that cannot be
 * confined is not run: `run()` rejects with `SANDBOX_UNAVAILABLE` or `SANDBOX_POLICY_INVALID`.
 */
export class BashSandbox extends LocalShell {
  static override readonly name = 'bash-sandbox'
  static readonly inject = ['sandbox', 'sandboxPolicy']
  static readonly Config = bashConfigSchema('bash-sandbox')

  readonly sandboxMode: SandboxMode
  readonly dialect = 'bash'
  protected readonly executor: LocalExecutor

  /** Throws `ShellError` (`SHELL_NOT_FOUND`) when there is no bash. */
  constructor(ctx: Context, options: BashOptions = {}) {
    super(ctx)
    const limits = bashConfig(options)
    this.sandboxMode = ctx.sandboxPolicy.defaultMode
    this.executor = new LocalExecutor({ dialect: bashDialect(limits.shellPath), limits, confine: confineBy(ctx) })
  }
}

function confineBy(ctx: Context): Confine {
  const { sandbox, sandboxPolicy } = ctx
  return async ({ argv, env, spec }) => {
    const policy = spec.sandboxPolicy ?? (await sandboxPolicy.resolve({}))
    if (confinesNothing(policy)) return undefined
    const command = await sandbox.confine({ argv, env, workdir: spec.workdir, policy })
    return { command, spec: { ...spec, sandboxPolicy: policy } }
  }
}

function confinesNothing({ mode, network }: SandboxPolicy): boolean {
  return mode === 'danger-full-access' && network === 'open'
}
