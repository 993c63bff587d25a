// Owns one session's network: when it is made, what a command needs to run in it, what was refused, how it ends.
// The namespace and the proxy do the work; confining the command itself is not done here.
import { SandboxError, type SandboxDenial } from '@deepseek-ai/dsh-sandbox'
import { isPublicAddress } from './addresses.ts'
import { DenialLog } from './denial-log.ts'
import { resolveHost, type Destinations } from './destination.ts'
import { parseHostPattern, type HostPattern } from './hosts.ts'
import { openNamespace, type NetworkNamespace } from './namespace.ts'
import { findPrograms, type NetworkPrograms } from './programs.ts'
import { AllowlistProxy } from './proxy.ts'

export interface SessionNetworkOptions {
  readonly sessionId: string
  readonly network: 'none' | 'allowlist'
  /** Exact names, `*.example.com` for everything below, either with `:port`. Read for `allowlist` only. */
  readonly allowedHosts: readonly string[]
  /** How names become addresses. Default: the system's resolver. */
  readonly resolve?: Destinations['resolve'] | undefined
  /** Which addresses the proxy may reach. Default: public ones that are not this machine's own. */
  readonly isPublic?: Destinations['isPublic'] | undefined
  /** Default: looked up in the system's folders, then in `PATH`. */
  readonly programs?: NetworkPrograms | undefined
}

/** What a command needs to run in the session's network. */
export interface PreparedNetwork {
  /** Goes in front of the runner's argv; empty when the runner has to cut the network itself. */
  readonly argvPrefix: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** The runner must give the command a network namespace of its own. */
  readonly unshareNet: boolean
}

/** Nothing else listens in a fresh namespace; the conventional port of a proxy is the one people recognise. */
const PROXY_PORT = 3128

/**
 * One network namespace for every call of a session, so that a server started by one call answers the next; never the host's
 * loopback. It is held by two descriptors of this process and by whatever runs inside, so nothing has to be kept running for it
 * and nothing outlives the host.
 *
 * The constructor throws `SANDBOX_POLICY_INVALID` for a host pattern that is not one.
 */
export class SessionNetwork {
  private readonly options: SessionNetworkOptions
  private readonly patterns: readonly HostPattern[]
  private readonly log = new DenialLog()
  private namespace: NetworkNamespace | undefined
  private proxy: AllowlistProxy | undefined
  private prepared: Promise<PreparedNetwork> | undefined
  private disposal: Promise<void> | undefined

  constructor(options: SessionNetworkOptions) {
    this.options = options
    this.patterns = options.network === 'allowlist' ? options.allowedHosts.map(parseHostPattern) : []
  }

  /**
   * Made once and shared by concurrent callers; a failure is tried anew by the next call. `none` never rejects while the session
   * lives: where namespaces cannot be shared, each call gets one of its own. `allowlist` rejects with `SANDBOX_UNAVAILABLE`.
   */
  prepare(): Promise<PreparedNetwork> {
    if (this.disposal) return Promise.reject(this.unavailable('the session has ended'))
    this.prepared ??= this.open().catch((error: unknown) => {
      this.prepared = undefined
      throw error
    })
    return this.prepared
  }

  /** What the proxy refused since then (milliseconds of the epoch), each destination once, newest last, at most 20. */
  denials(sinceMs: number): SandboxDenial[] {
    return this.log.since(sinceMs)
  }

  /** Ends the proxy with its connections and lets go of the namespace. Commands that still run keep it, without a proxy. */
  dispose(): Promise<void> {
    this.disposal ??= this.close()
    return this.disposal
  }

  private async open(): Promise<PreparedNetwork> {
    const programs = this.options.programs ?? findPrograms()
    if (this.options.network === 'allowlist') return this.openAllowlist(programs)
    try {
      this.namespace = await openNamespace(programs)
      return { argvPrefix: this.namespace.prefix, env: {}, unshareNet: false }
    } catch {
      // Just as confined, only that a server of one call is out of the next one's reach.
      return { argvPrefix: [], env: {}, unshareNet: true }
    }
  }

  private async openAllowlist(programs: NetworkPrograms): Promise<PreparedNetwork> {
    const namespace = await openNamespace(programs).catch((cause: unknown) => {
      throw this.unavailable(cause instanceof Error ? cause.message : String(cause), cause)
    })
    const proxy = new AllowlistProxy({
      patterns: this.patterns,
      resolve: this.options.resolve ?? resolveHost,
      isPublic: this.options.isPublic ?? isPublicAddress,
      onDenied: (target, rule) => this.log.add(target, rule),
    })
    try {
      await proxy.serve(await namespace.listen(PROXY_PORT))
    } catch (cause) {
      await proxy.close()
      namespace.close()
      throw this.unavailable(cause instanceof Error ? cause.message : String(cause), cause)
    }
    this.namespace = namespace
    this.proxy = proxy
    return { argvPrefix: namespace.prefix, env: proxyEnvironment(PROXY_PORT), unshareNet: false }
  }

  private async close(): Promise<void> {
    // The caller of prepare() hears of a failure; here it only matters that it is over.
    await this.prepared?.catch(() => {})
    await this.proxy?.close()
    this.namespace?.close()
  }

  private unavailable(reason: string, cause?: unknown): SandboxError {
    return new SandboxError(
      `The network "${this.options.network}" of session ${this.options.sessionId} cannot be set up: ${reason}`,
      'SANDBOX_UNAVAILABLE',
      { cause },
    )
  }
}

const proxyEnvironment = (port: number): Record<string, string> => {
  const proxy = `http://127.0.0.1:${port}`
  const direct = 'localhost,.localhost,127.0.0.1,::1'
  const both = (name: string, value: string) => ({ [name]: value, [name.toLowerCase()]: value })
  return {
    ...both('HTTP_PROXY', proxy),
    ...both('HTTPS_PROXY', proxy),
    ...both('ALL_PROXY', proxy),
    ...both('NO_PROXY', direct),
    // Node's own fetch and http look at the variables above only when told to (22.21 and 24.5 on).
    NODE_USE_ENV_PROXY: '1',
  }
}
