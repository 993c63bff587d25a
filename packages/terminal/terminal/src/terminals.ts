// `ctx.terminals`: who may open what, who owns which terminal, and that all of them end with their owner. What a terminal is, its backend decides.
import { homedir } from 'node:os'
import {
  MAX_DELAY_MS,
  Service,
  configSchema,
  errorMessage,
  fillDefaults,
  wholeNumber,
  type Context,
  type Logger,
} from '@deepseek-ai/cordis'
import { TerminalError } from './errors.ts'
import type {
  OpenRequest,
  Terminal,
  TerminalBackend,
  TerminalKill,
  TerminalOwner,
  TerminalRow,
  TerminalService,
} from './types.ts'

declare module '@deepseek-ai/cordis' {
  interface Context {
    terminals: Terminals
  }
}

export interface TerminalsConfig {
  /** Terminals that an owner may have open at once. Default 8. */
  maxPerOwner: number
}

const DEFAULTS: TerminalsConfig = { maxPerOwner: 8 }

export const Config = configSchema('terminal', DEFAULTS, { maxPerOwner: wholeNumber(1, MAX_DELAY_MS) })

interface Entry {
  readonly terminal: Terminal
  readonly owner: TerminalOwner | undefined
  readonly leave: () => void
  attached: number
  closing: Promise<TerminalKill> | undefined
}

/** An open that is under way: it counts, and its name is taken. */
interface Opening {
  readonly owner: TerminalOwner | undefined
  readonly name: string | undefined
  readonly type: string
  /** Over, whatever came of it. Never rejects. */
  readonly over: Promise<void>
}

/** An owner that is an agent: what is registered through its context ends with it. */
type Scoped = TerminalOwner & { readonly ctx?: Context }

export class Terminals extends Service implements TerminalService {
  static override readonly name = 'terminal'
  static readonly Config = Config

  private readonly maxPerOwner: number
  private readonly log: Logger
  private readonly backends = new Map<string, TerminalBackend>()
  private readonly entries = new Map<string, Entry>()
  private readonly opening = new Set<Opening>()
  private readonly listeners = new Set<(owner: TerminalOwner | undefined) => void>()
  private readonly owners = new WeakSet<TerminalOwner>()
  private readonly ended = new WeakSet<TerminalOwner>()
  private numbers = 0
  private disposed = false

  constructor(ctx: Context, options: Partial<TerminalsConfig> = {}) {
    super(ctx, 'terminals')
    this.maxPerOwner = fillDefaults(DEFAULTS, options).maxPerOwner
    this.log = ctx.logger('terminals')
  }

  *[Service.init](): Generator<() => Promise<void>, void, void> {
    yield async () => {
      this.disposed = true
      await this.closeAll(() => true)
    }
  }

  /** Throws `TERMINAL_DUPLICATE_BACKEND`. Its open terminals are closed when it goes. */
  registerBackend(backend: TerminalBackend): () => void {
    const { type } = backend
    if (this.backends.has(type)) {
      throw new TerminalError(
        `a backend for terminals of type "${type}" is there already`,
        'TERMINAL_DUPLICATE_BACKEND',
      )
    }
    const dispose = this.ctx.effect(() => {
      this.backends.set(type, backend)
      return async () => {
        this.backends.delete(type)
        await this.closeAll((each) => each.type === type)
      }
    }, `terminals.registerBackend(${type})`)
    return () => void dispose()
  }

  async open(request: OpenRequest): Promise<Terminal> {
    const { owner, name, type = 'shell', signal } = request
    signal?.throwIfAborted()
    this.admit(owner, name)
    const backend = this.backend(type)
    this.followOwner(owner)
    const terminal = this.spawn(backend, { ...request, type })
    const over = terminal.then(
      () => {},
      () => {},
    )
    const mine: Opening = { owner, name, type, over }
    this.opening.add(mine)
    void over.then(() => this.opening.delete(mine))
    return terminal
  }

  private async spawn(backend: TerminalBackend, request: OpenRequest): Promise<Terminal> {
    const { owner, signal } = request
    const cwd = request.cwd ?? owner?.cwd ?? homedir()
    const terminal = await backend.spawn({ ...request, id: `pty-${++this.numbers}`, cwd })
    const isGone = this.gone(owner) || this.backends.get(backend.type) !== backend
    if (isGone || signal?.aborted === true) {
      await terminal.close()
      signal?.throwIfAborted()
      throw disposed()
    }
    const leave = terminal.onExit(() => this.tell(owner))
    this.entries.set(terminal.id, { terminal, owner, leave, attached: 0, closing: undefined })
    this.tell(owner)
    return terminal
  }

  get(owner: TerminalOwner | undefined, idOrName: string): Terminal {
    return this.entry(owner, idOrName).terminal
  }

  list(owner: TerminalOwner | undefined): TerminalRow[] {
    return this.of(owner).map(({ terminal, attached }) => ({ ...terminal.row, attached }))
  }

