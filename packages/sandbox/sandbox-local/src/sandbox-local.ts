// `ctx.sandbox` with what the platform has: bubblewrap on Linux, Seatbelt on macOS. Owns what is kept for a session, and the probes.
import { Service, errorMessage, type Context } from '@deepseek-ai/cordis'
import {
  RepositoryScans,
  Sandbox,
  SandboxError,
  judgePath,
  writableRootsOf,
  type ConfineRequest,
  type ConfinedCommand,
  type ConfinedOutcome,
  type SandboxDenial,
  type SandboxPolicy,
  type SandboxStatus,
} from '@deepseek-ai/dsh-sandbox'
import { RepositoryAudit } from './audit.ts'
import { confirmDenials } from './denial.ts'
import { RunningCalls, sharedWith } from './calls.ts'
import { Bubblewrap, versionOf, type Launch } from './bubblewrap.ts'
import { Config, type SandboxLocalOptions } from './config.ts'
import { inheritedDescriptors } from './descriptors.ts'
import { SessionNetwork, type PreparedNetwork } from './network/index.ts'
import { findPrograms } from './network/programs.ts'
import { Placeholders } from './placeholders.ts'
import { mountPlan, type PlanWorld } from './plan.ts'
import { probe, type ProbeShape } from './probe.ts'
import { currentIdentity } from './reach.ts'
import { INSTALL_BUBBLEWRAP, machineFacts, remedyFor } from './remedy.ts'
import { seatbeltCommand } from './seatbelt-command.ts'
import { TempFolders, besideBase } from './temp-folders.ts'

/** A failed probe is believed for so long: the person may be following the remedy. */
const FAILURE_AGE_MS = 10_000
/** How long a plan is used without looking for new repositories and settings that the host itself may have made. */
const PLAN_AGE_MS = 2000
const PRIVATE = '.sandbox'
const OPEN_NETWORK: PreparedNetwork = { argvPrefix: [], env: {}, unshareNet: false }
const CUT_NETWORK: PreparedNetwork = { argvPrefix: [], env: {}, unshareNet: true }

interface KeptPlan {
  readonly files: Pick<Launch, 'plan' | 'argsFile' | 'filterFile'>
  readonly at: number
}

interface SessionState {
  readonly networks: Map<string, SessionNetwork>
  readonly plans: Map<string, KeptPlan>
  readonly calls: RunningCalls
}

interface ProbeResult {
  readonly failure: string | undefined
  readonly at: number
}

type Runner =
  | { readonly kind: 'bubblewrap'; readonly bubblewrap: Bubblewrap }
  | { readonly kind: 'seatbelt' }
  | { readonly kind: 'none'; readonly reason: string; readonly remedy: string }

interface Setting {
  readonly session: SessionState
  readonly network: PreparedNetwork
  readonly runner: Exclude<Runner, { readonly kind: 'none' }>
  readonly report: Launch['report']
}

export class SandboxLocal extends Sandbox {
  static override readonly name = 'sandbox-local'
  static readonly Config = Config

  private readonly own: Context
  private readonly bwrapPath: string | undefined
  private readonly temps: TempFolders
  private readonly scans = new RepositoryScans()
  private readonly placeholders = new Placeholders()
  private readonly sessions = new Map<string, SessionState>()
  private readonly probes = new Map<string, Promise<ProbeResult>>()
  private readonly inherited = inheritedDescriptors()
  private found: Promise<Runner> | undefined
  private probeCount = 0

  /** Throws `SANDBOX_UNAVAILABLE` when the place for temp folders belongs to someone else. */
  constructor(ctx: Context, options: SandboxLocalOptions = {}) {
    super(ctx)
    this.own = ctx
    this.bwrapPath = options.bwrapPath
    this.temps = new TempFolders(options.tempBase)
    if (this.inherited.beyond.length > 0) {
      const logger = ctx.logger('sandbox-local')
      logger.warn(
        'commands inherit the open descriptors %s of whoever started this process',
        this.inherited.beyond.join(', '),
      )
    }
  }

