// `testTool` with a runner of its own, the options, the report for people, and what a check does to the process.
import { readFileSync, existsSync } from 'node:fs'
import { defineTool, type ToolDefinition } from '@deepseek-ai/dsh-tools'
import { describe, expect, it } from 'vitest'
import { checkTool, formatReport, testTool, type ToolCheckOptions, type ToolReport } from '../../src/index.ts'
import { withTripwires } from '../../src/tool/tripwires.ts'
import { options, repeat, variant } from './subjects.ts'

// As an author has it in a test file of theirs.
testTool({ describe, it }, repeat, options)

interface Test {
  name: string
  body: (...context: unknown[]) => Promise<void>
}

function collect(subject: ToolDefinition, given: ToolCheckOptions = options): { suites: string[]; tests: Test[] } {
  const suites: string[] = []
  const tests: Test[] = []
  const describe = (name: string, body: () => void): void => {
    suites.push(name)
    body()
  }
  testTool({ describe, it: (name, body) => tests.push({ name, body }) }, subject, given)
  return { suites, tests }
}

const named = (tests: readonly Test[], id: string): Test => tests.find(({ name }) => name.endsWith(`(${id})`))!

describe('testTool', { timeout: 60_000 }, () => {
  it('names the suite after the tool, and one test after each check', () => {
    const { suites, tests } = collect(repeat)
    expect(suites).toEqual(['repeat keeps the tool contract'])
    expect(tests).toHaveLength(25)
    expect(tests[0]?.name).toBe('has a name that every provider takes (schema-name)')
    expect(tests.every(({ body }) => body.length === 0)).toBe(true)
  })

  it('fails the test of a broken part with the reason and the input', async () => {
    const broken = variant({
      presentCall: (({ text }: { text: string }) => ({ card: 'generic', title: text.trim() })) as never,
    })
    const { tests } = collect(broken)
    await expect(named(tests, 'presenters-total').body()).rejects.toThrow(/presentCall throws TypeError[^]*\nwith /)
    await named(tests, 'presenters-pure').body()
  })

  it('runs any one test alone', async () => {
    await named(collect(repeat).tests, 'meta-size').body()
  })

  it('tells a runner that can skip why a test was skipped', async () => {
    const skips: unknown[] = []
    const context = { skip: (reason: string) => skips.push(reason) }
    const { tests } = collect(repeat, { ...options, skip: { timeout: 'it has all the time' } })
    await named(tests, 'timeout').body(context)
    expect(skips).toEqual(['it has all the time'])
  })
})

describe('options', { timeout: 60_000 }, () => {
  it.each<[ToolCheckOptions, RegExp]>([
    [{ skip: { tiemout: 'x' } as never }, /skip names no check: "tiemout" \(there are schema-name, /],
    [{ runs: 0 }, /runs must be a positive finite number \(got 0\)/],
    [{ settleMs: Number.NaN }, /settleMs must be/],
    [{ seed: 1.5 }, /seed must be an integer/],
    [{ args: [{ text: '' }] }, /args: \{"text":""\} does not match the schema: "text" must have at least 1 character/],
  ])('refuses %o', async (given, message) => {
    await expect(checkTool(repeat, given)).rejects.toThrow(message)
  })

  it('runs nothing but known-good arguments of a destructive tool', async () => {
    const ran: unknown[] = []
    const tool = variant({
      execute: ({ text }) => {
        ran.push(text)
        return { lines: [text] }
      },
    })
    const report = await checkTool(tool, { ...options, slowArgs: [], args: [{ text: 'only this' }], destructive: true })
    expect(new Set(ran)).toEqual(new Set(['only this']))
    expect(statuses(report)).toMatchObject({
      'args-valid': 'passed',
      'args-hostile': 'passed',
      'render-size': 'passed',
    })
  })

  it('runs nothing at all of a destructive tool without arguments, and says what was left out', async () => {
    const tool = variant({
      execute: () => {
        throw new Error('must not run')
      },
    })
    const report = await checkTool(tool, { destructive: true, settleMs: 300 })
    expect(report.ok).toBe(true)
    expect(statuses(report)).toMatchObject({ 'args-near-valid': 'passed', 'cancel-before': 'passed' })
    const skipped = report.checks.filter(({ status }) => status === 'skipped')
    expect(skipped.every(({ reason }) => reason !== undefined && reason !== '')).toBe(true)
    expect(skipped.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['args-valid', 'cancel-during', 'isolation-process']),
    )
  })

  it('goes on with known-good arguments where none can be made up, and says so', async () => {
    const tool = defineTool({
      name: 'picky',
      description: 'Takes a date of the proleptic calendar.',
      parameters: {
        day: { type: 'string', required: true, description: 'A day', pattern: '^(?=.*-)(?!.*x)[0-9-]{10}$' },
      },
      output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value }] },
      execute: ({ day }) => day,
    })
    const report = await checkTool(tool, { args: [{ day: '2024-02-29' }] })
    expect(report.ok, formatReport(report)).toBe(true)
    expect(statuses(report)).toMatchObject({ 'args-valid': 'skipped', 'render-size': 'passed' })
    const { reason } = report.checks.find(({ id }) => id === 'args-valid')!
    expect(reason).toMatch(/^found no value for "day" that its schema accepts .*; name one in arbitraries$/)
  })

  it('keeps made-up and hostile values of restricted parameters from the body', async () => {
    const ran = new Set<unknown>()
    const tool = defineTool({
      name: 'restricted',
      description: 'Takes a word.',
      parameters: { word: { type: 'string', required: true, description: 'A word' } },
      output: { schema: { type: 'null' }, render: () => [] },
      execute({ word }) {
        ran.add(word)
        return null
      },
    })
    const report = await checkTool(tool, { arbitraries: (fc) => ({ word: fc.constantFrom('a', 'b') }) })
    expect(report.ok, formatReport(report)).toBe(true)
    expect(ran).toEqual(new Set(['a', 'b']))
  })

  it('wraps each run in setup and teardown, also of runs that fail', async () => {
    let open = 0
    let runs = 0
    const tool = variant({
      execute: (_args, exec) => {
        runs++
        expect(open).toBe(1)
        if (exec.agent?.cwd !== '/here') throw new Error('not there')
        return { lines: [] }
      },
    })
    const report = await checkTool(tool, {
      ...options,
      slowArgs: [],
      setup: () => {
        open++
        return { cwd: '/here' }
      },
      teardown: () => void open--,
      skip: { concurrency: 'runs side by side share one setup' },
    })
    expect(report.ok, formatReport(report)).toBe(true)
    expect([open, runs > 0]).toEqual([0, true])
  })
})

