// The fold from frames to items: order, resume, live text and calls.
import { describe, expect, it } from 'vitest'
import * as fc from 'fast-check'
import type { SessionEventMap, SessionEventType } from '@deepseek-ai/dsh-session'
import { emptySession, foldFrames, liveOutputLimit } from '../page/state/fold.ts'
import type { CallItem, Frame, SessionState } from '../page/state/items.ts'
import { toRows } from '../page/state/rows.ts'
import { readCall } from '../page/state/outcome.ts'

const model = { provider: 'offline', model: 'offline' }

function event<T extends SessionEventType>(seq: number, type: T, data: SessionEventMap[T], views: object = {}): Frame {
  return { kind: 'event', frame: { event: { seq, time: 1000 + seq, type, data }, ...views } } as Frame
}
const live = (frame: Extract<Frame, { kind: 'live' }>['frame']): Frame => ({ kind: 'live', frame })
const text = (value: string) => [{ type: 'text', text: value } as const]
const message = (id: string, value = id) => ({ id, content: text(value), source: { kind: 'user' } as const })
const call = (id: string) => ({ type: 'tool-call', id, name: 'bash', arguments: '{"command":"ls"}' }) as const

function oneTurn(turn: number, from: number, callId = 'k'): Frame[] {
  return [
    event(from, 'inbox/added', { message: message(`m${turn}`), delivery: 'queue' }),
    event(from + 1, 'turn/start', { turn }),
    event(from + 2, 'user/message', { turn, message: message(`m${turn}`) }),
    event(from + 3, 'assistant/message', {
      turn,
      step: 0,
      model,
      durationMs: 5,
      content: [{ type: 'reasoning', text: 'hm' }, { type: 'text', text: 'Looking.' }, call(callId)],
    }),
    event(
      from + 4,
      'tool/call',
      { turn, step: 0, callId, name: 'bash', arguments: '{}' },
      { call: { card: 'terminal', title: 'ls' } },
    ),
    event(
      from + 5,
      'tool/result',
      { turn, step: 0, callId, callSeq: from + 4, content: text('a'), isError: false, durationMs: 7 },
      { result: { card: 'terminal', output: 'a\n', exitCode: 0 } },
    ),
    event(from + 6, 'assistant/message', { turn, step: 1, model, durationMs: 5, content: text('Done.') }),
    event(from + 7, 'turn/end', { turn, reason: { kind: 'completed' } }),
  ]
}
const start = event(0, 'session/start', { format: 1, id: 's', cwd: '/w', title: 'T' })
const kinds = (state: SessionState): string[] => [...state.items, ...state.live].map((item) => item.kind)
const callOf = (state: SessionState): CallItem => state.items.find((item) => item.kind === 'call') as CallItem