  *[Service.init](): Generator<() => unknown, void, void> {
    yield this.own.on('session/deleted', (id) => {
      this.forget(id).catch((error: unknown) => {
        this.own.logger('sandbox-local').warn('session %s: %s', id, errorMessage(error))
      })
    })
    yield async () => {
      await Promise.all([...this.sessions.keys()].map((id) => this.forget(id)))
      this.temps.removeAll()
    }
  }

  async status(): Promise<SandboxStatus> {
    const runner = await this.runner()
    if (runner.kind === 'none') return { available: false, reason: runner.reason, remedy: runner.remedy }
    const shape: ProbeShape = { mode: 'workspace-write', network: 'none', nestedNamespaces: false }
    const failure = await this.probed(shape, CUT_NETWORK, runner)
    if (failure !== undefined) return { available: false, reason: failure, remedy: remedyFor(failure, machineFacts()) }
    return {
      available: true,
      runner: runner.kind,
      version: runner.kind === 'bubblewrap' ? runner.bubblewrap.version : '1',
      limits: this.limits(runner),
    }
  }

  async confine(request: ConfineRequest): Promise<ConfinedCommand> {
    const { policy } = request
    if (policy.mode === 'danger-full-access' && policy.network === 'open') {
      throw new SandboxError(
        'full access with an open network confines nothing; run the command as it is',
        'SANDBOX_POLICY_INVALID',
      )
    }
    const runner = await this.runner()
    if (runner.kind === 'none') throw unavailable(runner.reason, runner.remedy)
    const session = this.sessionOf(policy.sessionId)
    const network = await this.networkOf(session, policy, runner)
    const failure = await this.probed(policy, network, runner)
    if (failure !== undefined) throw unavailable(failure, remedyFor(failure, machineFacts()))
    const { report, end } = await this.reporter(request, session)
    try {
      return endingWith(this.commandFor(request, { session, network, runner, report }), end)
    } catch (error) {
      end()
      throw error
    }
  }

  private commandFor(request: ConfineRequest, { session, network, runner, report }: Setting): ConfinedCommand {
    if (runner.kind === 'seatbelt') return seatbeltCommand(request, this.scans, report)
    const files = this.planFor(session, request.policy, network, runner.bubblewrap)
    return runner.bubblewrap.command(request, {
      ...files,
      prefix: network.argvPrefix,
      env: network.env,
      report,
      remedy: (said) => remedyFor(said, machineFacts()),
    })
  }

  temporaryFolder(sessionId: string): string {
    return this.temps.of(sessionId)
  }

  async forget(sessionId: string): Promise<void> {
    const session = this.sessions.get(sessionId)
    this.sessions.delete(sessionId)
    this.placeholders.release(sessionId)
    const runner = await this.found
    if (runner?.kind === 'bubblewrap') session?.plans.forEach(({ files }) => runner.bubblewrap.discard(files))
    await Promise.all([...(session?.networks.values() ?? [])].map((network) => network.dispose()))
    this.temps.remove(sessionId)
  }

  private runner(): Promise<Runner> {
    this.found ??= this.find().then((runner) => {
      // Looked for again: it may be installed meanwhile.
      if (runner.kind === 'none') this.found = undefined
      return runner
    })
    return this.found
  }

  private async find(): Promise<Runner> {
    if (process.platform === 'darwin') return { kind: 'seatbelt' }
    if (process.platform !== 'linux') {
      const reason = `nothing on ${process.platform} confines commands`
      return {
        kind: 'none',
        reason,
        remedy: 'run the harness on Linux (WSL 2 is one) or macOS, or choose the mode danger-full-access',
      }
    }
    const path = this.bwrapPath ?? findPrograms().bwrap
    if (path === undefined)
      return { kind: 'none', reason: 'bubblewrap (bwrap) was not found', remedy: INSTALL_BUBBLEWRAP }
    try {
      const version = await versionOf(path)
      return {
        kind: 'bubblewrap',
        bubblewrap: new Bubblewrap(path, version, this.temps.of(PRIVATE), this.inherited.covered),
      }
    } catch (error) {
      return { kind: 'none', reason: `${path} does not run: ${errorMessage(error)}`, remedy: INSTALL_BUBBLEWRAP }
    }
  }

