// The host's side of a run, against worker threads that are told what to say.
import type { CodeBinding } from '@deepseek-ai/dsh-code-runtime'
import { describe, expect, it } from 'vitest'
import type { RunThread } from '../src/run.ts'
import { ProgramRuns } from '../src/runs.ts'

type Listener = NonNullable<Parameters<RunThread['listen']>[0]>
type Script = (listener: Listener, run: number, thread: FakeThread) => void

class FakeThread implements RunThread {
  runs = 0
  readonly settlements: string[] = []
  stopped: number | undefined
  private readonly script: Script
  private listener: Listener | undefined

  constructor(script: Script) {
    this.script = script
  }

  listen(listener: Listener | undefined): void {
    this.listener = listener
  }

  startRun({ run }: Parameters<RunThread['startRun']>[0]): void {
    queueMicrotask(() => this.listener !== undefined && this.script(this.listener, run, this))
  }

  settle(text: string): void {
    this.settlements.push(text)
  }

  stop(run: number): void {
    this.stopped = run
    const failure = { kind: 'stopped', message: '' } as const
    queueMicrotask(() => this.listener?.done({ type: 'done', run, logs: [], failure, spent: true }))
  }

  drain(): void {}
}

function runsOn(scripts: Script[]): { runs: ProgramRuns<FakeThread>; used: FakeThread[]; released: boolean[] } {
  const used: FakeThread[] = []
  const released: boolean[] = []
  const runs = new ProgramRuns<FakeThread>(
    { computeMs: 1000, maxWallMs: 1000, maxOutputBytes: 1000 },
    {
      async acquire() {
        const thread = new FakeThread(scripts[used.length] ?? (() => {}))
        used.push(thread)
        return thread
      },
      release: (_thread, reusable) => void released.push(reusable),
    },
  )
  return { runs, used, released }
}

const breaksBefore: Script = (listener, run) => listener.lost({ reason: 'broke', outOfMemory: false, lastRun: run - 1 })
const breaksDuring: Script = (listener, run) => listener.lost({ reason: 'broke', outOfMemory: false, lastRun: run })
const succeeds: Script = (listener, run) =>
  listener.done({ type: 'done', run, logs: ['line'], value: '[1]', spent: false })

describe('a run', () => {
  it('goes to another worker when its own broke before it had started it', async () => {
    const { runs, used, released } = runsOn([breaksBefore, succeeds])
    expect(await runs.run({ program: 'return [1]', bindings: [] })).toEqual({ value: [1], logs: ['line'] })
    expect(used).toHaveLength(2)
    expect(released).toEqual([false, true])
  })

  it('says so when the second worker broke as well, and tries no third', async () => {
    const { runs, used } = runsOn([breaksBefore, breaksBefore, succeeds])
    const result = await runs.run({ program: '', bindings: [] })
    expect(result.error).toEqual({ kind: 'runtime-exit', message: 'the runtime ended before the program: broke' })
    expect(used).toHaveLength(2)
  })

  it('is not repeated when its worker broke after it had started it', async () => {
    const { runs, used } = runsOn([breaksDuring, succeeds])
    expect((await runs.run({ program: '', bindings: [] })).error?.kind).toBe('runtime-exit')
    expect(used).toHaveLength(1)
  })

  it('calls no further handler of a batch once one of them has aborted it', async () => {
    const abort = new AbortController()
    const called: unknown[] = []
    const tools: CodeBinding = {
      global: 'tools',
      names: ['echo'],
      async call(_name, argument) {
        called.push(argument)
        if (argument === 2) abort.abort(new Error('enough'))
        return argument
      },
    }
    const batch = JSON.stringify([['line'], [1, 2, 3, 4].map((id) => [id, 0, 0, id])])
    const { runs, used } = runsOn([(listener) => listener.batch(batch)])
    const result = await runs.run({ program: '', bindings: [tools], signal: abort.signal })
    expect(result).toEqual({ logs: ['line'], error: { kind: 'abort', message: 'enough' } })
    expect(called).toEqual([1, 2])
    expect(used[0]?.settlements).toEqual([])
  })

  it('answers all that settle in one turn with one text', async () => {
    const tools: CodeBinding = { global: 'tools', names: ['echo'], call: async (_name, argument) => argument }
    const batch = JSON.stringify([[], [1, 2, 3].map((id) => [id, 0, 0, { id }])])
    const { runs, used } = runsOn([
      (listener, run, thread) => {
        listener.batch(batch)
        setImmediate(() => succeeds(listener, run, thread))
      },
    ])
    await runs.run({ program: '', bindings: [tools] })
    expect(used[0]?.settlements).toEqual(['1,2,3;[[1,true,{"id":1}],[2,true,{"id":2}],[3,true,{"id":3}]]'])
  })

  it('ends with abort when its runtime is disposed, and none is accepted after that', async () => {
    const { runs, released } = runsOn([])
    const run = runs.run({ program: '', bindings: [] })
    await Promise.resolve()
    await runs.dispose()
    expect(await run).toEqual({ logs: [], error: { kind: 'abort', message: 'runtime disposed' } })
    expect(released).toHaveLength(1)
    await expect(runs.run({ program: '', bindings: [] })).rejects.toMatchObject({ code: 'CODE_RUNTIME_DISPOSED' })
  })
})
