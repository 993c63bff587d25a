import fc from 'fast-check'
import { expect, it } from 'vitest'
import { inOrder } from '../page/in-order.ts'

it('sends all texts in the order they came, one request at a time, whatever each takes and whether it fails', async () => {
  const pieces = fc.array(fc.record({ text: fc.string({ minLength: 1 }), fails: fc.boolean(), turns: fc.nat(4) }))
  await fc.assert(
    fc.asyncProperty(pieces, fc.scheduler(), async (typed, scheduler) => {
      const sent: string[] = []
      let open = 0
      const send = inOrder(async (text) => {
        expect(++open).toBe(1)
        await scheduler.schedule(Promise.resolve(), 'request')
        sent.push(text)
        open -= 1
        if (typed[sent.length]?.fails) throw new Error('lost')
      })
      for (const { text, turns } of typed) {
        send(text)
        for (let turn = 0; turn < turns && scheduler.count() > 0; turn++) await scheduler.waitOne()
      }
      await scheduler.waitIdle()
      expect(sent.join('')).toBe(typed.map(({ text }) => text).join(''))
    }),
  )
})

it('sends at once what comes first, and the rest together', async () => {
  const sent: string[] = []
  const answers: (() => void)[] = []
  const send = inOrder((text) => {
    sent.push(text)
    return new Promise<void>((resolve) => answers.push(resolve))
  })
  for (const key of ['l', 's', '\r']) send(key)
  expect(sent).toEqual(['l'])
  answers.shift()?.()
  await Promise.resolve().then(() => undefined)
  await new Promise(setImmediate)
  expect(sent).toEqual(['l', 's\r'])
})
