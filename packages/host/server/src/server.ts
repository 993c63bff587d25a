// `ctx.server`: puts the parts together, listens while its fiber lives, and lets a plugin register the page.
import { randomBytes } from 'node:crypto'
import { readFileSync, realpathSync, statSync } from 'node:fs'
import type { Server as HttpServer } from 'node:http'
import { join } from 'node:path'
import { createAdaptorServer } from '@hono/node-server'
import { Service, errorMessage, type Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import { createApp } from './app.ts'
import { Aside } from './aside.ts'
import { createAuth, newToken, type Auth } from './auth.ts'
import { Cards } from './cards.ts'
import { resolveConfig, serverConfig, type ServerConfig, type ServerSettings } from './config.ts'
import { ServerError } from './errors.ts'
import { Feeds } from './feeds.ts'
import { HostFeed } from './host-feed.ts'
import { closeServer, listen } from './listen.ts'
import { createMethods } from './methods.ts'
import type { HostInfo } from './protocol.ts'
import { Reloads, type ReloadReport } from './reloads.ts'
import { Rows, defaultModel } from './rows.ts'
import { keptSecret } from './secret.ts'

declare module '@deepseek-ai/cordis' {
  interface Context {
    server: Server
  }
}

/** What the loader, when there is one, knows of rows that did not start. The server does without it when it is embedded. */
interface ProblemSource {
  problems(): readonly { readonly row: string; readonly error?: string }[]
}

export class Server extends Service {
  static Config = serverConfig
  static inject = ['sessions', 'agents', 'llm', 'tools']
  private readonly settings: ServerSettings
  private folder: string | undefined
  private bound: { readonly port: number; readonly auth: Auth } | undefined

  constructor(ctx: Context, config: ServerConfig = {}) {
    super(ctx, 'server')
    this.settings = resolveConfig(config)
  }

  /** The address to open in a browser, launch token included: who has it can drive the agents. */
  get url(): string {
    const { port, auth } = this.listening()
    return `${this.origin(port)}/?token=${encodeURIComponent(auth.token)}`
  }

  get port(): number {
    return this.listening().port
  }

  /**
   * Serves the built page in `folder` until the returned function is called or the calling fiber ends. Throws `PAGE_EXISTS` when there is
   * one, `NOT_FOUND` when the folder has no `index.html`.
   */
  page(folder: string): () => void {
    const index = join(folder, 'index.html')
    if (statSync(index, { throwIfNoEntry: false })?.isFile() !== true) {
      throw new ServerError(`${index} is missing: build the page first`, 'NOT_FOUND')
    }
    if (this.folder !== undefined) {
      throw new ServerError(`a page is served already, from ${this.folder}; remove the other plugin`, 'PAGE_EXISTS')
    }
    const place = (value: string | undefined): void => {
      this.folder = value
    }
    // Links are resolved once; files are then checked against the real folder.
    const real = realpathSync(folder)
    const dispose = this.ctx.effect(() => {
      place(real)
      return () => place(undefined)
    }, `server.page(${folder})`)
    return () => void dispose()
  }

  async *[Service.init](): AsyncGenerator<() => Promise<void>, void, void> {
    const { ctx, settings } = this
    const parts = createParts(ctx, settings)
    let app: ReturnType<typeof createApp> | undefined
    const http = createAdaptorServer({
      fetch: (request, env) => app?.fetch(request, env) ?? new Response(null, { status: 503 }),
      // The process is shared with plugins: its globals stay what they are.
      overrideGlobalObjects: false,
    }) as HttpServer
    const port = await listen(http, settings.host, settings.port)
    const auth = createAuth(settings.token ?? newToken(), cookieSecret(settings, parts.warn), port)
    app = createApp({ ...parts, ...settings, auth, port, pageFolder: () => this.folder })
    this.bound = { port, auth }
    yield async () => {
      this.bound = undefined
      const closed = closeServer(http)
      parts.hostFeed.close()
      await parts.feeds.close()
      await closed
    }
  }

  private listening(): { readonly port: number; readonly auth: Auth } {
    if (this.bound === undefined) throw new ServerError('the server does not listen (yet)', 'LISTEN_FAILED')
    return this.bound
  }

  private origin(port: number): string {
    const { host } = this.settings
    return `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`
  }
}

export { Server as default }

function cookieSecret({ secretFile }: ServerSettings, warn: (message: string) => void): Buffer {
  if (secretFile === undefined) return randomBytes(32)
  const { secret, notice } = keptSecret(secretFile)
  if (notice !== undefined) warn(notice)
  return secret
}

/** Everything behind the routes. Services are read once: a context property costs more than most of what is done with it. */
function createParts(ctx: Context, settings: ServerSettings) {
  const { sessions, agents, llm, tools } = ctx
  const logger = ctx.logger('server')
  const warn = (message: string): void => logger.warn('%s', message)
  const report = (error: unknown): void =>
    logger.error('%s', error instanceof Error ? error.stack : errorMessage(error))
  const version = settings.version ?? ownVersion()
  const info = (): HostInfo => ({
    version,
    cwd: settings.cwd,
    home: settings.home,
    providers: llm.status(),
    defaultModel: defaultModel(llm),
    problems: problemsOf(ctx.get('loader') as ProblemSource | undefined),
    reloads: reloads.list(),
  })
  const reloads = new Reloads({
    schemas: () => tools.schemas(),
    output: (name) => tools.get(name)?.output.schema,
    prompt: () => (ctx.get('systemPrompt') as PromptSource | undefined)?.assemble().system ?? '',
  })
  const cards = new Cards({ get: (name, scope) => tools.get(name, scope), warn })
  const aside = new Aside({
    agent: (id) => agents.get(id),
    session: (id) => sessions.get(id),
    warn,
  })
  const feeds: Feeds = new Feeds({ sessions, agents, cards, aside, warn })
  aside.follow(ctx)
  const rows = new Rows(sessions, agents, llm)
  const hostFeed = new HostFeed({ row: (id) => rows.row(id), info, warn })
  const methods = createMethods({
    sessions,
    agents,
    rows,
    feeds,
    hostFeed,
    aside,
    cwd: settings.cwd,
    info,
    schemas: (scope) => tools.schemas(scope),
    configure: (provider, changes) => llm.configure(provider, changes),
  })
  ctx.on('llm/changed', () => hostFeed.infoChanged())
  // Declared by the loader, which this package does not depend on.
  ctx.on('loader/change' as never, (() => hostFeed.infoChanged()) as never)
  ctx.on('loader/before-reload' as never, (() => reloads.begin()) as never)
  ctx.on('loader/reload' as never, ((report: ReloadReport) => reloads.end(report) && hostFeed.infoChanged()) as never)
  ctx.on('tools/change', () => feeds.forgetFrames())
  ctx.on('session/created', ({ id }) => hostFeed.touch(id))
  ctx.on('session/changed', ({ id }) => {
    feeds.refresh(id)
    hostFeed.touch(id)
  })
  ctx.on('session/deleted', (id) => {
    feeds.end(id)
    hostFeed.removed(id)
  })
  const agentChanged = ({ agent: { id } }: { agent: Agent }): void => {
    feeds.refresh(id)
    hostFeed.touch(id)
  }
  ctx.on('agent/created', agentChanged)
  ctx.on('agent/disposed', agentChanged)
  ctx.on('agent/status', ({ agent: { id } }) => hostFeed.touch(id))
  return { methods, feeds, hostFeed, aside, warn, report }
}

/** Declared by the system prompt, which this package does not depend on. */
interface PromptSource {
  assemble(): { readonly system: string }
}

function problemsOf(loader: ProblemSource | undefined): HostInfo['problems'] {
  return (loader?.problems() ?? []).map(({ row, error }) => ({ row, message: error ?? 'It does not run.' }))
}

function ownVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