  private sessionOf(id: string): SessionState {
    let session = this.sessions.get(id)
    if (session === undefined)
      this.sessions.set(id, (session = { networks: new Map(), plans: new Map(), calls: new RunningCalls() }))
    return session
  }

  private async networkOf(session: SessionState, policy: SandboxPolicy, runner: Runner): Promise<PreparedNetwork> {
    if (policy.network === 'open') return OPEN_NETWORK
    if (runner.kind === 'seatbelt') {
      if (policy.network === 'none') return CUT_NETWORK
      throw unavailable('the network mode allowlist needs Linux', 'choose the network mode none or open')
    }
    return networkFor(session, policy).prepare()
  }

  /** What failed, if anything; one probe for all policies of a shape, however many ask at once. */
  private async probed(policy: ProbeShape, network: PreparedNetwork, runner: Runner): Promise<string | undefined> {
    const { mode, network: kind, nestedNamespaces, unixSockets = false } = policy
    const shape: ProbeShape = { mode, network: kind, nestedNamespaces, unixSockets }
    const key = [mode, kind, nestedNamespaces, unixSockets, network.unshareNet].join()
    const known = await this.probes.get(key)
    if (known && (known.failure === undefined || performance.now() - known.at < FAILURE_AGE_MS)) return known.failure
    // Whoever came first while we waited has started it already.
    const running = known === undefined ? this.probes.get(key) : undefined
    const result = running ?? this.startProbe(shape, network, runner)
    this.probes.set(key, result)
    return (await result).failure
  }

  private async startProbe(shape: ProbeShape, network: PreparedNetwork, runner: Runner): Promise<ProbeResult> {
    // Of its own: probes of several shapes may run at once, and what they write is looked at.
    const id = `${PRIVATE}-probe-${++this.probeCount}`
    try {
      const failure = await probe(shape, {
        parent: besideBase(this.temps.base),
        tempDir: this.temps.of(id),
        hasProc: process.platform === 'linux',
        confine: (request) => this.probeCommand(request, network, runner),
      })
      return { failure, at: performance.now() }
    } catch (error) {
      return { failure: errorMessage(error), at: performance.now() }
    } finally {
      this.temps.remove(id)
    }
  }

  private probeCommand(request: ConfineRequest, network: PreparedNetwork, runner: Runner): ConfinedCommand {
    const report = async (): Promise<Record<string, never>> => ({})
    if (runner.kind !== 'bubblewrap') return seatbeltCommand(request, new RepositoryScans(), report)
    const { bubblewrap } = runner
    const files = bubblewrap.prepare(
      mountPlan(request.policy, network.unshareNet, this.world(bubblewrap)),
      request.policy,
    )
    const command = bubblewrap.command(request, {
      ...files,
      prefix: network.argvPrefix,
      env: network.env,
      report,
      remedy: () => '',
    })
    return {
      ...command,
      release: () => {
        command.release()
        bubblewrap.discard(files)
      },
    }
  }

  private planFor(
    session: SessionState,
    policy: SandboxPolicy,
    network: PreparedNetwork,
    bubblewrap: Bubblewrap,
  ): KeptPlan['files'] {
    const key = JSON.stringify([policy, network.unshareNet])
    const known = session.plans.get(key)
    if (known && performance.now() - known.at < PLAN_AGE_MS && known.files.plan.current()) return known.files
    const plan = mountPlan(policy, network.unshareNet, this.world(bubblewrap))
    this.placeholders.hold(policy.sessionId, plan.placeholders)
    const same = known !== undefined && known.files.plan.options.join('\0') === plan.options.join('\0')
    if (known && !same) bubblewrap.discard(known.files)
    const files = same ? { ...known.files, plan } : bubblewrap.prepare(plan, policy)
    session.plans.set(key, { files, at: performance.now() })
    return files
  }

