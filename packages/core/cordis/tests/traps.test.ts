// One test for each behaviour of upstream that we close or rely on: a version bump that changes one shows here.
import { describe, expect, it } from 'vitest'
import {
  Context,
  FiberState,
  Service,
  createHost,
  disposeAndJoin,
  emitContained,
  dispatchChain,
  fiberTable,
  hooksOf,
  lightEffect,
  lightenListeners,
  ordered,
  type Fiber,
} from '@deepseek-ai/cordis'

declare module '@deepseek-ai/cordis' {
  interface Context {
    probe: Probe
  }
  interface Events {
    'test/notice'(value: string): void
    'test/around'(value: string, next: () => string): string
    'test/traced'(probe: Probe, value: object, done: () => void): void
  }
}

class Probe extends Service {
  constructor(ctx: Context) {
    super(ctx, 'probe')
  }
  caller(): Context {
    return this.ctx
  }
}

function caught(work: () => unknown): Error {
  try {
    work()
  } catch (thrown) {
    return thrown as Error
  }
  throw new Error('nothing was thrown')
}

const settle = (fiber: Fiber): Promise<unknown> => fiber.await().catch((error: unknown) => error)

describe('plugins', () => {
  it('drops the disposer that a plugin declared with `function` returns', async () => {
    const root = new Context()
    const undone: string[] = []
    const declared = await root.plugin(function declared() {
      return () => undone.push('declared')
    })
    const arrow = await root.plugin(() => () => undone.push('arrow'))
    await disposeAndJoin(declared)
    await disposeAndJoin(arrow)
    expect(undone).toEqual(['arrow'])
  })

  it('prints a plugin failure once a host is there, and drops it without one', async () => {
    const lines: string[] = []
    const host = createHost({ write: (line) => lines.push(line) })
    await settle(host.ctx.plugin({ name: 'broken', apply: () => Promise.reject(new Error('no luck')) }))
    expect(lines.join('\n')).toContain('no luck')
    await host.dispose()
    await host.dispose()
  })

  it('resolves at once for a plugin that waits, and the fiber table names what it waits for', async () => {
    const root = new Context()
    const fiber = await root.plugin({ name: 'waiter', inject: ['probe'], apply() {} })
    expect(fiber.state).toBe(FiberState.PENDING)
    expect(fiberTable(root)).toContainEqual(
      expect.objectContaining({ name: 'waiter', state: 'pending', missing: ['probe'] }),
    )
    await root.plugin(Probe)
    await fiber.await()
    expect(fiberTable(root)).toContainEqual(expect.objectContaining({ name: 'waiter', state: 'active', missing: [] }))
  })

  it('leaves effects of a pending fiber alive after its disposal, which is why scopes never inject', async () => {
    const root = new Context()
    const fiber = root.plugin({ name: 'pending', inject: ['probe'], apply() {} })
    const heard: string[] = []
    fiber.ctx.on('test/notice', (value) => void heard.push(value))
    await disposeAndJoin(fiber)
    root.emit('test/notice', 'still here')
    expect(heard).toEqual(['still here'])
  })

  it('keeps a failed plugin failed until its config is updated', async () => {
    const root = new Context()
    const fiber = root.plugin(
      {
        name: 'picky',
        apply(_ctx: Context, config: { ok: boolean }) {
          if (!config.ok) throw new Error('not ok')
        },
      },
      { ok: false },
    )
    await settle(fiber)
    expect(fiber.state).toBe(FiberState.FAILED)
    await fiber.update({ ok: true })
    await fiber.await()
    expect(fiber.state).toBe(FiberState.ACTIVE)
  })
})

describe('services', () => {
  it('gives a service method the context of its caller', async () => {
    const root = new Context()
    await root.plugin(Probe)
    let seen: Fiber | undefined
    const consumer = await root.plugin({
      name: 'consumer',
      inject: ['probe'],
      apply(ctx: Context) {
        seen = ctx.probe.caller().fiber
      },
    })
    expect(seen).toBe(consumer)
  })

  it('makes a new proxy for each read of a service', async () => {
    const root = new Context()
    await root.plugin(Probe)
    expect(root.probe).not.toBe(root.probe)
    expect(root.probe).toBeInstanceOf(Probe)
  })

  it('refuses a service that was not injected', async () => {
    const root = new Context()
    await root.plugin(Probe)
    const error = await settle(root.plugin({ name: 'sneaky', apply: (ctx: Context) => void ctx.probe }))
    expect(String(error)).toContain('without inject')
  })

  it('fails a second provider of the same name', async () => {
    const root = new Context()
    await root.plugin(Probe)
    const error = await settle(root.plugin(class Other extends Probe {}))
    expect(String(error)).toContain('has been registered')
  })

  it('breaks #private fields of a service that is called through a context', async () => {
    class Secretive extends Service {
      #value = 1
      constructor(ctx: Context) {
        super(ctx, 'probe')
      }
      read(): number {
        return this.#value
      }
    }
    const root = new Context()
    await root.plugin(Secretive)
    const probe = root.get('probe') as unknown as Secretive
    expect(() => probe.read()).toThrow(TypeError)
  })
})

