import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CHANNEL_BYTES, Receiver, Sender } from '../src/channel.ts'

function channel(): { sender: Sender; receiver: Receiver; large: Map<number, string> } {
  const shared = new SharedArrayBuffer(16 + CHANNEL_BYTES)
  const large = new Map<number, string>()
  return {
    large,
    sender: new Sender(shared, 16, (number, text) => void large.set(number, text)),
    receiver: new Receiver(shared, 16, (number) => {
      const text = large.get(number)
      large.delete(number)
      return text
    }),
  }
}

const text = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }),
  fc.tuple(fc.constantFrom('x', 'é', '€', '😀'), fc.integer({ min: 1, max: 30_000 })).map(([c, n]) => c.repeat(n)),
)

describe('a channel', () => {
  it('hands over every text once, whole and in order, however full it is', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(text, fc.constant(undefined)), { maxLength: 60 }), (steps) => {
        const { sender, receiver, large } = channel()
        const sent: string[] = []
        const received: string[] = []
        const receive = (): void => {
          const next = receiver.next()
          if (next !== undefined) received.push(next)
        }
        for (const step of steps) {
          if (step === undefined) receive()
          else {
            sent.push(step)
            sender.send(step)
          }
        }
        while (receiver.hasNext) receive()
        expect(received).toEqual(sent)
        expect(receiver.next()).toBeUndefined()
        expect(large.size).toBe(0)
      }),
      { numRuns: 200 },
    )
  })

  it('keeps small texts in shared memory for ever, and sends aside only what does not fit', () => {
    const { sender, receiver, large } = channel()
    for (let round = 0; round < 20_000; round += 1) {
      sender.send(`text ${round}`)
      expect(large.size).toBe(0)
      expect(receiver.next()).toBe(`text ${round}`)
    }
    sender.send('x'.repeat(65_536))
    expect(large.size).toBe(1)
    sender.send('after')
    expect(receiver.next()).toHaveLength(65_536)
    expect(receiver.next()).toBe('after')
  })

  it('waits for a text that was sent aside and has not arrived', () => {
    const { sender, receiver, large } = channel()
    sender.send('first')
    sender.send('y'.repeat(70_000))
    sender.send('last')
    const late = large.get(1) ?? ''
    large.clear()
    expect(receiver.next()).toBe('first')
    expect(receiver.next()).toBeUndefined()
    expect(receiver.hasNext).toBe(true)
    large.set(1, late)
    expect(receiver.next()).toBe(late)
    expect(receiver.next()).toBe('last')
  })

  it('forgets what was sent before a number', () => {
    const { sender, receiver } = channel()
    for (const each of ['a', 'z'.repeat(70_000), 'b']) sender.send(each)
    receiver.skipTo(sender.sent)
    expect(receiver.hasNext).toBe(false)
    sender.send('new')
    expect(receiver.next()).toBe('new')
  })
})
