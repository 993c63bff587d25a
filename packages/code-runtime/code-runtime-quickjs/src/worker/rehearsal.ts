// A program that nobody asked for, through the code that real ones take, while a worker rests: what the platform compiles meanwhile,
// a program need not wait for. The first thousand calls of a cold worker take ten times as long as later ones.
import { settlementText, type Batch } from '../protocol.ts'
import { Guest, type Engine } from './engine.ts'
import { Run, type Job, type RunLink } from './run.ts'

const CALLS = 5000
/** How long one piece may hold up a program that arrives. */
const PIECE_MS = 2

const JOB: Job = {
  type: 'run',
  run: -1,
  received: 0,
  code: `(async () => { for (let i = 0; i < ${CALLS}; i++) await tools.answer({ i, text: 'text' }); return 1 })`,
  bindings: JSON.stringify([
    { global: 'tools', names: ['answer'], errorClass: { name: 'ToolCallError', memberNameProperty: 'toolName' } },
  ]),
  computeMs: 60_000,
  maxOutputBytes: 1024,
}

/** Answers each call with its argument. */
class Echo implements RunLink {
  readonly wakes = 0
  readonly stopped = 0
  private readonly answers: string[] = []

  send(batch: string): void {
    const [, calls] = JSON.parse(batch) as Batch
    const settlements = calls.map(([id, , , argument]) => `[${id},true,${JSON.stringify(argument)}]`)
    const ids = calls.map(([id]) => id)
    this.answers.push(settlementText(ids, settlements))
  }

  next(): string | undefined {
    return this.answers.shift()
  }

  sleep(): void {}
}

export class Rehearsal {
  private readonly engine: Engine
  private guest: Guest | undefined
  private run: Run | undefined
  isOver = false

  constructor(engine: Engine) {
    this.engine = engine
  }

  /** Runs for some milliseconds. May throw what breaks out of the engine. */
  continue(): void {
    const end = performance.now() + PIECE_MS
    const run = (this.run ??= this.start())
    while (!run.isOver && performance.now() < end) run.turn()
    if (run.isOver) this.end()
  }

  private start(): Run {
    this.guest = new Guest(this.engine)
    const run = new Run(this.guest, JOB, { link: new Echo(), maxMemoryMb: this.engine.maxMemoryMb, peakBytes: () => 0 })
    run.start()
    return run
  }

  private end(): void {
    this.isOver = true
    this.guest?.dispose()
    this.guest = undefined
    this.run = undefined
  }
}