  async close(owner: TerminalOwner | undefined, idOrName: string): Promise<TerminalKill> {
    return this.end(this.entry(owner, idOrName))
  }

  attach(owner: TerminalOwner | undefined, idOrName: string): () => void {
    const entry = this.entry(owner, idOrName)
    let attached = true
    entry.attached++
    this.tell(owner)
    return () => {
      if (!attached) return
      attached = false
      entry.attached--
      this.tell(owner)
    }
  }

  subscribe(listener: (owner: TerminalOwner | undefined) => void): () => void {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }

  private admit(owner: TerminalOwner | undefined, name: string | undefined): void {
    if (this.gone(owner)) throw disposed()
    const open = this.of(owner)
    const opening = Array.from(this.opening).filter((each) => each.owner === owner)
    if (name !== undefined) {
      if (name.trim() === '' || /^pty-\d+$/.test(name)) {
        throw new TerminalError(
          `the name ${JSON.stringify(name)} cannot be used; give one that is not blank and not like pty-1`,
          'TERMINAL_INVALID_REQUEST',
        )
      }
      if ([...open.map(({ terminal }) => terminal.row), ...opening].some((each) => each.name === name)) {
        throw new TerminalError(
          `a terminal named "${name}" is open; close it or take another name`,
          'TERMINAL_DUPLICATE_NAME',
        )
      }
    }
    if (open.length + opening.length >= this.maxPerOwner) {
      const ids = open.map(({ terminal }) => terminal.id).join(', ')
      throw new TerminalError(
        `${this.maxPerOwner} terminals are open (${ids}), which is the limit; close one first`,
        'TERMINAL_LIMIT',
      )
    }
  }

  private backend(type: string): TerminalBackend {
    const backend = this.backends.get(type)
    if (backend !== undefined) return backend
    const known = Array.from(this.backends.keys())
    const there = known.length === 0 ? 'there is none on this host' : `there are ${known.join(', ')}`
    throw new TerminalError(`no backend makes terminals of type "${type}"; ${there}`, 'TERMINAL_NO_BACKEND')
  }

  private entry(owner: TerminalOwner | undefined, idOrName: string): Entry {
    const mine = this.of(owner)
    const found = mine.find(({ terminal }) => terminal.id === idOrName || terminal.row.name === idOrName)
    if (found !== undefined) return found
    const ids = mine.map(({ terminal }) => terminal.row.name ?? terminal.id)
    const there = ids.length === 0 ? 'none is open' : `open are ${ids.join(', ')}`
    throw new TerminalError(`there is no terminal "${idOrName}"; ${there}`, 'TERMINAL_NOT_FOUND')
  }

  private of(owner: TerminalOwner | undefined): Entry[] {
    return Array.from(this.entries.values()).filter((entry) => entry.owner === owner)
  }

  private gone(owner: TerminalOwner | undefined): boolean {
    return this.disposed || (owner !== undefined && this.ended.has(owner))
  }

  /** An agent's terminals end with the agent, and its end waits for them. */
  private followOwner(owner: Scoped | undefined): void {
    if (owner === undefined || this.owners.has(owner)) return
    owner.ctx?.effect(
      () => async () => {
        this.ended.add(owner)
        await this.closeAll((each) => each.owner === owner)
      },
      'terminals.owner',
    )
    this.owners.add(owner)
  }

  /** What is being opened meanwhile is closed by its own opening, and awaited. */
  private async closeAll(which: (each: { owner: TerminalOwner | undefined; type: string }) => boolean): Promise<void> {
    const opening = Array.from(this.opening).filter(which)
    await Promise.all([this.endAll(which), ...opening.map(({ over }) => over)])
  }

  private async endAll(which: (each: { owner: TerminalOwner | undefined; type: string }) => boolean): Promise<void> {
    const entries = Array.from(this.entries.values()).filter(({ owner, terminal }) => {
      return which({ owner, type: terminal.row.type })
    })
    const results = await Promise.allSettled(entries.map((entry) => this.end(entry)))
    for (const [index, result] of results.entries()) {
      const { id } = entries[index]!.terminal
      if (result.status === 'rejected') this.log.warn('%s did not close: %s', id, errorMessage(result.reason))
      else if (result.value.survivors.length > 0) {
        this.log.warn('%s left processes behind: %s', id, result.value.survivors.map(({ pid }) => pid).join(', '))
      }
    }
  }

  private end(entry: Entry): Promise<TerminalKill> {
    return (entry.closing ??= (async () => {
      try {
        return await entry.terminal.close()
      } finally {
        entry.leave()
        this.entries.delete(entry.terminal.id)
        this.tell(entry.owner)
      }
    })())
  }

  private tell(owner: TerminalOwner | undefined): void {
    for (const listener of this.listeners) {
      try {
        listener(owner)
      } catch (error) {
        this.log.warn('a listener of terminals failed: %s', errorMessage(error))
      }
    }
  }
}

export { Terminals as default }

function disposed(): TerminalError {
  return new TerminalError('terminals are being shut down; nothing more is opened', 'TERMINALS_DISPOSED')
}