  private world(bubblewrap: Bubblewrap): PlanWorld {
    return {
      scans: this.scans,
      who: currentIdentity(),
      tempBase: this.temps.base,
      emptyFile: this.temps.emptyFile(),
      canDisableUserNamespaces: bubblewrap.canDisableUserNamespaces,
      isPlaceholder: (path) => this.placeholders.has(path),
    }
  }

  /** Looks at the workspace before the command, and tells afterwards what it left and what was refused. */
  private async reporter(
    request: ConfineRequest,
    session: SessionState,
  ): Promise<{ readonly report: Launch['report']; readonly end: () => void }> {
    const { policy, workdir } = request
    const roots = writableRootsOf(policy)
    const startedAt = Date.now()
    const audit = roots.length > 0 ? new RepositoryAudit(roots) : undefined
    await audit?.before()
    const call = session.calls.begin()
    const report: Launch['report'] = async (outcome) => {
      for (const root of roots) this.expire(root, session)
      const found = await auditAfter(audit)
      const refused = networkDenials(session, policy, startedAt)
      const shared = found.length + refused.length > 0 ? sharedWith(call) : []
      const warnings = [...found, ...shared, ...this.planWarnings(session, policy)]
      const denied = [...this.denials(outcome, policy, workdir), ...refused]
      return { ...(denied.length > 0 ? { denied } : {}), ...(warnings.length > 0 ? { warnings } : {}) }
    }
    return { report, end: () => session.calls.end(call) }
  }

  private expire(root: string, session: SessionState): void {
    this.scans.expire(root)
    for (const [key, kept] of session.plans) session.plans.set(key, { ...kept, at: Number.NEGATIVE_INFINITY })
  }

  private planWarnings(session: SessionState, policy: SandboxPolicy): readonly string[] {
    const kept = [...session.plans].find(([key]) => key.startsWith(`[${JSON.stringify(policy)}`))
    return kept?.[1].files.plan.warnings ?? []
  }

  private denials(outcome: ConfinedOutcome, policy: SandboxPolicy, workdir: string): SandboxDenial[] {
    if (policy.mode === 'danger-full-access') return []
    return confirmDenials({
      outcome,
      policy,
      workdir,
      judge: (path, access) => judgePath(path, access, policy, this.scans),
    })
  }

  private limits(runner: Runner): string[] {
    const limits = [
      'repositories that a command makes are protected from the next command on',
      'hard links that exist already lead out',
    ]
    if (runner.kind === 'seatbelt') return [...limits.slice(1), 'no network allowlist', 'host processes stay visible']
    if (findPrograms().nsenter === undefined)
      limits.push('no network allowlist, and no server shared between calls: install util-linux')
    if (runner.kind === 'bubblewrap' && !runner.bubblewrap.canDisableUserNamespaces) {
      limits.push('bubblewrap before 0.8: user namespaces are refused by the system call filter alone')
    }
    return limits
  }
}

function networkFor(session: SessionState, policy: SandboxPolicy): SessionNetwork {
  const key = JSON.stringify([policy.network, policy.allowedHosts])
  let network = session.networks.get(key)
  if (network === undefined) {
    network = new SessionNetwork({
      sessionId: policy.sessionId,
      network: policy.network === 'allowlist' ? 'allowlist' : 'none',
      allowedHosts: policy.allowedHosts,
    })
    session.networks.set(key, network)
  }
  return network
}

function endingWith(command: ConfinedCommand, end: () => void): ConfinedCommand {
  return {
    ...command,
    finish: (outcome) => command.finish(outcome).finally(end),
    release: () => {
      end()
      command.release()
    },
  }
}

function networkDenials(session: SessionState, policy: SandboxPolicy, since: number): SandboxDenial[] {
  return policy.network === 'allowlist' ? networkFor(session, policy).denials(since) : []
}

async function auditAfter(audit: RepositoryAudit | undefined): Promise<string[]> {
  try {
    return (await audit?.after()) ?? []
  } catch (error) {
    return [`the workspace could not be looked through for what the command left: ${errorMessage(error)}`]
  }
}

function unavailable(reason: string, remedy: string): SandboxError {
  return new SandboxError(`commands cannot be confined here: ${reason}; ${remedy}`, 'SANDBOX_UNAVAILABLE')
}
