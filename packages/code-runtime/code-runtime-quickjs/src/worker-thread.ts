// One worker thread as the host sees it: started, given one run at a time, woken, stopped, ended. Knows nothing of bindings.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads'
import { CONTROL_BYTES, STOP, WAKE, type FromWorker, type ToWorker, type WorkerBoot } from './protocol.ts'
import { compile, type CompiledModule } from './web-assembly.ts'
import { workerEntry } from './worker-entry.ts'

const HEAP_MB = 256
const STACK_MB = 8

let compiled: Promise<CompiledModule> | undefined

/** Compiled once a process and shared by all workers, code included. */
function engineModule(): Promise<CompiledModule> {
  compiled ??= (async () => {
    const path = createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/wasm')
    return await compile(await readFile(path))
  })()
  compiled.catch(() => (compiled = undefined)) // reported by who awaits it; the next worker tries again
  return compiled
}

export interface WorkerEnd {
  reason: string
  outOfMemory: boolean
  /** The last run that the worker had started; undefined when it ended without a word. */
  lastRun?: number
}

export interface WorkerListener {
  message(message: FromWorker): void
  /** The worker is gone, or of no use any more. Called once. */
  lost(end: WorkerEnd): void
}

export class WorkerThread {
  /** Resolves when a run can start; rejects when the worker could not be started. */
  readonly ready: Promise<void>
  runs = 0
  private readonly port: MessagePort
  private readonly control: Int32Array
  private readonly worker: Worker
  private readonly exited: Promise<void>
  private listener: WorkerListener | undefined
  private gone: WorkerEnd | undefined

  static async start(maxMemoryMb: number): Promise<WorkerThread> {
    const thread = new WorkerThread(await engineModule(), maxMemoryMb)
    try {
      await thread.ready
    } catch (thrown) {
      await thread.terminate()
      throw thrown
    }
    return thread
  }

  private constructor(wasm: CompiledModule, maxMemoryMb: number) {
    const { port1, port2 } = new MessageChannel()
    const control = new SharedArrayBuffer(CONTROL_BYTES)
    this.port = port1
    this.control = new Int32Array(control)
    const { url, execArgv } = workerEntry()
    const boot: WorkerBoot = { port: port2, control, wasm, maxMemoryMb }
    this.worker = new Worker(url, {
      workerData: boot,
      transferList: [port2],
      env: {},
      argv: [],
      execArgv,
      stdin: false,
      stdout: true,
      stderr: true,
      name: 'code-runtime',
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, stackSizeMb: STACK_MB },
    })
    this.exited = new Promise((resolve) => this.worker.once('exit', () => resolve()))
    this.ready = new Promise((resolve, reject) => {
      this.listener = {
        message: (message) => (message.type === 'ready' ? resolve() : undefined),
        lost: ({ reason }) => reject(new Error(`the worker did not start: ${reason}`)),
      }
    })
    this.worker.on('error', (error: Error & { code?: string }) =>
      this.lose({ reason: error.message, outOfMemory: error.code === 'ERR_WORKER_OUT_OF_MEMORY' }),
    )
    this.worker.on('exit', (code) => this.lose({ reason: `the worker exited with code ${code}`, outOfMemory: false }))
    port1.on('message', (message: FromWorker) => this.hear(message))
    this.hold(true)
  }

  get usable(): boolean {
    return this.gone === undefined
  }

  /** Whether the process stays alive for this worker: while it starts or runs, not while it waits. */
  hold(held: boolean): void {
    if (held) {
      this.worker.ref()
      this.port.ref()
    } else {
      this.worker.unref()
      this.port.unref()
    }
  }

  listen(listener: WorkerListener | undefined): void {
    this.listener = listener
    if (listener !== undefined && this.gone !== undefined) listener.lost(this.gone)
  }

  send(message: ToWorker): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a worker thread, not a window
    this.port.postMessage(message)
    this.wake()
  }

  /** Asks the run to end; the worker follows unless it is inside a native operation that takes no interrupt. */
  stop(run: number): void {
    Atomics.store(this.control, STOP, run)
    this.wake()
  }

  /** Hears what the worker has said already, now instead of in a later turn of the event loop. */
  drain(): void {
    for (;;) {
      const received = receiveMessageOnPort(this.port)
      if (received === undefined) return
      this.hear(received.message)
    }
  }

  async terminate(): Promise<void> {
    this.gone ??= { reason: 'the worker was ended', outOfMemory: false }
    this.listener = undefined
    this.port.close()
    await this.worker.terminate()
    await this.exited
  }

  private wake(): void {
    Atomics.add(this.control, WAKE, 1)
    Atomics.notify(this.control, WAKE)
  }

  private hear(message: FromWorker): void {
    if (message.type === 'fatal') {
      this.lose({ reason: message.message, outOfMemory: message.outOfMemory, lastRun: message.run })
    } else this.listener?.message(message)
  }

  private lose(end: WorkerEnd): void {
    if (this.gone !== undefined) return
    this.gone = end
    this.listener?.lost(end)
  }
}
