// The tool catalogue: what it finds out from a definition, and how a page tells it. Booting packages is tested in `product`.
import { compileParameters, compileValueSchema, defineTool } from '@deepseek-ai/dsh-tools'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describeTool, tokensOf } from '../tool-catalog/describe.ts'
import { catalogJson, catalogPage } from '../tool-catalog/page.ts'
import { samples } from '../tool-catalog/sample.ts'

const SEARCH = defineTool({
  name: 'look',
  description: 'Looks for\nsomething.',
  parameters: {
    what: { type: 'string', required: true, minLength: 1, pattern: '\\S', description: 'A | B' },
    mode: { type: 'string', enum: ['fast', 'thorough'] },
    places: {
      type: 'array',
      minItems: 1,
      items: { type: 'object', additionalProperties: false, properties: { path: { type: 'string', required: true } } },
    },
  },
  output: {
    schema: {
      oneOf: [
        { type: 'null' },
        { type: 'object', additionalProperties: false, properties: { found: { type: 'integer', required: true } } },
      ],
    },
    render: (_args, value) => [{ type: 'text', text: value === null ? 'nothing' : String(value.found) }],
    presentationMeta: (_args, value) => (value === null ? undefined : { found: value.found }),
  },
  timeoutMs: 500,
  maxResultBytes: () => 10,
  isConcurrencySafe: ({ mode }) => mode !== 'thorough',
  execute: () => null,
  presentCall: ({ what }) => ({ card: 'generic', title: what, kind: 'search' }),
  presentResult: (_args, { meta }) =>
    meta === undefined ? undefined : { card: 'search', shape: 'paths', paths: [], truncated: false, total: 0 },
})

const facts = describeTool(SEARCH, { name: 'look', description: SEARCH.description, parameters: SEARCH.parameters })

describe('a definition', () => {
  it('says its limits and what it costs', () => {
    expect(facts.timeoutMs).toBe(500)
    expect(facts.maxResultBytes).toBe('depends')
    const { name, description, parameters } = SEARCH
    expect(facts.tokens).toBe(Math.ceil(Buffer.byteLength(JSON.stringify({ name, description, parameters })) / 4))
    expect(tokensOf('日本語')).toBe(3)
  })

  it('is asked for its cards and for what may overlap, choice by choice', () => {
    expect(facts.views).toEqual({ call: ['generic'], result: ['search'] })
    expect(facts.concurrency).toBe('depends')
  })

  it('without presenters and classifier has the generic card and runs alone', () => {
    const { name, description, parameters, output } = SEARCH
    const bare = { name, description, parameters, output, execute: () => null }
    const plain = describeTool(bare, { name: 'look', description: '', parameters: SEARCH.parameters })
    expect(plain.views).toEqual({ call: ['generic'], result: ['generic'] })
    expect(plain.concurrency).toBe('exclusive')
  })
})

describe('made-up values', () => {
  it('cover each branch and each choice', () => {
    const schema = compileValueSchema({
      oneOf: [{ type: 'null' }, { type: 'string', enum: ['a', 'b'] }, { type: 'array', items: { type: 'boolean' } }],
    })
    expect(samples(schema)).toEqual([null, 'a', 'b', [], [false], [true]])
  })

  it('have the required properties alone, and all of them', () => {
    const schema = compileParameters({ id: { type: 'integer', minimum: 7, required: true }, name: { type: 'string' } })
    expect(samples(schema)).toEqual([{ id: 7 }, { id: 7, name: 'a' }])
  })

  it('stay within lengths and bounds', () => {
    fc.assert(
      fc.property(fc.nat(20), fc.nat(20), (minLength, more) => {
        const [text = null] = samples({ type: 'string', minLength, maxLength: minLength + more + 1 })
        const { length } = text as string
        expect(length).toBeGreaterThanOrEqual(minLength)
        expect(length).toBeLessThanOrEqual(minLength + more + 1)
      }),
    )
  })
})

describe('the catalogue', () => {
  const web = [{ preset: 'web', platforms: ['linux', 'darwin', 'win32'] }]
  const catalog = {
    policy: [{ name: '@deepseek-ai/dsh-gate', dir: 'packages/x/gate', places: ['tools/pre-execute'], presets: web }],
    packages: [
      {
        name: '@deepseek-ai/dsh-tool-look',
        dir: 'packages/x/tool-look',
        description: 'Looks.',
        requires: ['fs'],
        uses: ['approval', 'sandboxPolicy'],
        guidanceTokens: 4,
        presets: [
          { preset: 'web', platforms: ['linux', 'darwin', 'win32'] },
          { preset: 'headless', platforms: ['linux'] },
        ],
        tools: [
          { ...facts, conditional: { mode: ['approval', 'a confined shell'] } },
          { ...facts, name: 'look_again', conditional: {} },
        ],
      },
    ],
  }
  const page = catalogPage(catalog)

  it('tells parameters with their bounds, conditions and inner fields', () => {
    expect(page).toContain('| `what` | `string`, not blank | A \\| B |')
    expect(page).toContain(
      '| `mode?` | `"fast" \\| "thorough"` |  Only where the host has `ctx.approval` and a confined shell. |',
    )
    expect(page).toContain('| `places?` | `object[]`, not empty |  |\n| `places[].path` | `string` |  |')
  })

  it('tells policy, presets and the shape of values, the same shape once', () => {
    expect(page).toContain(
      "- **Policy** under the session's sandbox policy; may ask a person for more than that allows; deadline 500 ms;",
    )
    expect(page).toContain('`web`, `headless` (Linux)')
    expect(page).toContain('| [`@deepseek-ai/dsh-gate`](../packages/x/gate) | `tools/pre-execute` | `web` |')
    expect(page).toContain('null | {\n  found: integer\n}')
    expect(page).toContain('Returns what [`look`](#look) returns.')
  })

  it('says the same as data', () => {
    const { tools } = JSON.parse(catalogJson(catalog)) as { tools: Record<string, unknown>[] }
    expect(tools.map(({ name }) => name)).toEqual(['look', 'look_again'])
    expect(tools[0]).toMatchObject({
      tokens: facts.tokens,
      output: SEARCH.output.schema,
      presets: catalog.packages[0]?.presets,
    })
  })
})
