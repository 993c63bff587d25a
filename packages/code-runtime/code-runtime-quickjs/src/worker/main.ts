// Entry of the worker thread: starts the engine, keeps one fresh context ready, and serves one run after the other.
import { workerData } from 'node:worker_threads'
import type { GuestFailure, ToWorker, WorkerBoot } from '../protocol.ts'
import { Guest, isSpent, startEngine } from './engine.ts'
import { Link } from './link.ts'
import { Rehearsal } from './rehearsal.ts'
import { runJob } from './run.ts'

const { port, shared, wasm, maxMemoryMb } = workerData as WorkerBoot
const link = new Link(port, shared)
let started = 0

/** How long a worker rests before it rehearses: after its start, when its host has enough to do, and after a run. */
const FIRST_REST_MS = 500
const REST_MS = 100

/** The engine may keep references after an interrupt or without memory, and then aborts when its runtime is freed. */
function isShaken(failure: GuestFailure | undefined): boolean {
  if (failure === undefined || failure.kind === 'invalid-output' || failure.kind === 'deadlock') return false
  return failure.kind !== 'exception' || failure.message.startsWith('InternalError')
}

function lost(thrown: unknown): void {
  const message = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown)
  link.say({
    type: 'fatal',
    run: started,
    message,
    outOfMemory: /out of memory|OOM|memory access out of bounds/i.test(message),
  })
  port.close()
}

try {
  const engine = await startEngine(wasm, maxMemoryMb)
  let guest = new Guest(engine)
  const rehearsal = new Rehearsal(engine)
  let rest: NodeJS.Timeout | undefined
  const rehearseAfter = (milliseconds: number): void => {
    if (rehearsal.isOver) return
    rest = setTimeout(() => {
      try {
        rehearsal.continue()
        rehearseAfter(1)
      } catch (thrown) {
        lost(thrown)
      }
    }, milliseconds)
  }
  port.on('message', (message: ToWorker) => {
    if (message.type !== 'run') return
    clearTimeout(rest)
    started = message.run
    link.begin(message.received)
    try {
      if (guest.bindings !== undefined && guest.bindings !== message.bindings) {
        guest.dispose()
        guest = new Guest(engine)
      }
      const done = runJob(guest, message, {
        link,
        maxMemoryMb,
        peakBytes: () => engine.memory.buffer.byteLength,
      })
      const spent = isShaken(done.failure) || isSpent(engine)
      link.say({ ...done, spent })
      if (spent) return
      guest.dispose()
      guest = new Guest(engine)
      guest.install(message.bindings) // the next program mostly has the same
      rehearseAfter(REST_MS)
    } catch (thrown) {
      lost(thrown)
    }
  })
  link.say({ type: 'ready' })
  rehearseAfter(FIRST_REST_MS)
} catch (thrown) {
  lost(thrown)
}
