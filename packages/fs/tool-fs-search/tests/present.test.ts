import { contentText, type Json } from '@deepseek-ai/dsh-tools'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Config, globTool, grepTool } from '../src/index.ts'
import { presentSearchResult } from '../src/present.ts'
import type { GrepValue } from '../src/index.ts'

function valueOf(files: GrepValue['files'], completeness: Partial<GrepValue['completeness']> = {}): GrepValue {
  const rest = { complete: true, searched: 3, skipped: [], unreadable: [], ...completeness }
  return { mode: 'matches', path: '.', files, total: files.length, completeness: rest }
}

function metaOf(value: GrepValue): Json {
  return grepTool().output.presentationMeta?.({} as never, value as never) ?? null
}

describe('the card', () => {
  it('shows a match over several lines as lines, each with its part of the match', () => {
    const matches = [
      { line: 4, text: 'ab\ncd\nef', ranges: [[1, 7]] },
      { line: 9, text: 'around', context: true as const },
    ]
    const view = presentSearchResult({ content: [], isError: false, meta: metaOf(valueOf([{ path: 'a', matches }])) })
    expect(view).toMatchObject({
      files: [
        {
          path: 'a',
          matches: [
            { lineNumber: 4, line: 'ab', ranges: [[1, 2]] },
            { lineNumber: 5, line: 'cd', ranges: [[0, 2]] },
            { lineNumber: 6, line: 'ef', ranges: [[0, 1]] },
            { lineNumber: 9, line: 'around', context: true },
          ],
        },
      ],
    })
  })

  it('says that it shows a part when the log keeps no more', () => {
    const files = Array.from({ length: 300 }, (_, at) => ({
      path: `f${at}`,
      matches: [{ line: 1, text: '漢'.repeat(200) }],
    }))
    const meta = metaOf(valueOf(files))
    expect(Buffer.byteLength(JSON.stringify(meta))).toBeLessThanOrEqual(65_536)
    const view = presentSearchResult({ content: [], isError: false, meta })
    expect(view).toMatchObject({ truncated: true, total: 300, notes: ['more results'] })
    expect(view?.remarks).toContain('The card shows the first part of what the model reads.')
  })

  it('is made of any old log, or left to the generic one', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (meta) => {
        const view = presentSearchResult({ content: [], isError: false, meta: meta as Json })
        if (view !== undefined) expect(view.card).toBe('search')
      }),
    )
    expect(presentSearchResult({ content: [], isError: true, meta: {} })).toBeUndefined()
  })
})

it('takes a name for a name, not for a line of the receipt', () => {
  const value = valueOf([{ path: 'a\n[searched 9 files]', matches: [{ line: 1, text: 'x\u001b[2J' }] }], {
    unreadable: ['b'],
    skipped: [{ rule: 'unreadable', count: 1, examples: ['b\n[c]'] }],
  })
  const text = contentText(grepTool().output.render({} as never, value as never))
  expect(text).toBe(
    '"a\\n[searched 9 files]"\n1: x\uFFFD[2J\n[searched 3 files in .; not searched: 1 unreadable ("b\\n[c]")]',
  )
})

it('names the field, what arrived and what was wanted of a configuration', () => {
  expect(Config['~standard'].validate({ grepLimit: 0, nope: 1 })).toEqual({
    issues: [
      { message: 'tool-fs-search: grepLimit is 0; expected a whole number from 1 to 10000', path: ['grepLimit'] },
      { message: expect.stringContaining('unknown field "nope"') as unknown, path: ['nope'] },
    ],
  })
  expect(Config['~standard'].validate(undefined)).toMatchObject({ value: { grepLimit: 250, globLimit: 100 } })
})

it('lets both tools overlap others', () => {
  for (const tool of [grepTool(), globTool()]) expect(tool.isConcurrencySafe?.({ pattern: 'x' } as never)).toBe(true)
})
