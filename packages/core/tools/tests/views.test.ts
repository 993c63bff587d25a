// What each scope sees: restrictions, modes, names that providers accept, tools that none would take.
import { createScope, disposeAndJoin } from '@deepseek-ai/cordis'
import { describe, expect, it } from 'vitest'
import { bodyTool, failureOf, greet, harness, type Harness } from './fixtures.ts'

const agent = (id: string): { id: string; inject(): void } => ({ id, inject: () => undefined })

async function threeTools(): Promise<Harness> {
  const made = await harness()
  for (const name of ['one', 'two', 'three']) made.tools.register(bodyTool(name, () => name))
  return made
}

const names = (h: Harness, scope?: object): string[] => h.tools.schemas(scope).map((schema) => schema.name)

describe('restrict', () => {
  it('keeps or removes for one agent alone, in lookup, projection and dispatch', async () => {
    const h = await threeTools()
    const [a, b] = [agent('a'), agent('b')]
    const scope = createScope(h.ctx, a)
    createScope(h.ctx, b)
    const lift = scope.ctx.tools.restrict({ deny: ['two'] })
    expect(names(h, a)).toEqual(['one', 'three'])
    expect(h.tools.get('two', a)).toBeUndefined()
    expect(failureOf(await h.call('two', {}, { agent: a })).code).toBe('UNKNOWN_TOOL')
    expect(await h.call('two', {}, { agent: b })).toMatchObject({ value: 'two' })
    lift()
    expect(names(h, a)).toEqual(['one', 'two', 'three'])
  })

  it('intersects several, and lifting one keeps the others', async () => {
    const h = await threeTools()
    const a = agent('a')
    const scope = createScope(h.ctx, a)
    const first = scope.ctx.tools.restrict({ allow: ['one', 'two'] })
    scope.ctx.tools.restrict({ deny: ['two'] })
    expect(names(h, a)).toEqual(['one'])
    first()
    expect(names(h, a)).toEqual(['one', 'three'])
  })

  it('copies its lists', async () => {
    const h = await threeTools()
    const a = agent('a')
    const deny = ['one']
    createScope(h.ctx, a).ctx.tools.restrict({ deny })
    deny.push('two')
    expect(names(h, a)).toEqual(['two', 'three'])
  })

  it('admits later tools through deny and refuses them through allow', async () => {
    const h = await threeTools()
    const [open, shut] = [agent('open'), agent('shut')]
    createScope(h.ctx, open).ctx.tools.restrict({ deny: ['one'] })
    createScope(h.ctx, shut).ctx.tools.restrict({ allow: ['one'] })
    h.tools.register(greet('later'))
    expect(names(h, open)).toContain('later')
    expect(names(h, shut)).toEqual(['one'])
  })

  it('never hides what the scope itself registers, and reaches every scope below', async () => {
    const h = await threeTools()
    const [outer, inner] = [agent('outer'), agent('inner')]
    const outerScope = createScope(h.ctx, outer)
    const innerScope = createScope(outerScope.ctx, inner)
    outerScope.ctx.tools.register(greet('own'))
    outerScope.ctx.tools.restrict({ allow: ['one'] })
    expect(names(h, outer)).toEqual(['one', 'own'])
    expect(names(h, inner)).toEqual(['one', 'own'])
    innerScope.ctx.tools.restrict({ deny: ['own'] })
    expect(names(h, inner)).toEqual(['one'])
    expect(h.tools.get('own', inner)).toBeUndefined()
    innerScope.ctx.tools.register(bodyTool('own', () => 'mine'))
    expect(names(h, inner)).toEqual(['one', 'own'])
  })

  it('fails for a plain context, an empty filter, unknown, local and reserved names', async () => {
    const h = await threeTools()
    const scope = createScope(h.ctx, agent('a'))
    scope.ctx.tools.register(greet('local'))
    const restrict = (filter: object) => () => scope.ctx.tools.restrict(filter)
    expect(() => h.tools.restrict({ deny: ['one'] })).toThrow('tools.restrict() requires a scoped context (agent.ctx)')
    expect(restrict({})).toThrow('tools.restrict({}) is a no-op')
    expect(restrict({ deny: [] })).toThrow('tools.restrict({}) is a no-op')
    expect(restrict({ deny: ['local'] })).toThrow('tools.restrict() names unknown global tool(s) "local"')
    expect(restrict({ allow: ['x', 'y'] })).toThrow(
      'tools.restrict() names unknown global tool(s) "x", "y"; known global tools: one, three, two',
    )
    expect(restrict({ deny: ['run_code'] })).toThrow('cannot name reserved Code Mode presentation transport "run_code"')
    expect(restrict({ deny: 'one' })).toThrow('needs a list of tool names as deny')
  })

  it('ends with its scope', async () => {
    const h = await threeTools()
    const a = agent('a')
    const scope = createScope(h.ctx, a)
    const owner = await scope.ctx.plugin({
      name: 'owner',
      inject: ['tools'],
      apply: (ctx) => void ctx.tools.restrict({ deny: ['one'] }),
    })
    expect(names(h, a)).toEqual(['two', 'three'])
    await disposeAndJoin(owner)
    expect(names(h, a)).toEqual(['one', 'two', 'three'])
  })
})

