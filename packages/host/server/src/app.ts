// The routes: who is let in, where a request goes, and what an error looks like on the wire. What the methods and streams do is theirs.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Hono, type Context } from 'hono'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { errorCode, errorMessage } from '@deepseek-ai/cordis'
import type { Auth } from './auth.ts'
import { readJsonBody } from './body.ts'
import { ServerError } from './errors.ts'
import { foreignReason, setSecurityHeaders } from './fence.ts'
import type { Feeds } from './feeds.ts'
import type { HostFeed } from './host-feed.ts'
import { callMethod, type MethodTable } from './methods.ts'
import { servePage } from './page.ts'
import type { Aside } from './aside.ts'
import { METHOD_NAMES, isMethodName } from './params.ts'
import { SessionStream } from './session-stream.ts'
import { SseWriter } from './sse.ts'
import { streamTerminal } from './terminal-stream.ts'

type Bindings = { incoming: IncomingMessage; outgoing: ServerResponse }
type Env = { Bindings: Bindings }

export interface AppSources {
  readonly auth: Auth
  readonly port: number
  readonly maxBodyBytes: number
  readonly heartbeatMs: number
  readonly stallMs: number
  readonly methods: MethodTable
  readonly feeds: Feeds
  readonly hostFeed: HostFeed
  readonly aside: Aside
  /** The folder of the page, when one is registered. */
  pageFolder(): string | undefined
  /** Told of failures that nobody foresaw. */
  readonly report: (error: unknown) => void
  readonly warn: (message: string) => void
}

type ErrorStatus = 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415
const STATUS: { readonly [code: string]: ErrorStatus } = {
  UNAUTHORIZED: 401,
  FOREIGN_REQUEST: 403,
  NOT_FOUND: 404,
  UNKNOWN_METHOD: 404,
  METHOD_NOT_ALLOWED: 405,
  BODY_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  INVALID_JSON: 400,
  INVALID_PARAMS: 400,
  SESSION_NOT_FOUND: 404,
  INVALID_SESSION_ID: 404,
  SESSION_LOCKED: 409,
  NOT_AVAILABLE: 404,
  TERMINAL_NOT_FOUND: 404,
}

const UNAUTHORIZED =
  'This page has no access to the server: open the address that `dsh web` printed when it started, or run `dsh web` again for a new one.'
const NO_PAGE =
  'The dsh server is running, but no page is installed: load the plugin @deepseek-ai/dsh-web, or use the API.\n'

export function createApp(sources: AppSources): Hono<Env> {
  const app = new Hono<Env>()
  app.use(async (c, next) => {
    setSecurityHeaders(c.env.outgoing)
    const reason = foreignReason(c.env.incoming, sources.port, isApi(c.req.path))
    if (reason !== undefined) throw new ServerError(`refused: ${reason}`, 'FOREIGN_REQUEST')
    await next()
  })
  app.use('/api/*', async (c, next) => {
    c.env.outgoing.setHeader('Cache-Control', 'no-store')
    if (!sources.auth.admits(c.env.incoming)) throw new ServerError(UNAUTHORIZED, 'UNAUTHORIZED')
    await next()
  })
  app.get('/api/events', (c) => hostStream(sources, c))
  app.get('/api/sessions/:id/events', (c) => sessionStream(sources, c, c.req.param('id')))
  app.get('/api/sessions/:id/terminals/:terminal/stream', (c) => {
    return terminalStream(sources, c, c.req.param('id'), c.req.param('terminal'))
  })
  app.all('/api/*', (c) => method(sources, c))
  app.all('*', (c) => page(sources, c))
  app.onError((error, c) => failure(sources, error, c))
  return app
}

function isApi(path: string): boolean {
  return path === '/api' || path.startsWith('/api/')
}

async function method(sources: AppSources, c: Context<Env>): Promise<Response> {
  const name = c.req.path.slice('/api/'.length)
  if (!isMethodName(name)) {
    throw new ServerError(`there is no method "${name}"; there are ${METHOD_NAMES.join(', ')}`, 'UNKNOWN_METHOD')
  }
  if (c.req.method !== 'POST') {
    c.env.outgoing.setHeader('Allow', 'POST')
    throw new ServerError(`call ${name} with POST, not ${c.req.method}`, 'METHOD_NOT_ALLOWED')
  }
  const params = await readJsonBody(c.env.incoming, sources.maxBodyBytes)
  return c.json(await callMethod(sources.methods, name, params, sources.report))
}

