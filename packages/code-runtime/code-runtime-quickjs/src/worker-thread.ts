/// <reference lib="es2024.sharedmemory" />
// One worker thread as the host sees it: started, given one run at a time, woken, stopped, ended. Knows nothing of bindings.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads'
import { Receiver, Sender } from './channel.ts'
import { Eagerness, LOOK_MS } from './eagerness.ts'
import {
  LOOKING,
  RING,
  SHARED_BYTES,
  STOP,
  TO_HOST_AT,
  TO_WORKER_AT,
  WAKE,
  type FromWorker,
  type ToWorker,
  type WorkerBoot,
} from './protocol.ts'
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

type Done = Extract<FromWorker, { type: 'done' }>

export interface WorkerListener {
  batch(text: string): void
  done(done: Done): void
  /** The worker is gone, or of no use any more. Called once. */
  lost(end: WorkerEnd): void
}

export class WorkerThread {
  /** Resolves when a run can start; rejects when the worker could not be started. */
  readonly ready: Promise<void>
  runs = 0
  private readonly port: MessagePort
  private readonly control: Int32Array
  private readonly sender: Sender
  private readonly receiver: Receiver
  /** Large texts that have arrived before their turn. */
  private readonly large = new Map<number, string>()
  private readonly worker: Worker
  private readonly exited: Promise<void>
  private listener: WorkerListener | undefined
  private gone: WorkerEnd | undefined
  private isReady: () => void = () => {}
  private readonly eagerness = new Eagerness()
  private looking = false
  private lookUntil = 0
  /** The bell as it was when the host last looked. */
  private rung = 0
  private readonly look = (): void => this.lookOnce()

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
    const shared = new SharedArrayBuffer(SHARED_BYTES)
    this.port = port1
    this.control = new Int32Array(shared, 0, LOOKING + 1)
    this.sender = new Sender(shared, TO_WORKER_AT, (number, text) => this.post({ type: 'large', number, text }))
    this.receiver = new Receiver(shared, TO_HOST_AT, (number) => this.takeLarge(number))
    const { url, execArgv } = workerEntry()
    const boot: WorkerBoot = { port: port2, shared, wasm, maxMemoryMb }
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
      this.isReady = resolve
      this.listener = {
        batch: () => {},
        done: () => {},
        lost: ({ reason }) => reject(new Error(`the worker did not start: ${reason}`)),
      }
    })
    this.worker.on('error', (error: Error & { code?: string }) =>
      this.lose({ reason: error.message, outOfMemory: error.code === 'ERR_WORKER_OUT_OF_MEMORY' }),
    )
    this.worker.on('exit', (code) => this.lose({ reason: `the worker exited with code ${code}`, outOfMemory: false }))
    port1.on('message', (message: FromWorker) => this.hear(message))
    port1.unref() // the worker alone decides whether the process stays
    this.hold(true)
    this.listenToBell()
  }

  get usable(): boolean {
    return this.gone === undefined
  }

  /** Whether the process stays alive for this worker: while it starts or runs, not while it waits. */
  hold(held: boolean): void {
    if (held) this.worker.ref()
    else this.worker.unref()
  }

  listen(listener: WorkerListener | undefined): void {
    this.listener = listener
    if (listener !== undefined && this.gone !== undefined) listener.lost(this.gone)
  }

  startRun(run: Omit<Extract<ToWorker, { type: 'run' }>, 'type' | 'received'>): void {
    this.post({ type: 'run', ...run, received: this.sender.sent })
    this.wake()
  }

  settle(settlements: string): void {
    this.sender.send(settlements)
    this.wake()
    this.lookUntil = performance.now() + LOOK_MS
    if (this.looking || !this.eagerness.shouldLook()) return
    this.looking = true
    Atomics.store(this.control, LOOKING, 1)
    setImmediate(this.look)
  }

  /** Asks the run to end; the worker follows unless it is inside a native operation that takes no interrupt. */
  stop(run: number): void {
    Atomics.store(this.control, STOP, run)
    this.wake()
  }

  /** Hears what the worker has said already, now instead of in a later turn of the event loop. */
  drain(): void {
    this.receive()
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
    Atomics.notify(this.control, RING) // ends the wait for its bell
    await this.worker.terminate()
    await this.exited
  }

  private post(message: ToWorker): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a worker thread, not a window
    this.port.postMessage(message)
  }

  private wake(): void {
    Atomics.add(this.control, WAKE, 1)
    Atomics.notify(this.control, WAKE)
  }

  /** Waits for the bell, however long. Costs nothing while it is silent, and holds no process. */
  private listenToBell(): void {
    if (this.gone !== undefined) return
    this.rung = Atomics.load(this.control, RING)
    this.receive()
    const silence = Atomics.waitAsync(this.control, RING, this.rung)
    if (silence.async) void silence.value.then(() => this.listenToBell())
    else setImmediate(() => this.listenToBell())
  }

  private lookOnce(): void {
    const found = this.hasRung()
    if (!found && this.gone === undefined && performance.now() < this.lookUntil) {
      setImmediate(this.look)
      return
    }
    this.eagerness.looked(found)
    this.looking = false
    Atomics.store(this.control, LOOKING, 0)
    // Also what has come since from a worker that still saw the host looking.
    if (found || this.hasRung()) this.receive()
  }

  private hasRung(): boolean {
    const rung = Atomics.load(this.control, RING)
    if (rung === this.rung) return false
    this.rung = rung
    return true
  }

  private receive(): void {
    for (let text = this.receiver.next(); text !== undefined; text = this.receiver.next()) this.listener?.batch(text)
  }

  private takeLarge(number: number): string | undefined {
    while (!this.large.has(number)) {
      const received = receiveMessageOnPort(this.port)
      if (received?.message.type !== 'large') return undefined
      this.large.set(received.message.number, received.message.text)
    }
    const text = this.large.get(number)
    this.large.delete(number)
    return text
  }

  private hear(message: FromWorker): void {
    switch (message.type) {
      case 'ready':
        return this.isReady()
      case 'large':
        this.large.set(message.number, message.text)
        return this.receive()
      case 'done':
        this.receive()
        return this.listener?.done(message)
      case 'fatal':
        this.receive()
        return this.lose({ reason: message.message, outOfMemory: message.outOfMemory, lastRun: message.run })
    }
  }

  private lose(end: WorkerEnd): void {
    if (this.gone !== undefined) return
    this.gone = end
    this.listener?.lost(end)
  }
}
