// Entry of the worker thread: starts the engine, keeps one fresh context ready, and serves one run after the other.
import { workerData } from 'node:worker_threads'
import type { FromWorker, GuestFailure, ToWorker, WorkerBoot } from '../protocol.ts'
import { Guest, isSpent, startEngine } from './engine.ts'
import { runJob } from './run.ts'

const { port, control: shared, wasm, maxMemoryMb } = workerData as WorkerBoot
const control = new Int32Array(shared)
let started = 0
const say = (message: FromWorker): void => port.postMessage(message)

/** The engine may keep references after an interrupt or without memory, and then aborts when its runtime is freed. */
function isShaken(failure: GuestFailure | undefined): boolean {
  if (failure === undefined || failure.kind === 'invalid-output') return false
  return failure.kind !== 'exception' || failure.message.startsWith('InternalError')
}

function lost(thrown: unknown): void {
  const message = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown)
  say({
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
  port.on('message', (message: ToWorker) => {
    if (message.type !== 'run') return
    started = message.run
    try {
      const done = runJob(guest, message, {
        port,
        control,
        maxMemoryMb,
        peakBytes: () => engine.memory.buffer.byteLength,
      })
      const spent = isShaken(done.failure) || isSpent(engine)
      say({ ...done, spent })
      if (spent) return
      guest.dispose()
      guest = new Guest(engine)
    } catch (thrown) {
      lost(thrown)
    }
  })
  say({ type: 'ready' })
} catch (thrown) {
  lost(thrown)
}
