import { setTimeout as delay } from 'node:timers/promises'
import { disposeAndJoin } from '@deepseek-ai/cordis'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JobsError, jobsConfig, type JobSpec } from '@deepseek-ai/dsh-jobs'
import { EXIT_0, FakeWork, ended, owner, startJobs } from './support.ts'

const code = (code: string): unknown => expect.objectContaining({ code })

describe('start', () => {
  it('numbers jobs by kind and owner, and passes the id to the producer', async () => {
    const { jobs } = await startJobs()
    const ids: string[] = []
    const spec = (kind: string, whose = owner('a')): JobSpec => ({
      kind,
      label: 'x',
      owner: whose,
      run(id) {
        ids.push(id)
        return new FakeWork()
      },
    })
    const mine = owner('mine')
    expect(
      [spec('bash', mine), spec('bash', mine), spec('agent', mine), spec('bash')].map((s) => jobs.start(s)),
    ).toEqual(['bash-1', 'bash-2', 'agent-1', 'bash-1'])
    expect(ids).toEqual(['bash-1', 'bash-2', 'agent-1', 'bash-1'])
  })

  it('throws the reason of a signal that fired before, and starts nothing', async () => {
    const { jobs } = await startJobs()
    const reason = new Error('stop pressed')
    let ran = false
    const run = (): FakeWork => {
      ran = true
      return new FakeWork()
    }
    expect(() => jobs.start({ kind: 'bash', label: 'x', signal: AbortSignal.abort(reason), run })).toThrow(reason)
    expect(ran).toBe(false)
    expect(jobs.list(undefined)).toEqual([])
  })

  it('does not stop work whose call is cancelled after the id is out', async () => {
    const { jobs } = await startJobs()
    const call = new AbortController()
    const work = new FakeWork()
    const id = jobs.start({ kind: 'bash', label: 'x', signal: call.signal, run: () => work })
    call.abort()
    await delay(0)
    expect(work.cancels).toEqual([])
    expect(jobs.get(undefined, id)).toMatchObject({ status: 'running' })
  })

  it('leaves no job, and no gap in the ids, when run() throws', async () => {
    const { jobs, start } = await startJobs()
    const broken = (): never => {
      throw new Error('no such shell')
    }
    expect(() => jobs.start({ kind: 'test', label: 'x', run: broken })).toThrow('no such shell')
    expect(jobs.list(undefined)).toEqual([])
    expect(start().id).toBe('test-1')
  })

  it.each([
    ['a kind that cannot begin an id', { kind: 'Bash 1' }, /kind is "Bash 1"; expected/],
    ['a blank label', { label: ' \n' }, /label is .*; expected a line of text/],
    ['work without cancel', { run: () => ({ done: Promise.resolve(EXIT_0) }) }, /must return \{cancel, done\}/],
    ['a limit of no bytes', { outputLimitBytes: 0 }, /outputLimitBytes is 0/],
  ])('refuses %s by JOB_INVALID', async (_what, wrong, message) => {
    const { jobs } = await startJobs()
    const spec = { kind: 'bash', label: 'x', run: () => new FakeWork(), ...wrong } as unknown as JobSpec
    expect(() => jobs.start(spec)).toThrow(JobsError)
    expect(() => jobs.start(spec)).toThrow(message)
    expect(jobs.list(undefined)).toEqual([])
  })

  it('refuses more running jobs than an owner may have, naming them and the remedy, and takes one again when one has ended', async () => {
    const { jobs, start } = await startJobs({ maxRunningPerOwner: 2 })
    const mine = owner()
    const { id, work } = start(mine, 'sleep 100')
    start(mine, 'npm run dev')
    expect(() => start(mine)).toThrow(code('JOB_LIMIT'))
    expect(() => start(mine)).toThrow(
      /2 background jobs are running and 2 may.*job_kill.*test-1 \(sleep 100\), test-2 \(npm run dev\)/,
    )
    expect(() => start(owner('other'))).not.toThrow()
    work.finish(EXIT_0)
    await ended(jobs, mine, id)
    expect(start(mine).id).toBe('test-3')
  })
})

