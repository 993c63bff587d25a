import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Context, disposeAndJoin, retire } from '@deepseek-ai/cordis'

interface Own extends Context {
  bell: { ring(): string }
}

let root: Context
beforeEach(() => {
  root = new Context()
})
afterEach(() => root.fiber.dispose())

const provide = (sound: string) =>
  root.plugin({
    name: sound,
    apply: (ctx: Context) => void ctx.provide('bell' as never, { ring: () => sound } as never),
  })

describe('a retired fiber', () => {
  it('has given up what it registered, and still reads services, those of plugins below it included', async () => {
    await provide('ding')
    let heard = 0
    let own!: Own
    let below!: Own
    const fiber = root.plugin({
      inject: ['bell'],
      apply: (ctx: Context) => {
        own = ctx as Own
        ctx.on('tick' as never, (() => heard++) as never)
        ctx.plugin({ inject: ['bell'], apply: (inner: Context) => void (below = inner as Own) })
      },
    })
    await fiber
    root.emit('tick' as never)
    await retire(fiber)
    root.emit('tick' as never)
    expect(heard).toBe(1)
    expect(own.bell.ring()).toBe('ding')
    expect(below.bell.ring()).toBe('ding')
    expect(() => own.on('tick' as never, (() => {}) as never)).toThrow(/INACTIVE_EFFECT|inactive/i)
  })

  it('reads the service that is there now, and fails as ever when there is none', async () => {
    const first = provide('ding')
    await first
    let own!: Own
    const fiber = root.plugin({ inject: ['bell'], apply: (ctx: Context) => void (own = ctx as Own) })
    await fiber
    await retire(fiber)
    await disposeAndJoin(first)
    expect(() => own.bell).toThrow(/bell/)
    await provide('dong')
    expect(own.bell.ring()).toBe('dong')
  })

  it('changes nothing for a fiber that is disposed otherwise', async () => {
    await provide('ding')
    let own!: Own
    let other!: Own
    const fiber = root.plugin({ inject: ['bell'], apply: (ctx: Context) => void (own = ctx as Own) })
    const disposed = root.plugin({ inject: ['bell'], apply: (ctx: Context) => void (other = ctx as Own) })
    await Promise.all([fiber, disposed])
    await retire(fiber)
    await disposeAndJoin(disposed)
    expect(own.bell.ring()).toBe('ding')
    expect(() => other.bell).toThrow(/inactive context/)
  })
})