describe('foldFrames', () => {
  it('lists a turn in the order of the log and pairs a result with its call', () => {
    const state = foldFrames(emptySession, [start, ...oneTurn(1, 1)])
    expect(kinds(state)).toEqual(['prompt', 'thought', 'prose', 'call', 'prose'])
    expect(callOf(state)).toMatchObject({ phase: 'done', callView: { title: 'ls' }, resultView: { exitCode: 0 } })
    expect(state).toMatchObject({ title: 'T', cwd: '/w', running: false, queue: [], lastSeq: 8 })
  })

  it('keeps the calls of a program with the call that runs it, and ends them with it', () => {
    const sub = (seq: number, n: number) =>
      event(
        seq,
        'tool/sub-call',
        { callId: 'k', subCallId: `k:${n}`, name: 'greet', arguments: '{"name":"Ada"}' },
        { call: { card: 'generic', title: `greet ${n}` } },
      )
    const turn = oneTurn(1, 1)
    const result = { callId: 'k', subCallId: 'k:1', callSeq: 6, content: text('Hello'), isError: false, durationMs: 2 }
    const running = foldFrames(emptySession, [
      start,
      ...turn.slice(0, 5),
      sub(6, 1),
      event(7, 'tool/sub-result', result),
      sub(8, 2),
    ])
    const { calls } = callOf(running)
    expect(calls?.map(({ phase, callView }) => [phase, callView?.title])).toEqual([
      ['done', 'greet 1'],
      ['running', 'greet 2'],
    ])
    const end = { turn: 1, step: 0, callId: 'k', callSeq: 5, content: text('x'), isError: false, durationMs: 7 }
    const done = callOf(foldFrames(running, [event(9, 'tool/result', end)]))
    expect(done.calls?.map((each) => readCall(each).state)).toEqual(['ok', 'unknown'])
    expect(readCall(done).receipt).toBe('2 calls')
  })

  it('gives the same state for any split into batches and any repeated delivery', () => {
    const frames = [start, ...oneTurn(1, 1), ...oneTurn(2, 9)]
    const whole = foldFrames(emptySession, frames)
    fc.assert(
      fc.property(fc.array(fc.nat(frames.length), { maxLength: 8 }), fc.nat(frames.length), (cuts, overlap) => {
        let state = emptySession
        let at = 0
        for (const cut of [...cuts.sort((one, other) => one - other), frames.length]) {
          state = foldFrames(state, frames.slice(Math.max(0, at - overlap), cut))
          at = Math.max(at, cut)
        }
        expect(state).toEqual(whole)
      }),
    )
  })

  it('keeps two calls with one id in different turns apart', () => {
    const state = foldFrames(emptySession, [start, ...oneTurn(1, 1, 'same'), ...oneTurn(2, 9, 'same')])
    const calls = state.items.filter((item) => item.kind === 'call')
    expect(calls.map((item) => item.phase)).toEqual(['done', 'done'])
    expect(new Set(state.items.map((item) => item.key)).size).toBe(state.items.length)
  })

  it('replaces live text by the logged message under the same key', () => {
    const before = foldFrames(emptySession, [
      start,
      event(1, 'turn/start', { turn: 1 }),
      live({ kind: 'attempt', turn: 1, step: 0, attempt: 1 }),
      live({ kind: 'delta', block: 'reasoning', text: 'h' }),
      live({ kind: 'delta', block: 'reasoning', text: 'm' }),
      live({ kind: 'delta', block: 'text', text: 'Hel' }),
      live({ kind: 'tool-call', callId: 'k', name: 'bash', arguments: '{"c' }),
    ])
    expect(before.live).toMatchObject([{ text: 'hm' }, { text: 'Hel', live: true }, { phase: 'writing' }])
    const content = [{ type: 'reasoning', text: 'hm' } as const, ...text('Hello'), call('k')]
    const after = foldFrames(before, [
      event(2, 'assistant/message', { turn: 1, step: 0, model, durationMs: 1, content }),
    ])
    expect(after.live).toEqual([])
    expect(after.items.map((item) => item.key)).toEqual(before.live.map((item) => item.key))
  })

  it('drops what an aborted attempt had streamed', () => {
    const failure = { code: 'SERVER', message: 'no' } as const
    const state = foldFrames(emptySession, [
      start,
      event(1, 'turn/start', { turn: 1 }),
      live({ kind: 'delta', block: 'text', text: 'half' }),
      event(2, 'llm/retry', { turn: 1, step: 0, attempt: 1, delayMs: 5, failure }),
      live({ kind: 'attempt', turn: 1, step: 0, attempt: 2 }),
      live({ kind: 'delta', block: 'text', text: 'whole' }),
    ])
    expect(state.items.map((item) => item.kind)).toEqual(['retry'])
    expect(state.live).toMatchObject([{ text: 'whole' }])
  })

  it('takes what is in progress from the snapshot of a reconnect', () => {
    const frames = oneTurn(1, 1).slice(0, 5)
    const state = foldFrames(emptySession, [
      start,
      ...frames,
      live({ kind: 'progress', callId: 'k', progress: { kind: 'text', text: 'one\n' } }),
      { kind: 'lost' },
      {
        kind: 'caught-up',
        frame: {
          seq: 5,
          snapshot: { status: 'running', text: '', reasoning: 'so', progress: [{ callId: 'k', text: 'one\ntwo\n' }] },
        },
      },
    ])
    expect(callOf(state)).toMatchObject({ phase: 'running', output: 'one\ntwo\n' })
    expect(state).toMatchObject({ running: true, caughtUp: true, live: [{ kind: 'thought', text: 'so' }] })
  })

  it('bounds the live output of a call', () => {
    const line = `${'x'.repeat(999)}\n`
    const chunk = live({ kind: 'progress', callId: 'k', progress: { kind: 'text', text: line } })
    const state = foldFrames(emptySession, [start, ...oneTurn(1, 1).slice(0, 5), ...Array<Frame>(200).fill(chunk)])
    expect(callOf(state).output.length).toBeLessThanOrEqual(liveOutputLimit)
    expect(callOf(state).output.startsWith('x'.repeat(999))).toBe(true)
  })

  it('shows a waiting message until it is claimed or withdrawn', () => {
    const added = (seq: number, id: string): Frame =>
      event(seq, 'inbox/added', { message: message(id), delivery: 'queue' })
    const waiting = foldFrames(emptySession, [start, added(1, 'a'), added(2, 'b')])
    expect(waiting.queue.map(({ message: { id } }) => id)).toEqual(['a', 'b'])
    const left = foldFrames(waiting, [
      event(3, 'inbox/removed', { ids: ['a'] }),
      event(4, 'user/message', { turn: 1, message: message('b') }),
    ])
    expect(left.queue).toEqual([])
  })

  it('keeps a result whose call was never logged', () => {
    const result = {
      turn: 1,
      step: 0,
      callId: 'lost',
      content: text(''),
      isError: true,
      durationMs: 0,
      error: { code: 'TOOL_NOT_STARTED', message: 'x' },
    }
    const state = foldFrames(emptySession, [start, event(1, 'tool/result', result)])
    expect(readCall(callOf(state))).toMatchObject({ state: 'not-started', tone: 'ink3' })
  })

  it('starts over when the log is shorter than what was shown', () => {
    const before = foldFrames(emptySession, [start, ...oneTurn(1, 1), ...oneTurn(2, 9)])
    const state = foldFrames(before, [{ kind: 'reset' }, start, ...oneTurn(1, 1)])
    expect(state).toEqual(foldFrames(emptySession, [start, ...oneTurn(1, 1)]))
  })

  it('ignores an event type it does not know', () => {
    const strange = {
      kind: 'event',
      frame: { event: { seq: 1, time: 1, type: 'future/thing', data: {} } },
    } as unknown as Frame
    const state = foldFrames(emptySession, [start, strange, ...oneTurn(1, 2)])
    expect(state.lastSeq).toBe(9)
    expect(kinds(state)).toHaveLength(5)
  })
})