describe('facts', () => {
  it('come one by one: end, output, acknowledgement', async () => {
    const { jobs, start } = await startJobs()
    const { id, work } = start()
    work.print('hello')
    const none = { ended: false, treeQuiet: false, outputRead: false, reported: false, acknowledged: false }
    expect(jobs.get(undefined, id)).toMatchObject({ status: 'running', facts: none })
    work.finish(EXIT_0)
    await ended(jobs, undefined, id)
    const row = jobs.get(undefined, id)
    expect(row).toMatchObject({ status: 'completed', detail: 'exit code: 0' })
    expect(row?.facts).toEqual({ ...none, ended: true, treeQuiet: true })
    const read = jobs.read(undefined, id)
    expect(read.output).toEqual({ text: 'hello', lossy: false })
    expect(read.row.facts).toEqual({ ...none, ended: true, treeQuiet: true, outputRead: true, acknowledged: true })
  })

  it('say that the tree is not quiet as long as a survivor is alive', async () => {
    const { jobs, start } = await startJobs()
    const { id, work } = start()
    const gone = { pid: 2 ** 30, command: 'was here' }
    const alive = { pid: process.pid, command: 'vitest' }
    work.finish({ ...EXIT_0, survivors: [gone, alive] })
    await ended(jobs, undefined, id)
    expect(jobs.get(undefined, id)).toMatchObject({ survivors: [alive], facts: { ended: true, treeQuiet: false } })
  })

  it('tell a producer that rejects, or does not say how it ended, as failed', async () => {
    const { jobs, start } = await startJobs()
    const first = start()
    const second = start()
    first.work.fail(new Error('the disk\nis gone'))
    second.work.finish(undefined as never)
    await ended(jobs, undefined, first.id)
    await ended(jobs, undefined, second.id)
    expect(jobs.list(undefined)).toMatchObject([
      { status: 'failed', detail: 'the disk is gone' },
      { status: 'failed', detail: 'the producer did not say how it ended' },
    ])
  })

  it('survive producers that throw in cancel and in reads', async () => {
    const { jobs, log } = await startJobs({ stopTimeoutMs: 20 })
    const broken = (): never => {
      throw new Error('broken')
    }
    const work = { cancel: broken, done: new Promise<never>(() => {}), readOutput: broken, peekOutput: broken }
    const id = jobs.start({ kind: 'bash', label: 'x', run: () => work })
    expect(jobs.read(undefined, id).output.text).toBe('')
    expect(jobs.peek(undefined, id)).toBe('')
    expect(jobs.kill(undefined, id)).toBe(true)
    expect(jobs.get(undefined, id)?.status).toBe('stopping')
    expect(log.join('\n')).toContain('cancelling job bash-1 failed: broken')
  })
})

describe('output', () => {
  it('is read once, in order, bounded, with its losses and files', async () => {
    const { jobs, start } = await startJobs({ outputLimitBytes: 256 })
    const { id, work } = start()
    work.print('x'.repeat(300))
    expect(jobs.read(undefined, id).output.text).toHaveLength(256)
    work.print('tail', true)
    expect(jobs.peek(undefined, id)).toBe(`${'x'.repeat(44)}tail`)
    expect(jobs.read(undefined, id).output).toEqual({
      text: `${'x'.repeat(44)}tail`,
      lossy: true,
      files: ['/spill/whole'],
    })
    expect(jobs.read(undefined, id).output.text).toBe('')
  })

  it('is what was printed, whatever looks at the job between the reads', async () => {
    const { jobs, start } = await startJobs({ outputLimitBytes: 300 })
    const step = fc.oneof(
      fc.record({ do: fc.constant('print' as const), text: fc.string({ maxLength: 400, unit: 'grapheme-ascii' }) }),
      fc.constantFrom({ do: 'read' as const }, { do: 'list' as const }, { do: 'wait' as const }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const { work } = start(owner())
        const whose = owner()
        const job = jobs.start({ kind: 'test', label: 'x', owner: whose, run: () => work })
        let printed = ''
        let read = ''
        for (const each of steps) {
          if (each.do === 'print') {
            printed += each.text
            work.print(each.text)
          } else if (each.do === 'read') read += jobs.read(whose, job).output.text
          else if (each.do === 'list') jobs.list(whose)
          else await jobs.wait(whose, job, { timeoutMs: 0 })
        }
        work.finish(EXIT_0)
        await ended(jobs, whose, job)
        while (jobs.get(whose, job)?.facts.outputRead === false) {
          const { text } = jobs.read(whose, job).output
          expect(text.length).toBeLessThanOrEqual(300)
          expect(text).not.toBe('')
          read += text
        }
        expect(read).toBe(printed)
      }),
      { numRuns: 60 },
    )
  })
})