function statuses(report: ToolReport): Record<string, string> {
  return Object.fromEntries(report.checks.map(({ id, status }) => [id, status]))
}

describe('the report', { timeout: 60_000 }, () => {
  it('is the same for the same seed, but for its time', async () => {
    const [first, second] = [await checkTool(repeat, options), await checkTool(repeat, options)]
    expect({ ...second, durationMs: 0 }).toEqual({ ...first, durationMs: 0 })
  })

  it('reads as lines for people', () => {
    const report: ToolReport = {
      tool: 'demo',
      ok: false,
      seed: 3,
      runs: 25,
      durationMs: 1234,
      checks: [
        { id: 'schema-name', title: 'has a name', status: 'passed' },
        { id: 'timeout', title: 'settles', status: 'failed', reason: 'it did\nnot', example: '{"a":1}' },
      ],
    }
    expect(formatReport(report)).toBe(
      [
        'demo: 1 passed, 1 failed, 0 skipped (seed 3, 1.2 s)',
        '  ✓ schema-name  has a name',
        '  ✗ timeout      settles',
        '                 it did',
        '                 not',
        '                 with {"a":1}',
      ].join('\n'),
    )
  })
})

describe('the process that checks', { timeout: 60_000 }, () => {
  it('has its clock, random numbers, files and listeners back afterwards', async () => {
    // By identity: what stands in for a function during a check looks like one too.
    const ambient = (): unknown[] => [
      Date,
      Math.random,
      Reflect.get(performance, 'now'),
      globalThis.fetch,
      readFileSync,
      Reflect.get(process, 'cwd'),
    ]
    const before = ambient()
    const listeners = process.listeners('unhandledRejection')
    const { checks } = await checkTool(repeat, { ...options, slowArgs: [] })
    expect(checks.length).toBe(25)
    expect(ambient().map((each, index) => each === before[index])).toEqual(before.map(() => true))
    expect(process.listeners('unhandledRejection')).toEqual(listeners)
    expect(existsSync(process.cwd())).toBe(true)
  })

  it('is out of reach for what is watched, named imports included, and the present with it', () => {
    const reach = (body: () => unknown) => withTripwires((watch) => watch(body)).reached
    expect(reach(() => readFileSync('/etc/hostname'))).toEqual(['fs.readFileSync()'])
    expect(reach(() => new Date().toISOString())).toEqual(['new Date()'])
    expect(reach(() => Date.now())).toEqual(['Date.now()'])
    expect(reach(() => process.hrtime.bigint())).toEqual(['process.hrtime()'])
    expect(reach(() => crypto.randomUUID())).toEqual(['crypto.randomUUID()'])
    expect(reach(() => setTimeout(() => undefined, 0))).toEqual(['setTimeout()'])
    expect(reach(() => new Date(0).toISOString() + Math.max(1, 2))).toEqual([])
    expect(new Date().getFullYear()).toBeGreaterThan(2000)
  })
})
