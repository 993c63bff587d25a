import type { AgentLive, AgentSnapshot } from '@deepseek-ai/dsh-agent'
import type { SessionEvent } from '@deepseek-ai/dsh-session'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LiveBuffer } from '../src/live-buffer.ts'

const IDLE: AgentSnapshot = { status: 'idle', text: '', reasoning: '', progress: [] }
const delta = (text: string, block: 'text' | 'reasoning' = 'text'): AgentLive => ({ kind: 'delta', block, text })
const output = (text: string, callId = 'c', stream: 'stdout' | 'stderr' = 'stdout'): AgentLive => ({
  kind: 'progress',
  callId,
  progress: { kind: 'text', text, stream },
})
const attempt = (number: number): AgentLive => ({ kind: 'attempt', turn: 1, step: 1, attempt: number })
const event = (type: string, data: object = {}): SessionEvent => ({ seq: 9, time: 0, type, data }) as never
const takeAll = (buffer: LiveBuffer, snapshot = IDLE) => buffer.take(Infinity, () => snapshot)

describe('the live buffer', () => {
  it('merges what is adjacent and keeps the order of what is not', () => {
    const buffer = new LiveBuffer()
    for (const live of [
      delta('a', 'reasoning'),
      delta('b', 'reasoning'),
      delta('c'),
      output('1'),
      delta('d'),
      output('2'),
    ]) {
      buffer.push(live, 3)
    }
    expect(takeAll(buffer)).toEqual([delta('ab', 'reasoning'), delta('cd'), output('12')])
    expect(buffer.empty).toBe(true)
  })

  it('gives before an event only what came up before it', () => {
    const buffer = new LiveBuffer()
    buffer.push(output('early', 'a'), 4)
    buffer.push(output('late', 'b'), 5)
    expect(buffer.take(5, () => IDLE)).toEqual([output('early', 'a')])
    expect(takeAll(buffer)).toEqual([output('late', 'b')])
  })

  it('forgets what an event now says for good', () => {
    const buffer = new LiveBuffer()
    buffer.push(attempt(1), 1)
    buffer.push(delta('answer'), 1)
    buffer.push(output('out', 'a'), 1)
    buffer.push(output('out', 'b'), 1)
    buffer.settle(event('assistant/message'))
    buffer.push(delta('late'), 2)
    buffer.settle(event('tool/result', { callId: 'a' }))
    expect(takeAll(buffer)).toEqual([output('out', 'b')])
    buffer.push(attempt(2), 3)
    buffer.push(delta('next'), 3)
    expect(takeAll(buffer)).toEqual([attempt(2), delta('next')])
  })

  it('drops an attempt that another one replaces', () => {
    const buffer = new LiveBuffer()
    buffer.push(attempt(1), 1)
    buffer.push(delta('half'), 1)
    buffer.push(attempt(2), 1)
    buffer.push(delta('whole'), 1)
    expect(takeAll(buffer)).toEqual([attempt(2), delta('whole')])
  })

  it('says the streamed text anew when a reader was too slow for it', () => {
    const buffer = new LiveBuffer()
    buffer.push(attempt(3), 1)
    takeAll(buffer)
    for (let count = 0; count < 40; count++) buffer.push(delta('x'.repeat(10_000)), 1)
    const snapshot = { ...IDLE, status: 'running' as const, text: 'all of it', reasoning: 'why' }
    expect(takeAll(buffer, snapshot)).toEqual([attempt(3), delta('why', 'reasoning'), delta('all of it')])
    buffer.push(delta('more'), 1)
    expect(takeAll(buffer)).toEqual([delta('more')])
  })

  it('keeps the newest output and says how much it left out, never half a character', () => {
    const buffer = new LiveBuffer()
    const sent = '🎈'.repeat(200_000)
    for (let at = 0; at < sent.length; at += 1000) buffer.push(output(sent.slice(at, at + 1000)), 1)
    const [frame] = takeAll(buffer)
    if (frame?.kind !== 'progress' || frame.progress.kind !== 'text') throw new Error('no output')
    const [, skipped, kept = ''] = /^\n… (\d+) characters not shown live …\n(.*)$/s.exec(frame.progress.text) ?? []
    expect(Number(skipped) + kept.length).toBe(sent.length)
    expect(kept.startsWith('🎈')).toBe(true)
    expect(kept.length).toBeLessThanOrEqual(128 * 1024)
  })

  it('stays small whatever comes up, and loses no text below its bounds', () => {
    const live = fc.oneof(
      fc.record({
        kind: fc.constant('delta' as const),
        block: fc.constantFrom('text' as const, 'reasoning' as const),
        text: fc.string(),
      }),
      fc
        .tuple(fc.constantFrom('a', 'b'), fc.string(), fc.constantFrom('stdout' as const, 'stderr' as const))
        .map(([id, text, stream]) => output(text, id, stream)),
      fc.constantFrom<AgentLive>({ kind: 'status', status: 'running' }, { kind: 'status', status: 'idle' }),
    )
    fc.assert(
      fc.property(fc.array(live, { maxLength: 200 }), (frames) => {
        const buffer = new LiveBuffer()
        frames.forEach((frame, index) => buffer.push(frame, index))
        const taken = takeAll(buffer)
        const text = (all: readonly AgentLive[], block: string) =>
          all.flatMap((each) => (each.kind === 'delta' && each.block === block ? [each.text] : [])).join('')
        const shown = (all: readonly AgentLive[], callId: string) =>
          all
            .flatMap((each) =>
              each.kind === 'progress' && each.callId === callId && each.progress.kind === 'text'
                ? [each.progress.text]
                : [],
            )
            .join('')
        for (const block of ['text', 'reasoning']) expect(text(taken, block)).toBe(text(frames, block))
        for (const callId of ['a', 'b']) expect(shown(taken, callId)).toBe(shown(frames, callId))
        expect(taken.filter(({ kind }) => kind === 'status').length).toBeLessThanOrEqual(1)
      }),
    )
  })
})
