import * as fc from 'fast-check'
import { stringify } from 'yaml'
import { describe, expect, it } from 'vitest'
import { composeSources } from '../src/compose.ts'
import { dump } from '../src/dump.ts'
import { interpolate } from '../src/interpolate.ts'
import { mergeDeep } from '../src/patch.ts'
import { YamlSource } from '../src/yaml-source.ts'
import type { ComposedRow, Composition } from '../src/types.ts'

// Each run writes and reads YAML several times; these are enough to meet every kind of entry.
const runs = { numRuns: 25 }
const options = { env: { API_KEY: 'sk-secret', NAME: 'ada' }, cwd: '/work', home: '/home', platform: 'linux' }

function composed(presets: unknown[], patches: unknown[] = []): Composition {
  const source = (data: unknown, index: number): YamlSource => new YamlSource(`/f/${index}.yml`, stringify(data))
  return composeSources(presets.map(source), patches.map(source), options)
}

function essence(rows: readonly ComposedRow[]): unknown {
  return rows.map(({ origin: _origin, changedBy: _by, setBy: _setBy, shownConfig: _shown, rows: inner, ...row }) => ({
    ...row,
    ...(inner === undefined ? {} : { rows: essence(inner) }),
  }))
}

const text = fc.oneof(
  fc.string(),
  fc.constantFrom('${env.API_KEY}', 'x ${env.NAME} $${y}', '${home}', '$$', 'null', '1e3'),
)
// `${` in free text would be a variable, which has tests of its own.
const safeText = text.map((value) =>
  /^[^$]*$/.test(value) || value.includes('env.') || value === '${home}' ? value : '$',
)
const key = fc.string({ minLength: 1, maxLength: 8 })
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    safeText,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3 }),
  ),
})).value
const record = fc.dictionary(key, json, { maxKeys: 4 })

const rowIds = ['a', 'b', 'c', 'd', 'e'] as const
const preset = rowIds.map((id) => ({ id, name: id, config: { start: id } }))
const override = fc.record(
  { id: fc.constantFrom(...rowIds), config: record, disabled: fc.boolean(), required: fc.boolean() },
  { requiredKeys: ['id'] },
)
const merge = fc.record({ id: fc.constantFrom(...rowIds), 'config+': record })

describe('patch composition', () => {
  it('gives the same when a patch of overrides and merges is applied twice', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(override, merge), { maxLength: 6 }), (patch) => {
        const lastPerRow = [...new Map(patch.map((entry) => [entry.id, entry])).values()]
        const once = composed([preset], [lastPerRow])
        expect(essence(composed([preset], [lastPerRow, lastPerRow]).rows)).toEqual(essence(once.rows))
      }),
      runs,
    )
  })

  it('gives the same whether entries come in one file or in one file each', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(override, merge), { maxLength: 6 }), (patch) => {
        const apart = composed(
          [preset],
          patch.map((entry) => [entry]),
        )
        expect(essence(apart.rows)).toEqual(essence(composed([preset], [patch]).rows))
      }),
      runs,
    )
  })

  it('lets overrides of different rows come in any order', () => {
    fc.assert(
      fc.property(fc.uniqueArray(override, { selector: ({ id }) => id }), (patch) => {
        expect(essence(composed([preset], [patch.toReversed()]).rows)).toEqual(
          essence(composed([preset], [patch]).rows),
        )
      }),
      runs,
    )
  })

  it('keeps the order of rows: overrides move nothing, inserts go last', () => {
    fc.assert(
      fc.property(fc.array(override), fc.uniqueArray(fc.stringMatching(/^n[a-z0-9]{1,5}$/)), (patch, added) => {
        const inserts = added.map((id) => ({ insert: [{ id, name: 'n' }] }))
        expect(composed([preset], [[...patch, ...inserts]]).rows.map(({ id }) => id)).toEqual([...rowIds, ...added])
      }),
      runs,
    )
  })
})

describe('merging', () => {
  it('is the identity for the same mapping, keeps what the patch does not name, and changes no input', () => {
    fc.assert(
      fc.property(record, record, (base, over) => {
        const before = structuredClone([base, over])
        const merged = mergeDeep(base, over)
        expect(mergeDeep(base, base)).toEqual(base)
        expect(mergeDeep(merged, over)).toEqual(merged)
        for (const [name, value] of Object.entries(base)) {
          if (!Object.hasOwn(over, name)) expect(merged[name]).toEqual(value)
        }
        expect([base, over]).toEqual(before)
      }),
      runs,
    )
  })
})

describe('dump', () => {
  it('composes to the same rows again, and prints no secret', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(override, merge), { maxLength: 4 }), (patch) => {
        const first = composed([preset], [patch, [{ insert: [{ id: 'g', group: true, config: [{ name: 'deep' }] }] }]])
        const printed = dump(first)
        const again = composeSources([new YamlSource('/f/again.yml', printed)], [], options)
        expect(essence(again.rows)).toEqual(essence(first.rows))
        expect(printed).not.toContain('sk-secret')
      }),
      runs,
    )
  })
})

describe('interpolation', () => {
  it('is undone by what is shown, for any text', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('$', '{', '}', '${', '$${', 'a', '${home}', '${env.NAME}')), (parts) => {
        let filled
        try {
          filled = interpolate(parts.join(''), options, 'config')
        } catch {
          return // an unknown or unfinished variable
        }
        expect(interpolate(filled.shown, options, 'config').value).toBe(filled.value)
      }),
      runs,
    )
  })
})
