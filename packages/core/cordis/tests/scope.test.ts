import { expect, it } from 'vitest'
import { Context, createScope, scopeChain, scopeOf } from '../src/index.ts'

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
