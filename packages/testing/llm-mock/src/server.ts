// The HTTP server: routes, records what arrived, and hands each request to its behaviour.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { MockBehaviour, MockScript } from './behaviour.ts'
import { followTools } from './follow-tools.ts'
import { perform } from './perform.ts'

export interface MockRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** Parsed JSON body; empty when it was none. */
  readonly body: Readonly<Record<string, unknown>>
  /** Settles when the connection or the answer has ended: `client` when the client closed first. */
  readonly closed: Promise<'client' | 'server'>
}

export interface MockLlmOptions {
  /** Default: follow the tools. */
  script?: MockScript
  /** Listed by `GET /v1/models`. Default `mock-model`. */
  models?: readonly string[]
  /** Requests with another key are answered 401. Omitted: any key, or none. */
  apiKey?: string
}

export interface MockLlm {
  /** Base URL with `/v1`; without it works too. */
  readonly url: string
  readonly port: number
  /** Every completion request so far, oldest first. */
  readonly requests: readonly MockRequest[]
  /** Adds behaviours to the queue; they come before a script function. */
  enqueue(...behaviours: MockBehaviour[]): void
  /** Resolves with the request of that number (from 1) once it has arrived. */
  request(number: number): Promise<MockRequest>
  /** Closes every connection, stalled ones too. */
  close(): Promise<void>
}

/** Starts a server on a free loopback port. */
export async function startMockLlm(options: MockLlmOptions = {}): Promise<MockLlm> {
  const { script, models = ['mock-model'] } = options
  const queue: MockBehaviour[] = Array.isArray(script) ? [...(script as readonly MockBehaviour[])] : []
  const requests: MockRequest[] = []
  let stopping = false
  const arrivals: { number: number; resolve: (request: MockRequest) => void }[] = []

  async function complete(incoming: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const closed = closing(response, () => stopping)
    const request: MockRequest = { path, headers: incoming.headers, body: await readJson(incoming), closed }
    requests.push(request)
    const number = requests.length
    for (const each of arrivals) if (each.number === number) each.resolve(request)
    await perform(await behaviourFor(request, number), request, response)
  }

  async function behaviourFor(request: MockRequest, number: number): Promise<MockBehaviour> {
    if (options.apiKey !== undefined && request.headers.authorization !== `Bearer ${options.apiKey}`) {
      return {
        kind: 'error',
        status: 401,
        body: {
          error: { message: 'Incorrect API key provided.', type: 'invalid_request_error', code: 'invalid_api_key' },
        },
      }
    }
    return queue.shift() ?? (typeof script === 'function' ? await script(request, number) : followTools(request))
  }

  const server = createServer((incoming, response) => {
    const path = (incoming.url ?? '').split('?')[0] ?? ''
    const route = `${incoming.method ?? ''} ${path.replace(/^\/v1(?=\/)/, '')}`
    if (route === 'POST /chat/completions') {
      complete(incoming, response, path).catch((error: unknown) => {
        // A script that throws is a mistake of the test: show it instead of hanging.
        if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' })
        response.end(`mock script failed: ${String(error)}`)
      })
      return
    }
    if (route === 'GET /models') return sendJson(response, 200, { object: 'list', data: models.map(modelRow) })
    return sendJson(response, 404, { error: { message: `no route ${route}`, type: 'not_found' } })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    port,
    requests,
    enqueue: (...behaviours) => void queue.push(...behaviours),
    request: (number) =>
      new Promise((resolve) => {
        const known = requests[number - 1]
        if (known === undefined) arrivals.push({ number, resolve })
        else resolve(known)
      }),
    close: () =>
      new Promise((resolve) => {
        stopping = true
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function modelRow(id: string): Record<string, unknown> {
  return { id, object: 'model', created: 0, owned_by: 'mock' }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function closing(response: ServerResponse, stopping: () => boolean): Promise<'client' | 'server'> {
  return new Promise((resolve) => {
    response.once('close', () => {
      const byServer = response.writableEnded || response.errored !== null || stopping()
      resolve(byServer ? 'server' : 'client')
    })
  })
}

async function readJson(incoming: IncomingMessage): Promise<Record<string, unknown>> {
  const parts: Buffer[] = []
  for await (const part of incoming) parts.push(part as Buffer)
  try {
    const value: unknown = JSON.parse(Buffer.concat(parts).toString('utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {} // recorded as no body; what to answer is the script's decision
  }
}