describe('disposal', () => {
  it('starts the effects of a fiber last first and does not wait for one before the next', async () => {
    const root = new Context()
    const log: string[] = []
    const fiber = await root.plugin({
      name: 'two',
      apply(ctx: Context) {
        for (const name of ['first', 'second']) {
          ctx.effect(
            () => async () => {
              log.push(`${name} starts`)
              await Promise.resolve()
              await Promise.resolve()
              log.push(`${name} ends`)
            },
            name,
          )
        }
      },
    })
    await disposeAndJoin(fiber)
    expect(log.slice(0, 2)).toEqual(['second starts', 'first starts'])
  })

  it('undoes the steps of one ordered effect one by one, last first', async () => {
    const root = new Context()
    const log: string[] = []
    const step = (name: string) => async () => {
      log.push(`${name} starts`)
      await Promise.resolve()
      log.push(`${name} ends`)
    }
    const fiber = await root.plugin({
      name: 'ordered',
      apply(ctx: Context) {
        ordered(ctx, 'steps', function* () {
          yield step('first')
          yield step('second')
        })
      },
    })
    await disposeAndJoin(fiber)
    expect(log).toEqual(['second starts', 'second ends', 'first starts', 'first ends'])
  })

  it('registers a light effect like any other, without touching what others see of stacks', async () => {
    const root = new Context()
    const limit = Error.stackTraceLimit
    const undone: string[] = []
    const limits: number[] = []
    const fiber = await root.plugin({
      name: 'owner',
      apply: (ctx: Context) => {
        ctx.effect(() => () => void undone.push('first'), 'first')
        const early = lightEffect(ctx.fiber, 'early', () => () => void undone.push('early'))
        early()
        early()
        lightEffect(ctx.fiber, 'light', () => {
          limits.push(Error.stackTraceLimit)
          return () => void undone.push('light')
        })
      },
    })
    expect(undone).toEqual(['early'])
    expect([...limits, Error.stackTraceLimit]).toEqual([limit, limit])
    expect(fiber.getEffects().map((effect) => effect.label)).toEqual(['first', 'light'])
    await disposeAndJoin(fiber)
    expect(undone).toEqual(['early', 'light', 'first'])
  })

  it('throws from a light effect what it threw, stack included, and refuses an ended fiber with a stack', async () => {
    const root = new Context()
    const limit = Error.stackTraceLimit
    const boom = (): never => {
      throw new Error('boom')
    }
    const thrown = caught(() => lightEffect(root.fiber, 'broken', boom))
    expect(thrown.message).toBe('boom')
    expect(thrown.stack).toContain('boom (')
    expect(Error.stackTraceLimit).toBe(limit)
    const fiber = await root.plugin({ name: 'gone', apply() {} })
    await disposeAndJoin(fiber)
    const refused = caught(() => lightEffect(fiber, 'late', () => () => undefined))
    expect(refused).toMatchObject({ code: 'INACTIVE_EFFECT' })
    expect(refused.stack).toContain('traps.test')
  })

  it('joins a disposal that is under way', async () => {
    const root = new Context()
    let release = (): void => undefined
    const gate = new Promise<void>((resolve) => (release = resolve))
    const fiber = await root.plugin({
      name: 'slow',
      apply: (ctx: Context) => void ctx.effect(() => () => gate, 'slow'),
    })
    const first = disposeAndJoin(fiber)
    let joined = false
    const second = disposeAndJoin(fiber).then(() => (joined = true))
    await Promise.resolve()
    expect(joined).toBe(false)
    release()
    await Promise.all([first, second])
    expect(fiber.state).toBe(FiberState.DISPOSED)
  })

  it('refuses new registrations on a disposed fiber', async () => {
    const root = new Context()
    const fiber = await root.plugin({ name: 'gone', apply() {} })
    await disposeAndJoin(fiber)
    expect(() => fiber.ctx.on('test/notice', () => undefined)).toThrow('inactive')
  })
})

