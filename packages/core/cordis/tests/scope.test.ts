import { expect, it } from 'vitest'
import { Context, createScope, scopeChain, scopeOf } from '@deepseek-ai/cordis'

it('gives what is registered through a scope to that scope and unwinds it with the scope', async () => {
  const root = new Context()
  const agent = { id: 'a' }
  const scope = createScope(root, agent)
  const undone: string[] = []
  scope.ctx.effect(() => () => void undone.push('effect'), 'test')
  expect(scopeOf(scope.ctx)?.key).toBe(agent)
  expect(scopeOf(scope.ctx.extend())?.key).toBe(agent)
  expect(scopeOf(root)).toBeUndefined()
  await scope.dispose()
  expect(undone).toEqual(['effect'])
  expect(scopeChain(agent)).toEqual([])
})

it('lists a nested scope before its parents', async () => {
  const root = new Context()
  const [outer, inner] = [{}, {}]
  const parent = createScope(root, outer)
  const child = createScope(parent.ctx, inner)
  expect(scopeChain(inner).map((scope) => scope.key)).toEqual([inner, outer])
  expect(() => createScope(root, inner)).toThrow('already has an open scope')
  expect(() => createScope(root, {}, { parent: {} })).toThrow('no open scope')
  await child.dispose()
  await child.dispose()
  await parent.dispose()
})

it('reads services like the root does when the host opened it, while its plugins must inject', async () => {
  const root = new Context()
  const scope = createScope(root, {})
  const inner = createScope(scope.ctx, {})
  await root.plugin({ name: 'provider', apply: (ctx: Context) => void ctx.provide('probe', { value: 1 }) })
  const read = (ctx: Context): unknown => (Reflect.get(ctx, 'probe') as unknown as { value: number }).value
  expect([read(scope.ctx), read(inner.ctx)]).toEqual([1, 1])
  expect(() => void Reflect.get(scope.ctx, 'nobody')).toThrow('without inject')
  const sneaky = scope.ctx.plugin({ name: 'sneaky', apply: (ctx: Context) => void Reflect.get(ctx, 'probe') })
  await expect(sneaky.await().then(() => 'started', String)).resolves.toContain('without inject')
})
