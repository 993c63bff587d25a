// Reads out of what programs say which hosts they could not reach for want of a network.

/** With the host, where the program names it, and the port. */
const NAMING: readonly RegExp[] = [
  /could not resolve (?:host|hostname):? (?<host>[\w.-]+)/i,
  /(?:getaddrinfo|queryA{1,4}) (?:EAI_AGAIN|ENOTFOUND|ECONNREFUSED) (?<host>[\w.-]+)/,
  /unable to resolve host address [‘'"`](?<host>[\w.-]+)/i,
  /failed to resolve [‘'"`](?<host>[\w.-]+)/i,
  /dial tcp: lookup (?<host>[\w.-]+)/,
  /connect (?:ENETUNREACH|EHOSTUNREACH) (?<host>\[?[\da-f.:]+?\]?):(?<port>\d+)/i,
  /failed to connect to (?<host>[\w.-]+) port (?<port>\d+)/i,
]

const NAMELESS = /\bEAI_AGAIN\b|\bENETUNREACH\b|temporary failure in name resolution|network is unreachable/i
/** What talks over Unix sockets: container engines, agents of keys. */
const SOCKET = /(?:\bunix\b|\.sock\b|\bsocket\b|\bagent\b).*(?:operation not permitted|\bEPERM\b)/i
const LOOPBACK = /^(?:localhost|127\.[\d.]+|\[?::1\]?)$/i

/** `host:port`, `host` where no port is told; one empty string when something could not be reached and nothing names it. */
export function unreachableHosts(stderr: string): string[] {
  const found = new Set<string>()
  let nameless = false
  for (const line of stderr.split(/[\r\n]+/).map((each) => each.slice(0, 4_096))) {
    const { host, port } = NAMING.map((pattern) => pattern.exec(line)?.groups).find(Boolean) ?? {}
    if (host === undefined) nameless ||= NAMELESS.test(line) || SOCKET.test(line)
    else if (!LOOPBACK.test(host)) found.add(`${host.replace(/\.$/, '')}${port === undefined ? '' : `:${port}`}`)
  }
  return found.size === 0 && nameless ? [''] : [...found]
}