function hostStream(sources: AppSources, c: Context<Env>): Response {
  sources.hostFeed.join(new SseWriter(c.env.outgoing, sources))
  return RESPONSE_ALREADY_SENT
}

async function sessionStream(sources: AppSources, c: Context<Env>, id: string): Promise<Response> {
  const from = firstSeq(c.req.header('last-event-id'), c.req.query('from'))
  const last = c.req.query('to')
  const to = last === undefined ? Infinity : seqOf('to', last)
  const { feeds, hostFeed, warn } = sources
  let stream: SessionStream | undefined
  await feeds.join(id, (feed) => {
    // Only now: a session that cannot be opened is answered with a status, which a begun stream has no room for.
    const writer = new SseWriter(c.env.outgoing, sources)
    const joined = new SessionStream(feed, writer, { from, to }, warn)
    stream = joined
    writer.whenClosed(() => feeds.leave(feed, joined))
    if (c.req.query('host') === '1') hostFeed.join(writer)
    return joined
  })
  // Runs until the connection ends and never rejects.
  void stream?.run()
  return RESPONSE_ALREADY_SENT
}

function terminalStream(sources: AppSources, c: Context<Env>, id: string, terminalId: string): Response {
  const { aside } = sources
  const owner = aside.agent(id)
  const terminals = aside.need('terminals')
  const terminal = terminals.get(owner, terminalId)
  const leave = terminals.attach(owner, terminalId)
  const writer = new SseWriter(c.env.outgoing, sources)
  writer.whenClosed(leave)
  // Runs until either end has gone and never rejects.
  void streamTerminal(terminal, writer)
  return RESPONSE_ALREADY_SENT
}

/** The `seq` to begin with: behind the last one that the reader has, else what it asks for, else the beginning. */
function firstSeq(lastEventId: string | undefined, from: string | undefined): number {
  const [name, value] = lastEventId === undefined ? ['from', from] : ['Last-Event-ID', lastEventId]
  if (value === undefined || value === '') return 0
  return lastEventId === undefined ? seqOf(name, value) : seqOf(name, value) + 1
}

function seqOf(name: string | undefined, value: string): number {
  if (/^\d{1,15}$/.test(value)) return Number(value)
  throw new ServerError(`${name} must be the number of an event, not "${value.slice(0, 40)}"`, 'INVALID_PARAMS')
}

async function page(sources: AppSources, c: Context<Env>): Promise<Response> {
  const { incoming, outgoing } = c.env
  if (c.req.method !== 'GET' && c.req.method !== 'HEAD') {
    outgoing.setHeader('Allow', 'GET, HEAD')
    throw new ServerError(`only GET and HEAD are possible here, not ${c.req.method}`, 'METHOD_NOT_ALLOWED')
  }
  const token = c.req.query('token')
  // A wrong token changes nothing: the page loads and says so itself when its first call is refused.
  if (token !== undefined && sources.auth.isToken(token)) {
    outgoing.setHeader('Set-Cookie', sources.auth.setCookie())
    outgoing.setHeader('Cache-Control', 'no-store')
    return c.redirect(c.req.path === '/' ? '/' : c.req.path.replace(/^\/+/, '/'), 302)
  }
  const folder = sources.pageFolder()
  if (folder === undefined) return c.text(NO_PAGE, 404)
  if (await servePage(folder, incoming, outgoing)) return RESPONSE_ALREADY_SENT
  return c.text('There is nothing at this address.\n', 404)
}

function failure(sources: AppSources, error: unknown, c: Context<Env>): Response {
  if (c.env.outgoing.headersSent) {
    sources.report(error)
    return RESPONSE_ALREADY_SENT
  }
  const code = errorCode(error)
  const status = code === undefined ? undefined : STATUS[code]
  // The rest of a refused body is not read: the connection cannot be used again.
  if (status === 413 || status === 415) c.env.outgoing.setHeader('Connection', 'close')
  if (code !== undefined) return c.json({ ok: false, error: { code, message: errorMessage(error) } }, status ?? 500)
  sources.report(error)
  const message = 'The request failed inside the server; its log has the details.'
  return c.json({ ok: false, error: { code: 'INTERNAL', message } }, 500)
}