describe('presentAs', () => {
  it('needs a scope, a known mode and no earlier choice', async () => {
    const h = await harness()
    const scope = createScope(h.ctx, agent('a'))
    expect(() => h.tools.presentAs('code')).toThrow('tools.presentAs() requires a scoped context (agent.ctx)')
    expect(() => scope.ctx.tools.presentAs('loud' as never)).toThrow('mode must be native, code or both (got "loud")')
    const undo = scope.ctx.tools.presentAs('native')
    expect(() => scope.ctx.tools.presentAs('both')).toThrow(
      'tools.presentAs("both") conflicts with "native" already declared for this scope',
    )
    undo()
    scope.ctx.tools.presentAs('both')
  })
})

describe('names', () => {
  it('are told to models in a form that every provider accepts, one to one', async () => {
    const h = await harness()
    const odd = ['files/read', 'files.read', 'файл', 'x'.repeat(90), 'x'.repeat(91), 'plain_name-1']
    for (const name of odd) h.tools.register(bodyTool(name, () => name))
    const told = names(h)
    expect(new Set(told).size).toBe(odd.length)
    for (const name of told) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
    expect(told.at(-1)).toBe('plain_name-1')
    for (const [index, name] of told.entries()) expect(await h.call(name)).toMatchObject({ value: odd[index] })
    for (const name of odd) expect(await h.call(name)).toMatchObject({ value: name })
  })

  it('keep to what the scope sees', async () => {
    const h = await harness()
    const a = agent('a')
    const scope = createScope(h.ctx, a)
    h.tools.register(bodyTool('a/b', () => 'global'))
    const [told] = names(h)
    scope.ctx.tools.restrict({ deny: ['a/b'] })
    expect(failureOf(await h.call(told ?? '', {}, { agent: a })).code).toBe('UNKNOWN_TOOL')
  })
})

describe('quarantine', () => {
  it.each([
    ['a scalar root', { type: 'string' }, 'must have the root type "object"'],
    ['no root type', {}, 'must have the root type "object" (got none)'],
    ['a root union', { type: 'object', oneOf: [] }, 'must not have oneOf at the root'],
    ['a root anyOf', { type: 'object', anyOf: [] }, 'must not have anyOf at the root'],
    ['no schema', null, 'must be a schema object (got null)'],
    ['something that is not JSON', { type: 'object', default: new Date() }, 'must be lossless JSON'],
  ])('hides one tool with %s, says why, and keeps the others', async (_what, parameters, reason) => {
    const h = await harness()
    h.tools.register(bodyTool('odd', () => 'ran', { parameters: parameters as never }))
    h.tools.register(greet())
    expect(names(h)).toEqual(['greet'])
    expect(h.tools.diagnostics().quarantined).toEqual([
      { name: 'odd', reason: expect.stringContaining(reason) as string },
    ])
    expect(await h.call('odd')).toMatchObject({ value: 'ran' })
  })
})
