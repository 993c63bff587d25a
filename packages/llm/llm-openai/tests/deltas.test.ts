import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LlmChunk } from '@deepseek-ai/dsh-llm'
import { DeltaReader } from '../src/deltas.ts'

function read(chunks: readonly unknown[]): LlmChunk[] {
  const reader = new DeltaReader()
  return [...chunks.flatMap((chunk) => [...reader.read(chunk)]), reader.end('p')]
}

function call(fields: Record<string, unknown>): unknown {
  return { choices: [{ delta: { tool_calls: [fields] } }] }
}

const finish = { choices: [{ delta: {}, finish_reason: 'tool_calls' }] }

describe('the delta reader', () => {
  it('reads whatever fragments a text of arguments is cut into', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(2), fc.string())), (fragments) => {
        const heads = [0, 1, 2].map((index) => call({ index, id: `id${index}`, function: { name: `n${index}` } }))
        const parts = fragments.map(([index, text]) => call({ index, function: { arguments: text } }))
        const seen = ['', '', '']
        for (const chunk of read([...heads, ...parts, finish])) {
          if (chunk.type === 'tool-call') seen[chunk.index] += chunk.argumentsDelta
        }
        const wanted = [0, 1, 2].map((index) =>
          fragments
            .filter(([each]) => each === index)
            .map(([, text]) => text)
            .join(''),
        )
        expect(seen).toEqual(wanted)
      }),
    )
  })

  it('survives chunks of any shape and still ends', () => {
    const keys = fc.constantFrom(
      'choices',
      'delta',
      'tool_calls',
      'function',
      'name',
      'arguments',
      'index',
      'id',
      'content',
      'usage',
    )
    const shape = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 6 },
        fc.jsonValue(),
        fc.array(tie('node'), { maxLength: 3 }),
        fc.dictionary(keys, tie('node')),
      ),
    })).node
    fc.assert(
      fc.property(fc.array(shape, { maxLength: 6 }), (chunks) => {
        expect(['finish', 'error']).toContain(read(chunks).at(-1)?.type)
      }),
    )
  })

  it('waits for a name that comes after the id, and keeps what came before it', () => {
    expect(
      read([
        call({ index: 0, id: 'a', function: { arguments: '{"x"' } }),
        call({ index: 0, function: { name: 'n', arguments: ':1}' } }),
        finish,
      ]),
    ).toEqual([
      { type: 'tool-call', index: 0, id: 'a', name: 'n', argumentsDelta: '{"x":1}' },
      { type: 'finish', reason: 'tool-calls' },
    ])
  })

  it('takes arguments that come as an object', () => {
    const chunks = read([call({ index: 0, id: 'a', function: { name: 'n', arguments: { x: 1 } } }), finish])
    expect(chunks[0]).toMatchObject({ argumentsDelta: '{"x":1}' })
  })
})
