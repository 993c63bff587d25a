import { createHost, createScope, type Context } from '@deepseek-ai/cordis'
import * as fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { SystemPrompt, type PromptSection, type SystemPromptConfig } from '@deepseek-ai/dsh-system-prompt'

async function start(config: SystemPromptConfig = { identity: false }): Promise<Context> {
  const host = createHost({ write: () => {} })
  onTestFinished(() => host.dispose())
  await host.ctx.plugin(SystemPrompt, config)
  return host.ctx
}

const schema = (name: string) => ({ name, description: '', parameters: { type: 'object' } as const })

describe('sections', () => {
  it('are joined by blank lines, ascending, ties by registration, empties dropped', async () => {
    const { systemPrompt } = await start()
    systemPrompt.section({ name: 'late', order: 5, text: 'E' })
    systemPrompt.section({ name: 'tie 1', order: 1, text: 'B' })
    systemPrompt.section({ name: 'tie 2', order: 1, text: () => 'C' })
    systemPrompt.section({ name: 'empty', order: 2, text: () => '' })
    systemPrompt.section({ name: 'first', order: -1.5, text: 'A' })
    const prompt = systemPrompt.assemble()
    expect(prompt.sections.map(({ name }) => name)).toEqual(['first', 'tie 1', 'tie 2', 'late'])
    expect(prompt.system).toBe('A\n\nB\n\nC\n\nE')
  })

  it('begin with the identity and the persona of the config', async () => {
    const names = async (config: SystemPromptConfig): Promise<string[]> =>
      (await start(config)).systemPrompt.assemble().sections.map(({ name }) => name)
    expect(await names({})).toEqual(['identity'])
    expect(await names({ identity: false })).toEqual([])
    expect(await names({ identity: 'I', persona: 'P' })).toEqual(['identity', 'persona'])
    const { system } = (await start({})).systemPrompt.assemble()
    expect(system).toContain('dsh agent')
    expect(system).not.toMatch(/\d{4}|\//) // no date, no path
  })

  it('end with the fiber that registered them, or with their disposer', async () => {
    const ctx = await start()
    const fiber = ctx.plugin({
      name: 'author',
      inject: ['systemPrompt'],
      apply: (inner: Context) => void inner.systemPrompt.section({ name: 'a', order: 0, text: 'A' }),
    })
    await fiber
    const dispose = ctx.systemPrompt.section({ name: 'b', order: 1, text: 'B' })
    expect(ctx.systemPrompt.assemble().system).toBe('A\n\nB')
    expect(fiber.getEffects().map(({ label }) => label)).toContain('systemPrompt.section(a)')
    dispose()
    dispose()
    expect(ctx.systemPrompt.assemble().system).toBe('A')
    await fiber.dispose()
    expect(ctx.systemPrompt.assemble().system).toBe('')
    ctx.systemPrompt.section({ name: 'a', order: 0, text: 'again' })
  })

  it('refuses a second one of a name in a layer and keeps the first', async () => {
    const { systemPrompt } = await start()
    systemPrompt.section({ name: 'a', order: 0, text: 'first' })
    expect(() => systemPrompt.section({ name: 'a', order: 1, text: 'second' })).toThrow(
      expect.objectContaining({ code: 'DUPLICATE_SECTION' }),
    )
    expect(systemPrompt.assemble().system).toBe('first')
    systemPrompt.context({ name: 'a', order: 0, text: 'a context may have the name' })
  })

  it.each([
    ['a missing name', { name: '', order: 0, text: '' }],
    ['an order that is not finite', { name: 'a', order: Number.NaN, text: '' }],
    ['an infinite order', { name: 'a', order: Infinity, text: '' }],
    ['a text that is none', { name: 'a', order: 0, text: 5 as never }],
  ])('refuses %s', async (_, section: PromptSection) => {
    const { systemPrompt } = await start()
    expect(() => systemPrompt.section(section)).toThrow(expect.objectContaining({ code: 'INVALID_SECTION' }))
  })

  it('fails the assembly by name when a text cannot be computed', async () => {
    const { systemPrompt } = await start()
    const cause = new Error('disk on fire')
    const dispose = systemPrompt.section({
      name: 'policy',
      order: 0,
      text: () => {
        throw cause
      },
    })
    const failure = { code: 'PROMPT_SECTION_FAILED', message: expect.stringContaining('"policy"'), cause }
    expect(() => systemPrompt.assemble()).toThrow(expect.objectContaining(failure))
    dispose()
    systemPrompt.context({ name: 'later', order: 0, text: (async () => 'x') as never })
    expect(() => systemPrompt.assemble()).toThrow(/"later".*a promise/)
  })
})

describe('scopes', () => {
  it('see their own sections, those of the scopes around them and the global ones; the nearest shadows', async () => {
    const ctx = await start()
    const outer = createScope(ctx, { name: 'outer' })
    const inner = createScope(outer.ctx, { name: 'inner' })
    ctx.systemPrompt.section({ name: 'x', order: 0, text: 'global x' })
    ctx.systemPrompt.section({ name: 'y', order: 1, text: 'global y' })
    outer.ctx.systemPrompt.section({ name: 'x', order: 0, text: 'outer x' })
    inner.ctx.systemPrompt.section({ name: 'x', order: 2, text: 'inner x' })
    inner.ctx.systemPrompt.section({ name: 'z', order: 3, text: 'inner z' })
    const system = (scope?: object): string =>
      ctx.systemPrompt.assemble(scope === undefined ? {} : { scope }).system.replaceAll('\n\n', ', ')
    expect(system()).toBe('global x, global y')
    expect(system(outer.key)).toBe('outer x, global y')
    expect(system(inner.key)).toBe('global y, inner x, inner z')
    expect(system({})).toBe('global x, global y')
    await inner.dispose()
    expect(system(outer.key)).toBe('outer x, global y')
  })

  it('are told to functions and providers', async () => {
    const ctx = await start()
    const scope = createScope(ctx, { id: 'agent' })
    ctx.systemPrompt.section({ name: 'a', order: 0, text: (asking) => JSON.stringify(asking) })
    ctx.systemPrompt.tools((key) => [schema(key === scope.key ? 'scoped' : 'global')])
    expect(ctx.systemPrompt.assemble()).toMatchObject({ system: '{}', tools: [{ name: 'global' }] })
    expect(ctx.systemPrompt.assemble({ scope: scope.key })).toMatchObject({
      system: '{"scope":{"id":"agent"}}',
      tools: [{ name: 'scoped' }],
    })
  })
})

describe('contexts', () => {
  it('stay out of the prefix', async () => {
    const { systemPrompt } = await start()
    systemPrompt.section({ name: 'a', order: 0, text: 'A' })
    systemPrompt.context({ name: 'date', order: 2, text: () => '2026' })
    systemPrompt.context({ name: 'cwd', order: 1, text: '/work' })
    systemPrompt.context({ name: 'none', order: 0, text: '' })
    expect(systemPrompt.assemble()).toMatchObject({
      system: 'A',
      contexts: [
        { name: 'cwd', text: '/work' },
        { name: 'date', text: '2026' },
      ],
    })
  })
})

describe('tools', () => {
  it('are concatenated in the order of their providers, who leave with their fibers', async () => {
    const ctx = await start()
    const provider = () => [schema('b'), schema('a')]
    const dispose = ctx.systemPrompt.tools(provider)
    ctx.systemPrompt.tools(() => [schema('c')])
    expect(ctx.systemPrompt.assemble().tools.map(({ name }) => name)).toEqual(['b', 'a', 'c'])
    dispose()
    expect(ctx.systemPrompt.assemble().tools.map(({ name }) => name)).toEqual(['c'])
  })

  it('must not share a name', async () => {
    const { systemPrompt } = await start()
    systemPrompt.tools(() => [schema('a'), schema('b'), schema('c')])
    systemPrompt.tools(() => [schema('c'), schema('a')])
    expect(() => systemPrompt.assemble()).toThrow(
      expect.objectContaining({ code: 'DUPLICATE_TOOLS', message: expect.stringContaining('"c", "a"') }),
    )
  })

  it('fail the assembly when a provider throws', async () => {
    const { systemPrompt } = await start()
    systemPrompt.tools(() => {
      throw new Error('no registry')
    })
    expect(() => systemPrompt.assemble()).toThrow(/no registry/)
  })
})

describe('an unchanged composition', () => {
  it('is byte-identical however its parts came and went', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(
          fc.record({ name: fc.string({ minLength: 1 }), order: fc.integer({ min: -2, max: 2 }), text: fc.string() }),
          { selector: ({ name }) => name, maxLength: 8 },
        ),
        fc.integer({ min: 0, max: 7 }),
        async (sections, extra) => {
          const host = createHost({ write: () => {} })
          await host.ctx.plugin(SystemPrompt, { identity: false })
          const { systemPrompt } = host.ctx
          for (const [index, section] of sections.entries()) {
            if (index === extra) systemPrompt.section({ name: 'passing by', order: 0, text: 'X' })()
            systemPrompt.section(section)
          }
          const { system } = systemPrompt.assemble()
          expect(systemPrompt.assemble().system).toBe(system)
          const expected = sections.toSorted((a, b) => a.order - b.order).map(({ text }) => text)
          expect(system).toBe(expected.filter((text) => text !== '').join('\n\n'))
          await host.dispose()
        },
      ),
      { numRuns: 30 },
    )
  })

  it('costs little to assemble again', async () => {
    const { systemPrompt } = await start()
    for (let n = 0; n < 50; n++) systemPrompt.section({ name: `s${n}`, order: n % 7, text: 'x'.repeat(200) })
    systemPrompt.assemble()
    const began = performance.now()
    for (let n = 0; n < 200; n++) systemPrompt.assemble()
    expect((performance.now() - began) / 200).toBeLessThan(1) // milliseconds; about 0.01 when nothing else runs
  })
})

describe('the config', () => {
  it.each([
    [{ identity: true }, 'identity'],
    [{ persona: 5 }, 'persona'],
    [{ persona_: 'x' }, 'persona_'],
  ])('refuses %j by field', async (config, field) => {
    const host = createHost({ write: () => {} })
    onTestFinished(() => host.dispose())
    await expect((async () => host.ctx.plugin(SystemPrompt, config as never))()).rejects.toThrow(field)
  })
})