describe('wait', () => {
  it('resolves on output, on the end, on the signal, and when the time is over', async () => {
    const { jobs, start } = await startJobs()
    const { id, work } = start()
    const long = { timeoutMs: 60_000 }
    expect((await jobs.wait(undefined, id, { timeoutMs: 1 })).status).toBe('running')
    const call = new AbortController()
    const cancelled = jobs.wait(undefined, id, { ...long, signal: call.signal })
    call.abort()
    expect((await cancelled).status).toBe('running')
    const output = jobs.wait(undefined, id, long)
    work.print('ready\n')
    expect((await output).facts.ended).toBe(false)
    expect(jobs.read(undefined, id).output.text).toBe('ready\n')
    const end = jobs.wait(undefined, id, long)
    work.finish(EXIT_0)
    expect((await end).status).toBe('completed')
    expect(work.cancels).toEqual([])
  })

  it('goes on over output when it waits for the end', async () => {
    const { jobs, start } = await startJobs()
    const { id, work } = start()
    const end = jobs.wait(undefined, id, { timeoutMs: 60_000, until: 'end' })
    work.print('noise')
    await delay(150) // longer than output is looked for
    work.finish(EXIT_0)
    expect((await end).facts.ended).toBe(true)
  })
})

describe('kill', () => {
  it('returns at once; the job is stopping until its producer has ended', async () => {
    const { jobs, start } = await startJobs()
    const { id, work } = start()
    work.onCancel = () => {}
    expect(jobs.kill(undefined, id, 'no longer needed')).toBe(true)
    expect(work.cancels).toEqual(['no longer needed'])
    expect(jobs.get(undefined, id)).toMatchObject({ status: 'stopping', facts: { ended: false, acknowledged: true } })
    expect(jobs.kill(undefined, id)).toBe(true)
    work.finish({ status: 'killed', detail: 'signal: SIGKILL' })
    await ended(jobs, undefined, id)
    expect(jobs.get(undefined, id)).toMatchObject({ status: 'killed', detail: 'signal: SIGKILL' })
    expect(jobs.kill(undefined, id)).toBe(false)
    expect(work.cancels).toHaveLength(2)
  })
})

describe('owners', () => {
  it('see, read and kill their own jobs alone, however their ids look', async () => {
    const { jobs, start } = await startJobs()
    const mine = owner('same')
    const other = owner('same')
    const { id, work } = start(mine)
    expect(jobs.list(other)).toEqual([])
    expect(jobs.get(other, id)).toBeUndefined()
    for (const use of [() => jobs.read(other, id), () => jobs.peek(undefined, id), () => jobs.kill(other, id)]) {
      expect(use).toThrow(code('JOB_NOT_FOUND'))
    }
    await expect(jobs.wait(other, id, { timeoutMs: 1 })).rejects.toThrow(code('JOB_NOT_FOUND'))
    expect(work.cancels).toEqual([])
    expect(() => jobs.read(mine, 'bash-9')).toThrow('no job "bash-9" here. There are: test-1.')
  })

  it('keep a bounded number of ended jobs, the acknowledged ones going first', async () => {
    const { jobs, start } = await startJobs({ maxKeptPerOwner: 2 })
    const jobsStarted = [start(), start(), start()]
    for (const { id, work } of jobsStarted.slice(0, 2)) {
      work.finish(EXIT_0)
      await ended(jobs, undefined, id)
    }
    jobs.read(undefined, 'test-2')
    jobsStarted[2]?.work.finish(EXIT_0)
    await ended(jobs, undefined, 'test-3')
    await delay(0)
    expect(jobs.list(undefined).map(({ id }) => id)).toEqual(['test-1', 'test-3'])
  })
})

