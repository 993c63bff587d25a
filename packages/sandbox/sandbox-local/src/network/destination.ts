// Decides about one destination, and connects to exactly the addresses that were decided about.
import { lookup } from 'node:dns/promises'
import type { LookupAddress } from 'node:dns'
import { connect, isIP, type Socket } from 'node:net'
import type { SandboxRule } from '@deepseek-ai/dsh-sandbox'
import { matchesPattern, type HostPattern } from './hosts.ts'

export interface Destinations {
  readonly patterns: readonly HostPattern[]
  /** Every address of a name; rejects when there is none. */
  resolve(host: string): Promise<readonly LookupAddress[]>
  /** Whether the proxy may connect there. */
  isPublic(address: string): boolean
}

export type Verdict =
  | { readonly allowed: true; readonly addresses: readonly LookupAddress[] }
  | { readonly allowed: false; readonly rule: SandboxRule }

export const resolveHost = (host: string): Promise<LookupAddress[]> => lookup(host, { all: true, verbatim: true })

/**
 * The name is judged before it is resolved: a lookup of a name that is not allowed would already carry data out.
 * Rejects when an allowed name has no address.
 */
export const judgeDestination = async (rules: Destinations, host: string, port: number): Promise<Verdict> => {
  if (!rules.patterns.some((pattern) => matchesPattern(pattern, host, port)))
    return { allowed: false, rule: 'host-not-allowed' }
  const family = isIP(host)
  const addresses = family === 0 ? await rules.resolve(host) : [{ address: host, family }]
  const reachable = addresses.filter(({ address }) => rules.isPublic(address))
  return reachable.length > 0 ? { allowed: true, addresses: reachable } : { allowed: false, rule: 'private-address' }
}

const CONNECT_TIMEOUT_MS = 30_000

/**
 * Resolves with a connected socket. The name is not resolved again: a second lookup could give another address than the checked one.
 * `onSocket` gets the socket before it is connected; destroying it rejects.
 */
export const dial = (
  host: string,
  port: number,
  addresses: readonly LookupAddress[],
  onSocket: (socket: Socket) => void,
): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port,
      allowHalfOpen: true,
      autoSelectFamily: true,
      lookup: (_host, _options, done) => done(null, [...addresses]),
    })
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => socket.destroy(new Error(`${host}:${port} did not answer in time`)))
    socket.once('close', () => reject(new Error('the connection was closed')))
    // Stays: a socket without a listener would end the process when it breaks between two owners.
    socket.on('error', reject)
    socket.once('connect', () => {
      socket.setTimeout(0)
      resolve(socket)
    })
    onSocket(socket)
  })
