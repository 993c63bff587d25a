// The registry of terminals with a backend that is only a row: ownership, names, caps, and that everything ends with its owner.
import { createHost, createScope, disposeAndJoin, type Context, type Fiber } from '@deepseek-ai/cordis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Terminals } from '../src/index.ts'
import type { Terminal, TerminalBackend, TerminalOwner, TerminalStatus } from '../src/index.ts'

let ctx: Context
let dispose: () => Promise<void>
let service: Fiber
let closed: string[]
let log: string[]

const backend = (type: string, options: { survivors?: number; hold?: Promise<void> } = {}): TerminalBackend => ({
  type,
  async spawn(request) {
    await options.hold
    let status: TerminalStatus = { kind: 'running' }
    const exits = new Set<(status: TerminalStatus) => void>()
    const { id, cwd, name } = request
    const terminal: Partial<Terminal> = {
      id,
      get row() {
        const facts = { id, type, cwd, pid: 1, status, openedAt: 0, cols: 80, rows: 24, attached: 0 }
        return name === undefined ? facts : { ...facts, name }
      },
      onExit(listener) {
        exits.add(listener)
        return () => exits.delete(listener)
      },
      async close() {
        closed.push(id)
        status = { kind: 'exited', exitCode: 0, signal: null }
        const survivors = Array.from({ length: options.survivors ?? 0 }, () => ({ pid: 42, command: 'stubborn' }))
        return { signal: 'SIGHUP', ended: 1, survivors }
      },
    }
    return terminal as Terminal
  },
})

const owner = (id: string, more: object = {}): TerminalOwner => ({ id, inject: () => {}, ...more })

beforeEach(async () => {
  closed = []
  log = []
  const host = createHost({ write: (line) => log.push(line) })
  ctx = host.ctx
  dispose = () => host.dispose()
  const plugin = ctx.plugin(Terminals, { maxPerOwner: 2 })
  await plugin
  service = plugin.ctx.fiber
})

afterEach(() => dispose())

