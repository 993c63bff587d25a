import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LlmMessage } from '@deepseek-ai/dsh-llm'
import type { Session } from '@deepseek-ai/dsh-session'
import { call, calls, fixture, result, say, userMessage } from './support.ts'

async function ephemeral(): Promise<Session> {
  const { sessions } = await fixture()
  return sessions.create({ cwd: '/', ephemeral: true })
}

const texts = (messages: readonly LlmMessage[]): string[] =>
  messages.map(
    ({ role, content }) =>
      `${role}: ${content.map((each) => ('text' in each ? each.text : 'id' in each ? each.id : each.type)).join(' ')}`,
  )

describe('the conversation', () => {
  it('gives a call without a result one that says whether it may have run', async () => {
    const session = await ephemeral()
    calls(session, ['a', 'b'])
    call(session, 'a')
    expect(session.messages()).toMatchObject([
      { role: 'assistant' },
      { callId: 'a', isError: true, content: [{ text: expect.stringMatching(/^TOOL_OUTCOME_UNKNOWN: .*verify/) }] },
      { callId: 'b', isError: true, content: [{ text: expect.stringMatching(/^TOOL_NOT_STARTED: .*safe/) }] },
    ])
  })

  it('puts a late result in its place, even behind a later turn', async () => {
    const session = await ephemeral()
    calls(session, ['a'])
    const seq = call(session, 'a')
    userMessage(session, 'next', 2)
    say(session, 'ok', 2)
    result(session, 'a', 'late', seq)
    expect(texts(session.messages())).toEqual(['assistant: a', 'tool: late', 'user: next', 'assistant: ok'])
  })

  it('ignores a second result and one of a call that nobody made', async () => {
    const session = await ephemeral()
    calls(session, ['a'])
    result(session, 'a', 'first')
    result(session, 'a', 'second')
    result(session, 'x', 'orphan')
    call(session, 'y')
    expect(texts(session.messages())).toEqual(['assistant: a', 'tool: first'])
  })

  it('tells apart calls of one id, within a message and across messages', async () => {
    const session = await ephemeral()
    calls(session, ['call_0', 'call_0'])
    const first = call(session, 'call_0')
    const second = call(session, 'call_0')
    result(session, 'call_0', 'two', second)
    result(session, 'call_0', 'one', first)
    calls(session, ['call_0'], 1, 2)
    result(session, 'call_0', 'three')
    expect(texts(session.messages())).toEqual([
      'assistant: call_0 call_0',
      'tool: one',
      'tool: two',
      'assistant: call_0',
      'tool: three',
    ])
  })

  it('keeps what a cut answer said and drops its calls', async () => {
    const session = await ephemeral()
    const cut = { turn: 1, step: 1, model: { provider: 'p', model: 'm' }, durationMs: 1, interrupted: true } as const
    const half = { type: 'tool-call', id: 'a', name: 'greet', arguments: '{"na' } as const
    session.append('assistant/message', { ...cut, content: [{ type: 'text', text: 'I will' }, half] })
    session.append('assistant/message', { ...cut, content: [half] })
    session.append('assistant/message', { ...cut, content: [{ type: 'text', text: '' }] })
    expect(texts(session.messages())).toEqual(['assistant: I will'])
  })

  it('pairs every call with one result directly behind it, whatever happened', async () => {
    const ids = fc.constantFrom('a', 'b', 'c')
    const step = fc.oneof(
      fc.record({ kind: fc.constant('calls' as const), ids: fc.array(ids, { maxLength: 3 }) }),
      fc.record({ kind: fc.constantFrom('call' as const, 'result' as const, 'user' as const), id: ids }),
    )
    const { sessions } = await fixture()
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const session = await sessions.create({ cwd: '/', ephemeral: true })
        for (const each of steps) {
          if (each.kind === 'calls') calls(session, each.ids)
          else if (each.kind === 'call') call(session, each.id)
          else if (each.kind === 'result') result(session, each.id, 'r')
          else userMessage(session, 'u')
          expectPaired(session.messages())
        }
        await session.close()
      }),
    )
  })
})

function expectPaired(messages: readonly LlmMessage[]): void {
  let owed: string[] = []
  for (const message of messages) {
    if (message.role === 'tool') {
      expect(message.callId).toBe(owed.shift())
      continue
    }
    expect(owed).toEqual([])
    if (message.role === 'assistant') owed = message.content.flatMap((b) => (b.type === 'tool-call' ? [b.id] : []))
  }
  expect(owed).toEqual([])
}
