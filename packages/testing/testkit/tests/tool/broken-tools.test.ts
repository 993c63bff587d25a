// One deliberately broken tool for each check: the check fails, says why, and no check that has nothing to do with it does.
import { readFileSync } from 'node:fs'
import { cwd } from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'
import { ToolArgsError, type JsonSchema, type ToolBodyExecution } from '@deepseek-ai/dsh-tools'
import { describe, expect, it } from 'vitest'
import { checkTool, formatReport, type CheckId, type ToolCheckOptions, type ToolUnderTest } from '../../src/index.ts'
import { CHECK_IDS } from '../../src/tool/report.ts'
import { options, repeat, repeatBody, variant, withoutDeadline } from './subjects.ts'

interface Broken {
  tool: ToolUnderTest
  reason: RegExp
  /** Part of the example that the report shows. */
  example?: RegExp
  /** Checks that must fail as well, since they look at the same fault from another side. */
  also?: CheckId[]
  options?: ToolCheckOptions
}

const never = (): Promise<never> => new Promise(() => undefined)
const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))

let counter = 0

/** The schema of the tool with other words about its text. */
function withText(words: JsonSchema): JsonSchema {
  const { properties } = repeat.parameters
  return { ...repeat.parameters, properties: { ...properties, text: { ...properties!['text'], ...words } } }
}

const BROKEN: Record<CheckId, Broken> = {
  'schema-name': { tool: variant({ name: 'bad name!' }), reason: /providers take .*got "bad name!"/ },
  'schema-description': {
    tool: variant({ description: 'TODO: describe', parameters: withText({ description: '' }) }),
    reason: /the tool still says "TODO"\nparameter "text" has no description/,
  },
  'schema-parameters': {
    tool: variant({ parameters: { ...repeat.parameters, required: ['text', 'ghost'] } }),
    reason: /ghost/,
  },
  'schema-examples': {
    tool: variant({ parameters: withText({ examples: ['', 'ab'] }) }),
    reason: /parameters\.text examples\[0\]" must have at least 1 character/,
  },
  'schema-output': {
    tool: variant({ output: { ...repeat.output, schema: { type: 'text' } as never } }),
    reason: /output\.schema\.type must be one of/,
    also: ['registration'],
  },
  registration: { tool: variant({ name: 'run_code' }), reason: /run_code/ },
  'args-valid': {
    tool: variant({
      execute: (args, exec) => {
        if (args.times !== undefined && args.times > 2) throw new ToolArgsError(['too many times'])
        return repeatBody(args, exec)
      },
    }),
    reason: /valid arguments end as INVALID_ARGS.*too many times/,
    example: /"times":3/,
    options: { args: [{ text: 'a' }] },
  },
  'args-near-valid': {
    tool: {
      ...repeat,
      execute: (args: never, exec: ToolBodyExecution) => repeatBody(Object(args), exec),
    },
    reason: /wanted INVALID_ARGS, got/,
    also: ['args-hostile'],
    options: { skip: { 'args-hostile': 'the same fault' } },
  },
  'args-hostile': {
    tool: variant({
      execute: (args, exec) => {
        merge({}, args as unknown as Record<string, unknown>)
        return repeatBody(args, exec)
      },
    }),
    reason: /^a property named "__proto__": a built-in prototype was changed/,
  },
  'output-lossless': {
    tool: variant({
      execute: (args, exec) => (args.times === 3 ? { lines: ['b', undefined] } : repeatBody(args, exec)),
    }),
    reason: /not lossless JSON: at "lines\[1\]"/,
    also: ['args-valid'],
  },
  'render-is-pure': {
    tool: variant({ output: { ...repeat.output, render: () => [{ type: 'text', text: `${++counter}` }] } }),
    reason: /output\.render gives .* and then .* for the same value/,
  },
  'render-size': {
    tool: variant({ output: { ...repeat.output, render: () => [{ type: 'text', text: 'é'.repeat(200_000) }] } }),
    reason: /renders 400000 bytes .* more than 262144/,
  },
  'meta-is-pure': {
    tool: variant({ output: { ...repeat.output, presentationMeta: () => ({ count: 1, at: Date.now() }) } }),
    reason: /output\.presentationMeta reaches for Date\.now\(\)/,
  },
  'meta-size': {
    tool: variant({ output: { ...repeat.output, presentationMeta: () => 'x'.repeat(70_000) } }),
    reason: /keeps 70002 bytes of meta .* more than 65536/,
  },
  'presenters-pure': {
    tool: variant({ presentCall: () => ({ card: 'generic', title: `${++counter}` }) }),
    reason: /presentCall gives .* and then/,
  },
  'presenters-ambient': {
    tool: variant({
      presentCall: () => {
        try {
          return { card: 'generic', title: readFileSync('/etc/hostname', 'utf8') + cwd() }
        } catch {
          return undefined
        }
      },
    }),
    reason: /presentCall reaches for fs\.readFileSync\(\)/,
  },
  'presenters-total': {
    tool: variant({
      presentCall: (args: never) => ({ card: 'generic', title: (args as { text: string }).text.toUpperCase() }),
    }),
    reason: /presentCall throws TypeError/,
  },
  'presenters-view': {
    tool: variant({ presentResult: () => ({ card: 'terminal', exitCode: 'zero' }) as never }),
    reason: /presentResult: .*exitCode/,
  },
  'cancel-before': {
    tool: variant({
      // Waits for an event that has come and gone.
      execute: async (args, exec) => {
        if (args.waitMs !== undefined && args.waitMs > 0) await untilAborted(exec.signal)
        return repeatBody({ text: args.text }, exec)
      },
    }),
    reason: /whose signal had fired before it looked did not settle in 300 ms/,
  },
  'cancel-during': {
    tool: variant({
      execute: async (args, exec) => {
        if (exec.signal.aborted || !args.waitMs) return repeatBody({ text: args.text }, exec)
        return never()
      },
    }),
    reason: /cancelled .*: did not settle in 300 ms/,
    also: ['timeout'],
  },
  'cancel-after': {
    tool: withoutDeadline(
      variant({
        execute: async (args, exec) => {
          exec.signal.addEventListener('abort', () => undefined)
          return repeatBody(args, exec)
        },
      }),
    ),
    reason: /leaves a listener on the caller's signal/,
    options: { slowArgs: [], skip: { 'cancel-during': 'the same fault' } },
  },
  concurrency: {
    tool: () => {
      let running = 0
      const execute = async (): Promise<unknown> => {
        const beside = running++
        await delay(5)
        running--
        return { lines: Array.from({ length: beside + 1 }, () => 'x') }
      }
      return withoutDeadline(variant({ execute }))
    },
    reason: /gives .* beside others, and .* alone/,
    options: { slowArgs: [] },
  },
  'isolation-args': {
    tool: variant({
      execute: (args, exec) => {
        if (!Object.isFrozen(args)) (args as { times?: number }).times = 7
        return repeatBody(args, exec)
      },
    }),
    reason: /the body changes its arguments/,
  },
  'isolation-process': {
    tool: variant({
      execute: (args, exec) => {
        void Promise.reject(new Error('nobody cares'))
        return repeatBody(args, exec)
      },
    }),
    reason: /a rejection went unhandled: Error: nobody cares/,
    options: { skip: { 'cancel-during': 'the same fault', 'cancel-after': 'the same fault' } },
  },
  timeout: {
    tool: variant({
      execute: async (args, exec) => {
        if (!args.waitMs) return repeatBody(args, exec)
        // Listens to its caller well, and takes a deadline for something else.
        if (exec.signal.aborted) throw exec.signal.reason
        await untilAborted(exec.signal)
        if ((exec.signal.reason as Error).name === 'TimeoutError') await never()
        throw exec.signal.reason
      },
    }),
    reason: /did not settle in 300 ms after its deadline/,
  },
}