describe('the registry of terminals', () => {
  it('numbers terminals and finds them by id and by name, for their owner alone', async () => {
    ctx.terminals.registerBackend(backend('shell'))
    const [a, b] = [owner('a', { cwd: '/a' }), owner('b')]
    const first = await ctx.terminals.open({ owner: a, name: 'dev' })
    expect(first.row).toMatchObject({ id: 'pty-1', name: 'dev', cwd: '/a', type: 'shell' })
    expect(ctx.terminals.get(a, 'dev')).toBe(first)
    expect(ctx.terminals.get(a, 'pty-1')).toBe(first)
    expect(() => ctx.terminals.get(b, 'pty-1')).toThrow(/there is no terminal "pty-1"; none is open/)
    expect(() => ctx.terminals.get(undefined, 'dev')).toThrow(expect.objectContaining({ code: 'TERMINAL_NOT_FOUND' }))
    expect(ctx.terminals.list(b)).toEqual([])
  })

  it('refuses a second terminal of a name, also while the first is being opened', async () => {
    let release = (): void => {}
    const hold = new Promise<void>((resolve) => {
      release = resolve
    })
    ctx.terminals.registerBackend(backend('shell', { hold }))
    const a = owner('a')
    const first = ctx.terminals.open({ owner: a, name: 'dev' })
    await expect(ctx.terminals.open({ owner: a, name: 'dev' })).rejects.toMatchObject({
      code: 'TERMINAL_DUPLICATE_NAME',
    })
    const other = ctx.terminals.open({ owner: owner('b'), name: 'dev' })
    release()
    await Promise.all([first, other])
  })

  it.each([' ', 'pty-3'])('refuses the name %j', async (name) => {
    ctx.terminals.registerBackend(backend('shell'))
    await expect(ctx.terminals.open({ owner: owner('a'), name })).rejects.toMatchObject({
      code: 'TERMINAL_INVALID_REQUEST',
    })
  })

  it('caps an owner, counting what is being opened, and says what to close', async () => {
    ctx.terminals.registerBackend(backend('shell'))
    const a = owner('a')
    const two = [ctx.terminals.open({ owner: a }), ctx.terminals.open({ owner: a })]
    await expect(ctx.terminals.open({ owner: a })).rejects.toMatchObject({ code: 'TERMINAL_LIMIT' })
    await Promise.all(two)
    await expect(ctx.terminals.open({ owner: a })).rejects.toThrow(/pty-1, pty-2.*close one first/)
    await ctx.terminals.close(a, 'pty-1')
    await ctx.terminals.open({ owner: a })
  })

  it('names what it has when no backend fits', async () => {
    await expect(ctx.terminals.open({ owner: undefined })).rejects.toThrow(/type "shell"; there is none on this host/)
    ctx.terminals.registerBackend(backend('shell'))
    await expect(ctx.terminals.open({ owner: undefined, type: 'vm' })).rejects.toThrow(/type "vm"; there are shell/)
    expect(() => ctx.terminals.registerBackend(backend('shell'))).toThrow(/is there already/)
  })

  it('closes what a backend made when the backend goes', async () => {
    const remove = ctx.terminals.registerBackend(backend('shell'))
    ctx.terminals.registerBackend(backend('other'))
    const a = owner('a')
    await ctx.terminals.open({ owner: a })
    await ctx.terminals.open({ owner: a, type: 'other' })
    remove()
    await expect.poll(() => closed).toEqual(['pty-1'])
    expect(ctx.terminals.list(a).map(({ id }) => id)).toEqual(['pty-2'])
  })

  it('ends the terminals of an agent before the end of the agent is over, and opens no more', async () => {
    ctx.terminals.registerBackend(backend('shell'))
    const key = {}
    const scope = createScope(ctx, key)
    const agent = owner('a', { ctx: scope.ctx })
    await ctx.terminals.open({ owner: agent })
    await ctx.terminals.open({ owner: agent })
    await scope.dispose()
    expect(closed.toSorted()).toEqual(['pty-1', 'pty-2'])
    await expect(ctx.terminals.open({ owner: agent })).rejects.toMatchObject({ code: 'TERMINALS_DISPOSED' })
  })

  it('closes a terminal whose opening was cancelled meanwhile', async () => {
    let release = (): void => {}
    const hold = new Promise<void>((resolve) => {
      release = resolve
    })
    ctx.terminals.registerBackend(backend('shell', { hold }))
    const controller = new AbortController()
    const opening = ctx.terminals.open({ owner: undefined, signal: controller.signal })
    controller.abort(new Error('never mind'))
    release()
    await expect(opening).rejects.toThrow('never mind')
    expect(closed).toEqual(['pty-1'])
    expect(ctx.terminals.list(undefined)).toEqual([])
  })

  it('closes what is being opened while its backend or its service goes, and waits for that', async () => {
    let release = (): void => {}
    const hold = new Promise<void>((resolve) => {
      release = resolve
    })
    const remove = ctx.terminals.registerBackend(backend('shell', { hold }))
    ctx.terminals.registerBackend(backend('other', { hold }))
    const first = ctx.terminals.open({ owner: undefined })
    remove()
    const second = ctx.terminals.open({ owner: undefined, type: 'other' })
    const refused = Promise.all([first, second].map((each) => expect(each).rejects.toThrow(/shut down/)))
    let isOver = false
    const over = disposeAndJoin(service).then(() => {
      isOver = true
    })
    await Promise.resolve()
    expect(isOver).toBe(false)
    release()
    await Promise.all([over, refused])
    expect(closed.toSorted()).toEqual(['pty-1', 'pty-2'])
  })

  it('closes everything with the service and tells of processes that stayed', async () => {
    ctx.terminals.registerBackend(backend('shell', { survivors: 1 }))
    await ctx.terminals.open({ owner: undefined })
    await disposeAndJoin(service)
    expect(closed).toEqual(['pty-1'])
    expect(log.join('\n')).toMatch(/pty-1 left processes behind: 42/)
  })

  it('counts who is attached and tells listeners of each change', async () => {
    ctx.terminals.registerBackend(backend('shell'))
    const a = owner('a')
    const told: (string | undefined)[] = []
    const leave = ctx.terminals.subscribe((each) => told.push(each?.id))
    await ctx.terminals.open({ owner: a })
    const detach = ctx.terminals.attach(a, 'pty-1')
    expect(ctx.terminals.list(a)[0]?.attached).toBe(1)
    detach()
    detach()
    expect(ctx.terminals.list(a)[0]?.attached).toBe(0)
    await ctx.terminals.close(a, 'pty-1')
    leave()
    expect(told).toEqual(['a', 'a', 'a', 'a'])
  })
})