describe('events', () => {
  it('stops later listeners at the first throw of upstream emit; the contained one reaches all', () => {
    const root = new Context()
    const heard: string[] = []
    root.on('test/notice', () => {
      throw new Error('first fails')
    })
    root.on('test/notice', (value) => void heard.push(value))
    expect(() => root.emit('test/notice', 'x')).toThrow('first fails')
    expect(heard).toEqual([])
    const reported: unknown[] = []
    emitContained(hooksOf(root)['test/notice'], undefined, ['y'], (error) => reported.push(error))
    expect(heard).toEqual(['y'])
    expect(reported).toHaveLength(1)
  })

  it('reports the rejection of an async listener instead of leaving it unhandled', async () => {
    const root = new Context()
    root.on('test/notice', async () => Promise.reject(new Error('late')))
    const reported = await new Promise((resolve) => {
      emitContained(hooksOf(root)['test/notice'], undefined, ['x'], resolve)
    })
    expect(String(reported)).toContain('late')
  })

  it('keeps one live listener table whose lists change in place and vanish when empty', () => {
    const root = new Context()
    const table = hooksOf(root)
    expect(hooksOf(root.extend())).toBe(table)
    expect(table['test/notice']).toBeUndefined()
    const off = root.on('test/notice', () => undefined)
    const list = table['test/notice']
    expect(list).toHaveLength(1)
    expect(Object.keys(list?.[0] ?? {})).toEqual(expect.arrayContaining(['ctx', 'callback']))
    const offFirst = root.on('test/notice', () => undefined, { prepend: true })
    expect(table['test/notice']).toBe(list)
    offFirst()
    off()
    expect(table['test/notice']).toBeUndefined()
  })

  it('dispatches in the order of upstream waterfall, prepend and disposal included', async () => {
    const root = new Context()
    const tag = (name: string) => (value: string, next: () => string) => `${name}(${next()})${value === '' ? '!' : ''}`
    root.on('test/around', tag('a'))
    root.on('test/around', tag('b'))
    root.on('test/around', tag('c'), { prepend: true })
    const gone = await root.plugin({ name: 'gone', apply: (ctx: Context) => void ctx.on('test/around', tag('gone')) })
    await disposeAndJoin(gone)
    const ours = dispatchChain(hooksOf(root)['test/around'], undefined, ['x'], () => 'end')
    expect(ours).toBe(root.waterfall('test/around', 'x', () => 'end'))
    expect(ours).toBe('c(a(b(end)))')
  })

  it('gives lightened listeners the same arguments, traced to their own context, as upstream does', async () => {
    const heardBy = async (lighten: boolean): Promise<unknown[]> => {
      const root = new Context()
      if (lighten) lightenListeners(root)
      if (lighten) lightenListeners(root) // a second service asks for the same
      await root.plugin(Probe)
      const heard: unknown[] = []
      const plain = { plain: true }
      const owner = await root.plugin({
        name: 'owner',
        inject: ['probe'],
        apply: (ctx: Context) => {
          ctx.on('test/traced', function (this: unknown, probe, value, done) {
            heard.push(this, probe.caller() === ctx, value === plain, typeof done)
            done()
          })
        },
      })
      let calls = 0
      root.emit('test/traced', root.probe, plain, () => void calls++)
      const { callback } = hooksOf(root)['test/traced']?.[0] ?? {}
      callback?.call('this', root.probe, plain, () => void calls++)
      await disposeAndJoin(owner)
      root.emit('test/traced', root.probe, plain, () => void calls++)
      return [...heard, calls]
    }
    const lightened = await heardBy(true)
    expect(lightened).toEqual(await heardBy(false))
    expect(lightened).toEqual([null, true, true, 'function', 'this', true, true, 'function', 2])
  })

  it('lightens no other host', () => {
    const [light, other] = [new Context(), new Context()]
    lightenListeners(light)
    expect([light, other].map((root) => Object.hasOwn(root.reflect, 'bind'))).toEqual([true, false])
  })

  it('gives a promise for what comes next where an event promises one', async () => {
    const root = new Context()
    const answers: unknown[] = []
    root.on('test/around', (_value, next) => {
      const answer: unknown = next()
      answers.push(answer)
      return answer as string
    })
    root.on('test/around', () => 'at once')
    const hooks = hooksOf(root)['test/around']
    expect(await dispatchChain(hooks, undefined, ['x'], () => 'end', { promised: true })).toBe('at once')
    expect(dispatchChain(hooks, undefined, ['x'], () => 'end')).toBe('at once')
    expect(answers).toEqual([expect.any(Promise), 'at once'])
  })

  it('refuses a second next() unless the stage may be retried', () => {
    const root = new Context()
    root.on('test/around', (_value, next) => {
      next()
      return next()
    })
    const hooks = hooksOf(root)['test/around']
    expect(() => dispatchChain(hooks, undefined, ['x'], () => 'end')).toThrow('next() called multiple times')
    expect(dispatchChain(hooks, undefined, ['x'], () => 'end', { repeatable: true })).toBe('end')
  })
})