/** A merge as they are written when in a hurry. */
function merge(target: Record<string, unknown>, source: Record<string, unknown>): void {
  for (const [key, value] of Object.entries(source)) {
    const known = target[key]
    const isContainer = (typeof known === 'object' && known !== null) || typeof known === 'function'
    if (isContainer && typeof value === 'object' && value !== null)
      merge(known as Record<string, unknown>, value as Record<string, unknown>)
    else Object.defineProperty(target, key, { value, configurable: true, enumerable: true, writable: true })
  }
}

describe('checkTool', { timeout: 60_000 }, () => {
  it('passes a tool that keeps the contract, with nothing skipped', async () => {
    const report = await checkTool(repeat, options)
    expect(formatReport(report)).toMatch(/^repeat: 25 passed, 0 failed, 0 skipped \(seed 1, /)
    expect(report.ok).toBe(true)
  })

  it.each(CHECK_IDS)('fails %s for a tool that is broken there, and nothing else', async (id) => {
    const { tool, reason, example, also = [], options: more = {} } = BROKEN[id]
    const report = await checkTool(tool, { ...options, runs: 5, ...more })
    const failed = report.checks.filter(({ status }) => status === 'failed').map((check) => check.id)
    const skipped = Object.keys(more.skip ?? {})
    expect([...failed].sort(), formatReport(report)).toEqual(
      [id, ...also].filter((each) => !skipped.includes(each)).sort(),
    )
    const found = report.checks.find((check) => check.id === id)
    expect(found?.reason).toMatch(reason)
    if (example !== undefined) expect(found?.example).toMatch(example)
    expect(report.ok).toBe(false)
  })
})
