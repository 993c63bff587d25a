// The HTTP proxy of a session: tunnels (CONNECT) and plain requests in absolute form, to allowed destinations only.
// It neither caches nor looks into tunnels.
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Server, Socket } from 'node:net'
import { pipeline, type Duplex } from 'node:stream'
import type { SandboxRule } from '@deepseek-ai/dsh-sandbox'
import { dial, judgeDestination, type Destinations } from './destination.ts'
import { normalizeHost, parseAuthority } from './hosts.ts'

export interface ProxyOptions extends Destinations {
  /** Called before the refusal is sent. Must not throw. */
  onDenied(target: string, rule: SandboxRule): void
}

/** Each costs this process two descriptors, and whoever asks is not trusted. */
const MAX_CONNECTIONS = 256

const WHY: Partial<Record<SandboxRule, string>> = {
  'host-not-allowed': 'the sandbox policy does not allow this host and port',
  'private-address': 'the name leads to this machine or to a private network, which the sandbox policy does not allow',
}

export class AllowlistProxy {
  private readonly options: ProxyOptions
  // Uploads may take as long as they take; the default would cut them after five minutes.
  private readonly server = createServer({ requestTimeout: 0 })
  private readonly sockets = new Set<Duplex>()

  constructor(options: ProxyOptions) {
    this.options = options
    this.server.maxConnections = MAX_CONNECTIONS
    this.server.on('connection', (socket) => this.track(socket))
    this.server.on('connect', (request, socket, head) => void this.tunnel(request, socket, head))
    this.server.on('request', (request, response) => void this.forward(request, response))
  }

  /** Takes over the socket of a server that listens already. Does not keep the process alive. */
  serve(listening: Server): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject)
      this.server.listen(listening, () => {
        this.server.off('error', reject)
        // Note: accept() fails when descriptors run out; the connection is lost, the proxy is not.
        this.server.on('error', () => {})
        this.server.unref()
        resolve()
      })
    })
  }

  /** Stops listening and cuts every connection. Idempotent. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()))
    for (const socket of this.sockets) socket.destroy()
    await closed
  }

  private async tunnel(request: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    const answer = (status: string, text: string): void => {
      const body = `${text}\n`
      client.end(
        `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      )
    }
    client.on('error', () => client.destroy())
    const upstream = await this.reach(parseAuthority(request.url ?? ''), request.url ?? '', answer)
    if (!upstream) return
    if (client.destroyed) {
      upstream.destroy()
      return undefined
    }
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    if (head.length > 0) upstream.write(head)
    join(client, upstream)
  }

  private async forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = (status: string, text: string): void => {
      response.writeHead(Number.parseInt(status, 10), { 'content-type': 'text/plain', connection: 'close' })
      response.end(`${text}\n`)
    }
    const url = URL.canParse(request.url ?? '') ? new URL(request.url as string) : undefined
    if (url?.protocol !== 'http:')
      return answer('400 Bad Request', 'This is a proxy: it takes http:// URLs and CONNECT.')
    const host = normalizeHost(url.hostname)
    const destination = host === undefined ? undefined : { host, port: Number(url.port || 80) }
    const upstream = await this.reach(destination, url.host, answer)
    if (!upstream) return
    if (response.destroyed) {
      upstream.destroy()
      return undefined
    }
    relay(request, response, url, upstream, () => answer('502 Bad Gateway', `${url.host} did not answer properly.`))
  }

  /** A connected socket, or `undefined` after the refusal or failure has been answered. */
  private async reach(
    destination: { host: string; port: number } | undefined,
    asked: string,
    answer: (status: string, text: string) => void,
  ): Promise<Socket | undefined> {
    const refuse = (target: string, rule: SandboxRule): void => {
      this.options.onDenied(target, rule)
      answer('403 Forbidden', `${target}: ${WHY[rule] ?? rule}.`)
    }
    if (!destination) {
      refuse(printable(asked), 'host-not-allowed')
      return undefined
    }
    const { host, port } = destination
    const target = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
    try {
      const verdict = await judgeDestination(this.options, host, port)
      if (!verdict.allowed) {
        refuse(target, verdict.rule)
        return undefined
      }
      return await dial(host, port, verdict.addresses, (socket) => this.track(socket))
    } catch (error) {
      answer(
        '502 Bad Gateway',
        `${target} cannot be reached: ${error instanceof Error ? error.message : String(error)}`,
      )
      return undefined
    }
  }

  private track(socket: Duplex): void {
    this.sockets.add(socket)
    socket.once('close', () => this.sockets.delete(socket))
    // A connection that is dialled while the proxy closes must not outlive it.
    if (!this.server.listening) socket.destroy()
  }
}

/** What a client sent instead of `host:port`, short and on one line. */
const printable = (text: string): string => text.replaceAll(/[^\x21-\x7e]/g, '?').slice(0, 300)

/** Both ways until each side has ended; a broken side breaks the other. */
const join = (client: Duplex, upstream: Socket): void => {
  splice(client, upstream)
  splice(upstream, client)
}

const splice = (from: Duplex, to: Duplex): void => {
  from.pipe(to)
  from.on('error', () => to.destroy())
  from.on('close', () => {
    // The last bytes of a side that ended properly may still be on their way; nothing can come back to it any more.
    if (from.readableEnded && !to.writableFinished) to.once('finish', () => to.destroy())
    else to.destroy()
  })
}

/** Meaningful between two hops only; `connection` may name more. */
const HOP_BY_HOP = ['connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'te', 'trailer', 'upgrade']

const FRAMING = ['content-length', 'transfer-encoding']

const relay = (
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  upstream: Socket,
  failed: () => void,
): void => {
  // The name that was judged is the name that is asked for, whatever the client's own Host header says.
  const headers = ['Host', url.host, ...endToEnd(request.rawHeaders, ['host'])]
  const fail = (): void => {
    if (response.headersSent) response.destroy()
    else failed()
  }
  // Note: the request keeps its framing headers, a body without them would be read as a second request.
  const outgoing = httpRequest({
    createConnection: () => upstream,
    method: request.method,
    path: `${url.pathname}${url.search}`,
    headers,
  })
  outgoing.on('error', fail)
  outgoing.on('response', (incoming) => {
    try {
      response.sendDate = false
      response.writeHead(
        incoming.statusCode ?? 502,
        incoming.statusMessage ?? '',
        // The body is framed anew, as the client's version of HTTP wants it.
        endToEnd(incoming.rawHeaders, ['transfer-encoding']),
      )
    } catch {
      // Header bytes that Node reads but does not write.
      return fail()
    }
    // A body that broke off destroys the response: the client sees a cut connection, not a short file.
    pipeline(incoming, response, () => {})
  })
  response.on('close', () => upstream.destroy())
  pipeline(request, outgoing, () => {})
}

const endToEnd = (raw: readonly string[], more: readonly string[]): string[] => {
  const pairs = raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] as string] as const] : []))
  const named = pairs
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(',').map((token) => token.trim().toLowerCase()))
    .filter((name) => !FRAMING.includes(name))
  const dropped = new Set([...HOP_BY_HOP, ...more, ...named])
  return pairs.filter(([name]) => !dropped.has(name.toLowerCase())).flat()
}
