// Host patterns: how they are written, and which destinations they allow. Addresses behind a name are not judged here.
import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import { SandboxError } from '@deepseek-ai/dsh-sandbox'

export interface HostPattern {
  /** Everything below `host`, not `host` itself. */
  readonly wildcard: boolean
  /** Normal form of `normalizeHost`. */
  readonly host: string
  /** Omitted: the ports of HTTP and HTTPS. */
  readonly port?: number
}

const WEB_PORTS: readonly number[] = [80, 443]

const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?'
/** A name whose last label is a number is read as an IPv4 address by resolvers, in any of its odd spellings. */
const NAME = new RegExp(`^(?:${LABEL}\\.)*(?!(?:\\d+|0x[0-9a-f]*)$)${LABEL}$`)

/**
 * One spelling for each host: lower case, punycode, no trailing dot; an IPv6 address in its shortest form without brackets.
 * `undefined` for what is neither a name nor an address.
 */
export const normalizeHost = (text: string): string | undefined => {
  const host = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text
  const family = isIP(host)
  if (family === 4) return host
  if (family === 6) return host.includes('%') ? undefined : new URL(`http://[${host}]`).hostname.slice(1, -1)
  // Note: what follows would cut "a/b" to "a" and decode "%61"; only letters beyond ASCII need its translation.
  if (host !== text || /[^\w.\-\u0080-\uffff]/.test(host)) return undefined
  const name = domainToASCII(host.endsWith('.') ? host.slice(0, -1) : host).toLowerCase()
  return name.length <= 253 && NAME.test(name) ? name : undefined
}

/** Splits `host:port`, the host perhaps an IPv6 address in brackets. */
export const parseAuthority = (text: string): { host: string; port: number } | undefined => {
  const match = /^(\[[^\]]*\]|[^:[\]]+):(\d{1,5})$/.exec(text)
  if (!match) return undefined
  const host = normalizeHost(match[1] as string)
  const port = Number(match[2])
  return host !== undefined && port >= 1 && port <= 65_535 ? { host, port } : undefined
}

/** Throws `SANDBOX_POLICY_INVALID`. */
export const parseHostPattern = (text: string): HostPattern => {
  const wildcard = text.startsWith('*.')
  const rest = wildcard ? text.slice(2) : text
  const authority = parseAuthority(rest)
  const host = authority?.host ?? normalizeHost(rest)
  if (host === undefined || (wildcard && isIP(host) !== 0)) {
    throw new SandboxError(
      `allowedHosts: ${JSON.stringify(text)} is not a host pattern; write "example.com", "*.example.com", either with ":port"`,
      'SANDBOX_POLICY_INVALID',
    )
  }
  return authority ? { wildcard, host, port: authority.port } : { wildcard, host }
}

/** `host` in normal form. */
export const matchesPattern = (pattern: HostPattern, host: string, port: number): boolean => {
  const named = pattern.wildcard ? isIP(host) === 0 && host.endsWith(`.${pattern.host}`) : host === pattern.host
  return named && (pattern.port === undefined ? WEB_PORTS.includes(port) : port === pattern.port)
}
