import { describe, expect, it } from 'vitest'
import * as fc from 'fast-check'
import { CallScheduler, type ScheduledCall } from '../src/index.ts'
import { deferred, type Deferred } from './fixtures.ts'

interface Probe extends ScheduledCall<string> {
  readonly gate: Deferred<string>
}

function lab(maxParallelCalls = 10) {
  const started: string[] = []
  const committed: string[] = []
  const scheduler = new CallScheduler<string>({ maxParallelCalls })
  const probe = (name: string, kind: 'parallel' | 'exclusive' = 'parallel'): Probe => {
    const gate = deferred<string>()
    return {
      gate,
      mode: () => ({ kind }),
      run() {
        started.push(name)
        return gate.promise
      },
      unstarted: () => `${name} unstarted`,
      commit: (outcome) => void committed.push(outcome),
    }
  }
  return { scheduler, probe, started, committed }
}

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
}

describe('CallScheduler', () => {
  it('overlaps parallel calls up to the limit and refills as they settle', async () => {
    const { scheduler, probe, started } = lab(2)
    const probes = ['a', 'b', 'c'].map((name) => probe(name))
    const all = Promise.all(probes.map((each) => scheduler.submit(each)))
    expect(started).toEqual(['a', 'b'])
    probes[1]?.gate.resolve('b')
    await settle()
    expect(started).toEqual(['a', 'b', 'c'])
    probes[0]?.gate.resolve('a')
    probes[2]?.gate.resolve('c')
    expect(await all).toEqual(['a', 'b', 'c'])
  })

  it('runs one at a time with a limit of one', async () => {
    const { scheduler, probe, started } = lab(1)
    const [a, b] = [probe('a'), probe('b')]
    const all = Promise.all([scheduler.submit(a), scheduler.submit(b)])
    expect(started).toEqual(['a'])
    a.gate.resolve('a')
    b.gate.resolve('b')
    await all
    expect(started).toEqual(['a', 'b'])
  })

  it('makes an exclusive call a barrier in both directions', async () => {
    const { scheduler, probe, started } = lab()
    const [a, x, b] = [probe('a'), probe('x', 'exclusive'), probe('b')]
    const all = Promise.all([a, x, b].map((each) => scheduler.submit(each)))
    expect(started).toEqual(['a'])
    a.gate.resolve('a')
    await settle()
    expect(started).toEqual(['a', 'x'])
    x.gate.resolve('x')
    await settle()
    expect(started).toEqual(['a', 'x', 'b'])
    b.gate.resolve('b')
    await all
  })

  it('commits in the order of submission whatever settles first', async () => {
    const { scheduler, probe, committed } = lab()
    const [a, b] = [probe('a'), probe('b')]
    const all = Promise.all([scheduler.submit(a), scheduler.submit(b)])
    b.gate.resolve('b')
    await settle()
    expect(committed).toEqual([])
    a.gate.resolve('a')
    await all
    expect(committed).toEqual(['a', 'b'])
  })

  it('asks for the mode just before the start', async () => {
    const { scheduler, probe, started } = lab()
    let kind: 'parallel' | 'exclusive' = 'parallel'
    const [a, x, b] = [probe('a'), probe('x', 'exclusive'), { ...probe('b'), mode: () => ({ kind }) }]
    const c = probe('c')
    const all = Promise.all([a, x, b, c].map((each) => scheduler.submit(each)))
    kind = 'exclusive'
    a.gate.resolve('a')
    x.gate.resolve('x')
    await settle()
    expect(started).toEqual(['a', 'x', 'b'])
    b.gate.resolve('b')
    c.gate.resolve('c')
    await all
  })

  it('treats a classifier that throws as exclusive', async () => {
    const { scheduler, probe, started } = lab()
    const a = probe('a')
    const broken = {
      ...probe('broken'),
      mode(): never {
        throw new Error('no idea')
      },
    }
    const all = Promise.all([scheduler.submit(a), scheduler.submit(broken)])
    expect(started).toEqual(['a'])
    a.gate.resolve('a')
    broken.gate.resolve('broken')
    await all
  })

  it('starts nothing after stop, waits for what runs, and gives the rest an outcome', async () => {
    const { scheduler, probe, started, committed } = lab(1)
    const [a, b] = [probe('a'), probe('b')]
    const all = Promise.all([scheduler.submit(a), scheduler.submit(b)])
    scheduler.stop()
    await settle()
    expect(committed).toEqual([])
    a.gate.resolve('a')
    expect(await all).toEqual(['a', 'b unstarted'])
    expect(started).toEqual(['a'])
    expect(committed).toEqual(['a', 'b unstarted'])
    expect(await scheduler.submit(probe('late'))).toBe('late unstarted')
  })

  it('stops after a run that rejects and rejects only its submission', async () => {
    const { scheduler, probe, started } = lab(1)
    const broken = { ...probe('broken'), run: () => Promise.reject(new Error('fault')) }
    const [first, second] = await Promise.allSettled([scheduler.submit(broken), scheduler.submit(probe('b'))])
    expect(first).toMatchObject({ status: 'rejected', reason: { message: 'fault' } })
    expect(second).toMatchObject({ status: 'fulfilled', value: 'b unstarted' })
    expect(started).toEqual([])
  })

  it('never overlaps an exclusive call, never exceeds the limit, commits in order', async () => {
    const calls = fc.array(fc.record({ exclusive: fc.boolean(), ticks: fc.nat(5) }), { maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(calls, fc.integer({ min: 1, max: 4 }), async (specs, limit) => {
        const scheduler = new CallScheduler<number>({ maxParallelCalls: limit })
        const running = new Set<number>()
        const committed: number[] = []
        const outcomes = await Promise.all(
          specs.map(({ exclusive, ticks }, index) =>
            scheduler.submit({
              mode: () => ({ kind: exclusive ? 'exclusive' : 'parallel' }),
              async run() {
                running.add(index)
                const alone = running.size === 1
                expect(running.size).toBeLessThanOrEqual(limit)
                for (const other of running) expect(alone || !specs[other]?.exclusive).toBe(true)
                for (let tick = 0; tick < ticks; tick++) await Promise.resolve()
                running.delete(index)
                return index
              },
              unstarted: () => -1,
              commit: (outcome) => void committed.push(outcome),
            }),
          ),
        )
        expect(outcomes).toEqual(specs.map((_, index) => index))
        expect(committed).toEqual(outcomes)
      }),
    )
  })
})