describe('toRows', () => {
  const state = foldFrames(emptySession, [start, ...oneTurn(1, 1), ...oneTurn(2, 9)])

  it('folds an older turn to its prompt, one summary and its last words', () => {
    const rows = toRows(state, new Set())
    expect(rows.map((row) => row.kind)).toEqual([
      'prompt',
      'summary',
      'prose',
      'prompt',
      'thought',
      'prose',
      'call',
      'prose',
    ])
    expect(rows[1]).toMatchObject({ text: '1 call · 7 ms' })
  })

  it('opens a folded turn in place', () => {
    const rows = toRows(state, new Set([1]))
    expect(rows.slice(0, 6).map((row) => row.kind)).toEqual(['prompt', 'summary', 'thought', 'prose', 'call', 'prose'])
  })
})

describe('readCall', () => {
  const done = (outcome: object, resultView?: object): CallItem =>
    ({
      kind: 'call',
      key: 'k',
      turn: 1,
      callId: 'k',
      name: 'x',
      arguments: '',
      phase: 'done',
      output: '',
      outcome,
      resultView,
    }) as unknown as CallItem

  it.each([
    ['ABORTED', 'aborted', 'ink3'],
    ['ABORTED_BEFORE_DISPATCH', 'not-started', 'ink3'],
    ['TOOL_OUTCOME_UNKNOWN', 'unknown', 'ink3'],
    ['DENIED', 'denied', 'warn'],
    ['GUARD_DENIED', 'denied', 'warn'],
    ['INVALID_ARGS', 'failed', 'err'],
    ['constructor', 'failed', 'err'],
  ])('reads %s as %s', (code, state, tone) => {
    expect(readCall(done({ isError: true, error: { code, message: '' } }))).toMatchObject({ state, tone })
  })

  it('reads a non-zero exit as a result, not an error', () => {
    const item = done({ isError: false }, { card: 'terminal', exitCode: 3 })
    expect(readCall(item)).toEqual({ state: 'bad', receipt: 'exit 3', tone: 'err' })
  })

  it('puts the worst note first, as bad news only when the command ended badly', () => {
    const killed = done({ isError: false }, { card: 'terminal', signal: 'SIGTERM', notes: ['timed out', 'truncated'] })
    expect(readCall(killed)).toEqual({ state: 'bad', receipt: 'timed out', tone: 'err' })
    const cut = done({ isError: false }, { card: 'terminal', exitCode: 0, notes: ['truncated'] })
    expect(readCall(cut)).toEqual({ state: 'ok', receipt: 'truncated', tone: 'warn' })
  })
})
