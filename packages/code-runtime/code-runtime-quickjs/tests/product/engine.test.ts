// The engine in this thread, without a worker: what it frees, and what a worker does while it rests.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { beforeAll, describe, expect, it } from 'vitest'
import type { BindingShape } from '../../src/protocol.ts'
import { compile } from '../../src/web-assembly.ts'
import { Guest, startEngine, type Engine, type RunHost } from '../../src/worker/engine.ts'
import { Rehearsal } from '../../src/worker/rehearsal.ts'

const require = createRequire(import.meta.url)
const MIB = 1024 * 1024
const SHAPES: BindingShape[] = [
  { global: 'tools', names: ['echo'], errorClass: { name: 'ToolCallError', memberNameProperty: 'toolName' } },
]

let engine: Engine

beforeAll(async () => {
  const path = require.resolve('@jitl/quickjs-wasmfile-release-sync/wasm')
  engine = await startEngine(await compile(readFileSync(path)), 64)
})

/** Answers calls with their argument until the program ends. */
function runProgram(body: string): string {
  const guest = new Guest(engine)
  const answers: string[] = []
  let outcome: string | undefined
  const host: RunHost = {
    call({ id, text }) {
      answers.push(`[${id},${id % 3 !== 0},${id % 3 === 0 ? '"refused"' : text}]`)
      return undefined
    },
    done: (value) => void (outcome = value ?? 'nothing'),
    fail: (kind, message) => void (outcome = `${kind}: ${message}`),
    log: () => {},
    startTimer: () => 'no timers here',
    stopTimer: () => {},
  }
  guest.attach(host, () => false)
  guest.install(JSON.stringify(SHAPES))
  guest.startProgram(`(async () => {${body}\n})`, 'program.ts')
  while (outcome === undefined) {
    guest.runJobs(1000)
    if (answers.length > 0) guest.enter('settle', `[${answers.splice(0).join(',')}]`)
    else if (!guest.hasPendingJob) outcome ??= 'stuck'
  }
  guest.dispose()
  return outcome
}

describe('the engine', () => {
  it('frees all that a run has allocated, that of failed calls and refused values included', () => {
    const program = `
      const text = 'x'.repeat(2000)
      for (let i = 0; i < 200; i++) {
        await tools.echo({ i, text }).catch(() => {})
        await tools.echo(() => {}).catch(() => {})
        try { setTimeout(() => {}) } catch {}
        try { new TextDecoder('unknown') } catch {}
        try { new TextDecoder().decode(new ArrayBuffer(8, { maxByteLength: 16 }).transfer()) } catch {}
        new TextEncoder().encode(text); new URL('https://example.com/' + i)
      }
      return 1`
    expect(runProgram(program)).toBe('1')
    const before = engine.memory.buffer.byteLength
    for (let round = 0; round < 10; round += 1) expect(runProgram(program)).toBe('1')
    expect(engine.memory.buffer.byteLength).toBe(before)
    expect(before).toBeLessThanOrEqual(32 * MIB)
  })

  it('rehearses in short pieces while it rests, comes to an end, and leaves nothing of it to programs', () => {
    const rehearsal = new Rehearsal(engine)
    let pieces = 0
    for (; !rehearsal.isOver && pieces < 10_000; pieces += 1) rehearsal.continue()
    expect(rehearsal.isOver).toBe(true)
    expect(pieces).toBeGreaterThan(10)
    expect(runProgram('return [typeof tools.answer, await tools.echo(1)]')).toBe('["undefined",[1,0,0,1]]')
  })
})
