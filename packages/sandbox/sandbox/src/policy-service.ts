// `ctx.sandboxPolicy`: decides which policy a call runs under. Enforcing it is the business of `ctx.sandbox` and of the file tools.
import { mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Service, fillDefaults, type Context } from '@deepseek-ai/cordis'
import { followSession, type Session } from '@deepseek-ai/dsh-session'
import { POLICY_DEFAULTS, sandboxPolicyConfig } from './config.ts'
import { builtInDeniedReads } from './credentials.ts'
import { SandboxError } from './errors.ts'
import { judgePath, type SandboxVerdict } from './judge.ts'
import { isWithin, realPathOf } from './paths.ts'
import { policyText } from './prompt.ts'
import type { PolicyRequest, SandboxPolicies, SandboxPolicyConfig } from './policy-types.ts'
import { RepositoryScans, linkedWorktreeFolders } from './repositories.ts'
import {
  SANDBOX_MODES,
  type SandboxAccess,
  type SandboxMode,
  type SandboxNetwork,
  type SandboxPolicy,
} from './types.ts'

declare module '@deepseek-ai/cordis' {
  interface Context {
    sandboxPolicy: SandboxPolicyService
  }
}

/** The owner of calls without a session. */
const NO_SESSION = 'host'
/** How long the real paths of denied reads are believed. */
const DENIED_AGE_MS = 5000

/** What this needs of `ctx.systemPrompt`, whose package stands above this one. */
interface PromptContexts {
  context(part: { name: string; order: number; text: (asking: { scope?: object }) => string }): () => void
}

/** The part of `agent/pre-step` that matters here. */
type BeforeStep = (event: { agent: { session?: Session } }, next: () => unknown) => unknown

export class SandboxPolicyService extends Service implements SandboxPolicies {
  static override readonly name = 'sandbox-policy'
  static readonly Config = sandboxPolicyConfig

  readonly defaultMode: SandboxMode
  readonly network: SandboxNetwork
  private readonly config: SandboxPolicyConfig
  private readonly own: Context
  private readonly scans = new RepositoryScans()
  private readonly modes = new WeakMap<Session, Promise<() => SandboxMode | undefined>>()
  /** The same as in `modes` once they are read, for the prompt, which cannot wait. */
  private readonly known = new WeakMap<Session, () => SandboxMode>()
  /** Temp folders of sessions while no provider makes them. */
  private readonly temps = new Map<string, string>()
  private denied: { paths: string[]; at: number } | undefined

  constructor(ctx: Context, options: Partial<SandboxPolicyConfig> = {}) {
    super(ctx, 'sandboxPolicy')
    const tracker = Reflect.get(this, Service.tracker) as { noShadow?: boolean }
    tracker.noShadow = true
    this.own = ctx
    this.config = fillDefaults(POLICY_DEFAULTS, options)
    this.defaultMode = this.config.mode
    this.network = this.config.network
  }

  *[Service.init](): Generator<() => void, void, void> {
    yield this.own.on('session/deleted', (id) => this.dropTemp(id))
    this.own.inject(['systemPrompt'], (child) => {
      const prompt = Reflect.get(child, 'systemPrompt') as PromptContexts
      prompt.context({ name: 'sandbox-policy', order: 50, text: ({ scope }) => this.told(scope) })
      const on = child.on.bind(child) as unknown as (event: string, listener: BeforeStep) => void
      on('agent/pre-step', async ({ agent }, next) => {
        // The prompt is made without waiting, and must not tell a mode that the log then takes back.
        if (agent.session !== undefined && !this.known.has(agent.session)) await this.currentMode(agent.session)
        return next()
      })
    })
    yield () => [...this.temps.keys()].forEach((id) => this.dropTemp(id))
  }

  async resolve({ session, mode: asked }: PolicyRequest): Promise<SandboxPolicy> {
    const mode = asked === undefined ? await this.currentMode(session) : checkedMode(asked)
    const root = existingFolder(session?.cwd ?? process.cwd(), 'workspace')
    const extra = this.config.writableRoots.map((path) => existingFolder(expandHome(path), 'writable folder'))
    if (mode === 'workspace-write') [root, ...extra].forEach(refuseHome)
    const sessionId = session?.id ?? NO_SESSION
    return {
      mode,
      network: this.network,
      allowedHosts: this.config.allowedHosts.map((host) => host.toLowerCase()),
      root,
      writableRoots: mode === 'workspace-write' ? [...extra, ...linkedWorktreeFolders(root)] : [],
      deniedReads: this.deniedReads(),
      tempDir: this.temporaryFolder(sessionId),
      sessionId,
      nestedNamespaces: this.config.nestedNamespaces,
      unixSockets: this.config.unixSockets,
    }
  }

