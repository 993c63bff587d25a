import { describe, expect, it } from 'vitest'
import { TargetQueue } from '../src/target-queue.ts'

const never = new AbortController().signal

function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open }
}

describe('the queue of a target', () => {
  it('lets calls of one key take turns in the order they came, whatever became of the one before', async () => {
    const queue = new TargetQueue()
    const order: string[] = []
    const first = gate()
    const all = [
      queue.run('a', never, async () => {
        await first.opened
        order.push('first')
        throw new Error('it failed')
      }),
      queue.run('a', never, async () => void order.push('second')),
      queue.run('b', never, async () => void order.push('elsewhere')),
    ]
    await all[2]
    first.open()
    expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
    expect(order).toEqual(['elsewhere', 'first', 'second'])
  })

  it('lets go of a call that is cancelled while it waits, and runs those behind it in their turn', async () => {
    const queue = new TargetQueue()
    const first = gate()
    const controller = new AbortController()
    const order: string[] = []
    const running = queue.run('a', never, () => first.opened)
    const waiting = queue.run('a', controller.signal, async () => void order.push('cancelled'))
    const behind = queue.run('a', never, async () => void order.push('behind'))
    const reason = new Error('not any more')
    controller.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    expect(order).toEqual([])
    first.open()
    await Promise.all([running, behind])
    expect(order).toEqual(['behind'])
  })

  it('leaves a call that runs to itself when its signal fires', async () => {
    const queue = new TargetQueue()
    const first = gate()
    const started = gate()
    const controller = new AbortController()
    const running = queue.run('a', controller.signal, async () => {
      started.open()
      await first.opened
      return 'done'
    })
    await started.opened
    controller.abort()
    first.open()
    expect(await running).toBe('done')
  })
})
