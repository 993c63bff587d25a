// What the host still has once programs are gone: workers, handles, heap, and an event loop that was never held up.
import { readdirSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Context, disposeAndJoin, type Fiber } from '@deepseek-ai/cordis'
import type { CodeBinding, CodeRunResult } from '@deepseek-ai/dsh-code-runtime'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import CodeRuntimeQuickjs, { type CodeRuntimeQuickjsOptions } from '../../src/index.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const MIB = 1024 * 1024
const echo: CodeBinding = { global: 'tools', names: ['echo'], call: async (_name, argument) => argument }

let ctx: Context
let fiber: Fiber

async function start(options: CodeRuntimeQuickjsOptions = {}): Promise<void> {
  ctx = new Context()
  fiber = await ctx.plugin(CodeRuntimeQuickjs, { computeMs: 1000, maxMemoryMb: 64, maxOutputBytes: 65_536, ...options })
}

const run = (program: string): Promise<CodeRunResult> => ctx.codeRuntime.run({ program, bindings: [echo] })
const descriptors = (): number => readdirSync('/proc/self/fd').length
const threads = (): number => readdirSync('/proc/self/task').length
const ports = (): number => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length

async function heap(): Promise<number> {
  for (let round = 0; round < 5; round += 1) {
    collect()
    await nextTurn()
  }
  return process.memoryUsage().heapUsed
}

beforeEach(() => start())
afterEach(() => disposeAndJoin(fiber))

describe('the host', () => {
  it('is left with no worker, port or descriptor after hostile programs and disposal', async () => {
    await disposeAndJoin(fiber)
    const before = { descriptors: descriptors(), threads: threads(), ports: ports() }
    await start()
    const programs = [
      'for (;;);',
      'const a = []; for (;;) a.push(new Uint8Array(1e6))',
      'throw 1',
      'for (;;) console.log("x".repeat(100))',
    ]
    await Promise.all(programs.map(run))
    await disposeAndJoin(fiber)
    expect({ descriptors: descriptors(), threads: threads(), ports: ports() }).toEqual(before)
    await start()
  })

  it('keeps its event loop free while programs compute, flood and allocate', async () => {
    await run('return 1')
    const held = monitorEventLoopDelay({ resolution: 5 })
    held.enable()
    await Promise.all([run('for (;;);'), run('for (let i = 0; ; i++) console.log(i)')])
    await run('const again = () => Promise.resolve().then(again); await again()')
    held.disable()
    // The median, not the maximum: other processes share the machine.
    expect(held.percentile(50) / 1e6).toBeLessThan(50)
  })

  it('costs next to no processor while a program waits for a slow tool', async () => {
    let spentMs = Infinity
    const slow: CodeBinding = {
      ...echo,
      async call(_name, argument) {
        const before = process.cpuUsage()
        await delay(400)
        const { user, system } = process.cpuUsage(before)
        spentMs = (user + system) / 1000
        return argument
      },
    }
    const program = 'for (let i = 0; i < 100; i++) await quick.echo(i); return await tools.echo("late")'
    const quick: CodeBinding = { ...echo, global: 'quick' }
    expect((await ctx.codeRuntime.run({ program, bindings: [slow, quick] })).value).toBe('late')
    expect(spentMs).toBeLessThan(200)
  })

  it('has the heap and the threads it began with after 500 runs', async () => {
    const program =
      'const r = []; for (let i = 0; i < 5; i++) r.push(await tools.echo({ i, text: "x".repeat(1000) })); console.log(r); return r'
    for (let round = 0; round < 50; round += 1) await run(program)
    const before = { heap: await heap(), threads: threads(), descriptors: descriptors() }
    for (let round = 0; round < 500; round += 1) expect((await run(program)).error).toBeUndefined()
    expect(threads()).toBeLessThanOrEqual(before.threads + 1)
    expect(descriptors()).toBeLessThanOrEqual(before.descriptors)
    expect((await heap()) - before.heap).toBeLessThan(8 * MIB)
  })

  it('replaces a worker after so many runs, and after one that grew', async () => {
    await disposeAndJoin(fiber)
    await start({ runsPerWorker: 3, maxConcurrentRuns: 1, maxMemoryMb: 256 })
    for (let round = 0; round < 10; round += 1) expect((await run('return 1')).value).toBe(1)
    expect((await run('return new Uint8Array(150e6).length')).value).toBe(150_000_000)
    expect((await run('return 2')).value).toBe(2)
  })

  it('starts with the first program where it is not told to start warm', async () => {
    await disposeAndJoin(fiber)
    const before = threads()
    await start({ warm: false })
    expect(threads()).toBeLessThanOrEqual(before)
    expect((await run('return 1')).value).toBe(1)
  })
})

describe('values', () => {
  it('come through a program unchanged, whatever JSON they are', async () => {
    const anything = fc.jsonValue({ noUnicodeString: false }).map((value) => JSON.parse(JSON.stringify(value)) as never)
    await fc.assert(
      fc.asyncProperty(anything, async (value) => {
        const program = `return [await tools.echo(${JSON.stringify(value)}), ${JSON.stringify(value)}]`
        const result = await run(`"use strict"; ${program.replaceAll('"__proto__":', '["__proto__"]:')}`)
        expect(result.error).toBeUndefined()
        expect(JSON.stringify(result.value)).toBe(JSON.stringify([value, value]))
      }),
      { numRuns: 60 },
    )
  })

  it('are refused or kept, never changed, whatever a program builds', async () => {
    const source = fc.letrec<{ node: string; list: string; record: string }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(
          '1',
          '-0',
          '0',
          '1.5',
          'NaN',
          '2**40',
          '-1',
          '"é\\ud800"',
          'null',
          'true',
          'undefined',
          '1n',
          'new Date(0)',
          '()=>1',
          '[,1]',
        ),
        tie('list'),
        tie('record'),
      ),
      list: fc.array(tie('node'), { maxLength: 4 }).map((parts) => `[${parts.join(',')}]`),
      record: fc
        .array(tie('node'), { maxLength: 4 })
        .map((parts) => `{${parts.map((part, index) => `k${index}:${part}`).join(',')}}`),
    })).node
    await fc.assert(
      fc.asyncProperty(source, async (text) => {
        const lossless = !/-0|NaN|undefined|1n|Date|=>|\[,/.test(text)
        const result = await run(`return (${text})`)
        if (text === 'undefined') expect(result).toEqual({ logs: [] })
        else if (lossless) expect(result.value).toEqual(JSON.parse(JSON.stringify(runInNewContext(`(${text})`))))
        else expect(result.error?.kind).toBe('invalid-output')
      }),
      { numRuns: 120 },
    )
  })
})