  modeOf(session: Session): Promise<SandboxMode> {
    return this.currentMode(session)
  }

  async setMode(session: Session, mode: SandboxMode, by: 'user' | 'host' = 'user'): Promise<void> {
    session.append('sandbox/mode', { mode: checkedMode(mode), by })
  }

  judge(path: string, access: SandboxAccess, policy: SandboxPolicy): SandboxVerdict {
    return judgePath(path, access, policy, this.scans)
  }

  /** A changing fact, so that it goes with the conversation and not into the prefix that providers cache. */
  private told(scope: { session?: Session } | undefined): string {
    if (this.own.get('sandbox') === undefined) return ''
    const session = scope?.session
    // Before the log is read nothing is told; a step of an agent waits for that.
    const mode = session === undefined ? this.defaultMode : this.known.get(session)?.()
    if (mode === undefined) return ''
    return policyText({
      mode,
      network: this.network,
      allowedHosts: this.config.allowedHosts.map((host) => host.toLowerCase()),
      writableRoots: this.config.writableRoots,
      escalation: this.own.get('approval' as never) !== undefined,
    })
  }

  private async currentMode(session: Session | undefined): Promise<SandboxMode> {
    if (session === undefined) return this.defaultMode
    let following = this.modes.get(session)
    if (following === undefined) {
      following = followSession<SandboxMode | undefined>(session, undefined, (mode, event) =>
        event.type === 'sandbox/mode' ? (event.data as { mode: SandboxMode }).mode : mode,
      )
      this.modes.set(session, following)
      // A log that could not be read is tried again by the next call; this one hears of it below.
      following.then(
        (state) => this.known.set(session, () => state() ?? this.defaultMode),
        () => this.modes.delete(session),
      )
    }
    return (await following)() ?? this.defaultMode
  }

  private deniedReads(): string[] {
    if (this.denied && performance.now() - this.denied.at < DENIED_AGE_MS) return this.denied.paths
    const home = homedir()
    const harnessHome = resolve(process.env['DSH_HOME'] || join(home, '.dsh'))
    const listed = [...builtInDeniedReads(home, harnessHome), ...this.config.deniedReads.map(expandHome)]
    const paths = [...new Set(listed.map((path) => realPathOf(path)))]
    this.denied = { paths, at: performance.now() }
    return paths
  }

  private temporaryFolder(sessionId: string): string {
    const sandbox = this.own.get('sandbox')
    if (sandbox !== undefined) return sandbox.temporaryFolder(sessionId)
    const known = this.temps.get(sessionId)
    if (known !== undefined) return known
    const made = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-session-')))
    this.temps.set(sessionId, made)
    return made
  }

  private dropTemp(sessionId: string): void {
    const folder = this.temps.get(sessionId)
    if (folder === undefined) return
    this.temps.delete(sessionId)
    rmSync(folder, { recursive: true, force: true })
  }
}

function checkedMode(mode: SandboxMode): SandboxMode {
  if (SANDBOX_MODES.includes(mode)) return mode
  throw new SandboxError(
    `the sandbox mode is ${JSON.stringify(mode)}; it must be one of ${SANDBOX_MODES.join(', ')}`,
    'SANDBOX_MODE_INVALID',
  )
}

function existingFolder(path: string, what: string): string {
  const real = realPathOf(path)
  if (statSync(real, { throwIfNoEntry: false })?.isDirectory()) return real
  throw new SandboxError(
    `the ${what} ${JSON.stringify(path)} is no existing folder; create it or name another`,
    'SANDBOX_POLICY_INVALID',
  )
}

function refuseHome(root: string): void {
  const home = realPathOf(homedir())
  if (!isWithin(home, root)) return
  throw new SandboxError(
    `commands may not write ${JSON.stringify(root)}: it is ${root === home ? 'the home folder' : 'above the home folder'}, with every key and ` +
      'startup file in it; work in a folder below, or choose the mode read-only or danger-full-access',
    'SANDBOX_POLICY_INVALID',
  )
}

function expandHome(path: string): string {
  return path.startsWith('~/') ? join(homedir(), path.slice(2)) : path
}
