import { describe, expect, it } from 'vitest'
import * as fc from 'fast-check'
import type { LlmMessage } from '@deepseek-ai/dsh-llm'
import { PairingCheck, type PairedMessages } from '../src/pairing.ts'

const user = (text: string): LlmMessage => ({ role: 'user', content: [{ type: 'text', text }] })
const asks = (...ids: string[]): LlmMessage => ({
  role: 'assistant',
  content: ids.map((id) => ({ type: 'tool-call', id, name: 'x', arguments: '{}' })),
})
const answers = (callId: string, text = callId): LlmMessage => ({
  role: 'tool',
  callId,
  content: [{ type: 'text', text }],
  isError: false,
})

const pairMessages = (messages: readonly LlmMessage[]): PairedMessages => new PairingCheck().check(messages)

/** Each call answered once, directly behind its message. Written apart from the code under test. */
function holds(messages: readonly LlmMessage[]): boolean {
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at]
    if (message === undefined || message.role === 'tool') return false
    if (message.role !== 'assistant') continue
    const wanted = message.content.flatMap((block) => (block.type === 'tool-call' ? [block.id] : []))
    const got = messages.slice(at + 1, at + 1 + wanted.length)
    const ids = got.flatMap((each) => (each.role === 'tool' ? [each.callId] : []))
    if (JSON.stringify(ids.toSorted()) !== JSON.stringify(wanted.toSorted())) return false
    if (new Set(wanted).size !== wanted.length) return false
    at += wanted.length
  }
  return true
}

describe('PairingCheck', () => {
  it('returns a sound conversation as it is', () => {
    const messages = [user('a'), asks('1', '2'), answers('2'), answers('1'), user('b')]
    expect(pairMessages(messages)).toEqual({ messages, repairs: [] })
    expect(pairMessages(messages).messages).toBe(messages)
  })

  it('answers a call whose result is missing with an error', () => {
    const { messages, repairs } = pairMessages([asks('1', '2'), answers('1'), user('b')])
    expect(messages.map((each) => each.role)).toEqual(['assistant', 'tool', 'tool', 'user'])
    expect(messages[2]).toMatchObject({ callId: '2', isError: true })
    expect(repairs).toEqual(['call "2" has no result: an error stands in for it'])
  })

  it('moves a late result to its call', () => {
    const { messages } = pairMessages([asks('1'), user('between'), answers('1')])
    expect(messages).toEqual([asks('1'), answers('1'), user('between')])
  })

  it('drops a result without a call and a second result', () => {
    const { messages, repairs } = pairMessages([answers('ghost'), asks('1'), answers('1'), answers('1', 'again')])
    expect(messages).toEqual([asks('1'), answers('1')])
    expect(repairs).toHaveLength(2)
  })

  it('keeps the results of two messages that use one id apart', () => {
    const { messages } = pairMessages([asks('1'), answers('1', 'first'), user('x'), asks('1'), user('y')])
    expect(messages[1]).toEqual(answers('1', 'first'))
    expect(messages[4]).toMatchObject({ role: 'tool', isError: true })
  })

  it('sees what breaks behind the part that it has checked, and a history that was replaced', () => {
    const check = new PairingCheck()
    const start = [user('a'), asks('1'), answers('1')]
    expect(check.check(start).repairs).toEqual([])
    expect(check.check([...start, user('b'), asks('2')]).repairs).toHaveLength(1)
    expect(check.check([...start, user('b')]).repairs).toEqual([])
    expect(check.check([asks('3'), user('compacted'), user('x'), user('y')]).repairs).toHaveLength(1)
  })

  it('makes any conversation sound and keeps every message of a person', () => {
    const id = fc.constantFrom('a', 'b', 'c')
    const message = fc.oneof(
      fc.string().map(user),
      fc.array(id, { maxLength: 3 }).map((ids) => asks(...ids)),
      id.map((each) => answers(each)),
    )
    fc.assert(
      fc.property(fc.array(message, { maxLength: 12 }), (given) => {
        const { messages, repairs } = pairMessages(given)
        expect(holds(messages)).toBe(true)
        expect(repairs.length === 0).toBe(holds(given))
        const users = (list: readonly LlmMessage[]): LlmMessage[] => list.filter((each) => each.role === 'user')
        expect(users(messages)).toEqual(users(given))
        expect(pairMessages(messages).repairs).toEqual([])
      }),
    )
  })
})