describe('promotion', () => {
  it('turns a running call into a job by its id, once', async () => {
    const { jobs } = await startJobs()
    const mine = owner()
    const work = new FakeWork()
    const by: string[] = []
    const leave = jobs.promotable({
      callId: 'call-1',
      owner: mine,
      label: 'npm test',
      promote(who) {
        by.push(who)
        return jobs.start({ kind: 'bash', label: 'npm test', owner: mine, callId: 'call-1', run: () => work })
      },
    })
    expect(jobs.promotables(mine)).toEqual([{ callId: 'call-1', label: 'npm test' }])
    expect(jobs.promotables(owner())).toEqual([])
    expect(() => jobs.promote(owner(), 'call-1')).toThrow(code('JOB_NOT_FOUND'))
    const id = jobs.promote(mine, 'call-1')
    expect(by).toEqual(['person'])
    expect(jobs.get(mine, id)).toMatchObject({ status: 'running', callId: 'call-1' })
    expect(jobs.promotables(mine)).toEqual([])
    expect(() => jobs.promote(mine, 'call-1')).toThrow(code('JOB_NOT_FOUND'))
    leave()
  })

  it('leaves the call promotable when there is no room for another job', async () => {
    const { jobs, start } = await startJobs({ maxRunningPerOwner: 1 })
    start()
    const run = (): FakeWork => new FakeWork()
    jobs.promotable({
      callId: 'c',
      owner: undefined,
      label: 'x',
      promote: () => jobs.start({ kind: 'bash', label: 'x', run }),
    })
    expect(() => jobs.promote(undefined, 'c')).toThrow(code('JOB_LIMIT'))
    expect(jobs.promotables(undefined)).toHaveLength(1)
  })
})

describe('subscribe', () => {
  it('tells of each change, contains listeners that throw, and ends with its plugin', async () => {
    const { ctx, jobs, start, log } = await startJobs()
    const heard: (string | undefined)[] = []
    const fiber = ctx.plugin({
      name: 'watcher',
      inject: ['jobs'],
      apply(child) {
        child.jobs.subscribe(() => {
          throw new Error('watcher is broken')
        })
        child.jobs.subscribe((whose) => void heard.push(whose?.id))
      },
    })
    await fiber
    const mine = owner('mine')
    const { id, work } = start(mine)
    expect(heard).toEqual(['mine'])
    work.finish(EXIT_0)
    await ended(jobs, mine, id)
    await delay(0)
    expect(heard.length).toBeGreaterThan(1)
    expect(log.join('\n')).toContain('a listener of jobs failed: watcher is broken')
    await disposeAndJoin(fiber.ctx.fiber)
    const before = heard.length
    start(mine)
    expect(heard).toHaveLength(before)
  })
})

describe('config', () => {
  it('names the field, what arrived and what was wanted', () => {
    const validate = (input: unknown): unknown => jobsConfig['~standard'].validate(input)
    expect(validate({ completionDelivery: 'loud' })).toEqual({
      issues: [
        {
          message: 'jobs: completionDelivery is "loud"; expected "wakeup" or "quiet"',
          path: ['completionDelivery'],
        },
      ],
    })
    expect(validate(undefined)).toMatchObject({ value: { maxRunningPerOwner: 10, stopTimeoutMs: 5000 } })
  })
})
