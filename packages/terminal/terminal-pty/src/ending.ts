// How everything in a terminal is ended: a hang-up as when a person closes the window, the polite signal, the forced one; and who is left.
import { setTimeout as delay } from 'node:timers/promises'
import type { ConfinedCommand } from '@deepseek-ai/dsh-sandbox'
import { ProcessTree } from '@deepseek-ai/dsh-shell/executor'
import type { TerminalKill } from '@deepseek-ai/dsh-terminal'

/** What a hang-up may take: shells end at once. */
const HANG_UP_MS = 500
const POLL_MS = 10

export class Ending {
  readonly #leader: number
  readonly #graceMs: number
  readonly #tree: ProcessTree
  #leaderEnded = false

  /** `mark`: an environment assignment that only the processes of this terminal have. */
  constructor(leader: number, mark: string, graceMs: number, confined: ConfinedCommand | undefined) {
    this.#leader = leader
    this.#graceMs = graceMs
    this.#tree = new ProcessTree({ leader, mark, confined })
  }

  leaderEnded(): void {
    if (this.#leaderEnded) return
    this.#leaderEnded = true
    this.#tree.leaderEnded()
  }

  /** Resolves when nobody is left or nothing more can be done. */
  async end(): Promise<TerminalKill> {
    const hungUp = this.#leaderEnded ? 0 : await this.#hangUp()
    const { signal, ended, survivors } = await this.#tree.terminate(this.#graceMs)
    return { signal: signal ?? (hungUp > 0 ? 'SIGHUP' : null), ended: hungUp + ended, survivors }
  }

  /** How many ended by it. */
  async #hangUp(): Promise<number> {
    await this.#tree.isQuiet()
    const before = this.#tree.survivors()
    this.#signalHangUp()
    const deadline = performance.now() + Math.min(HANG_UP_MS, this.#graceMs)
    while (performance.now() < deadline && !(await this.#tree.isQuiet())) await delay(POLL_MS)
    const left = new Set(this.#tree.survivors().map(identity))
    return before.filter((each) => !left.has(identity(each))).length
  }

  #signalHangUp(): void {
    try {
      process.kill(this.#leader, 'SIGHUP')
      // A stopped shell only notices once it goes on.
      process.kill(this.#leader, 'SIGCONT')
    } catch {
      // It has ended.
    }
  }
}

function identity({ pid, startTime }: { readonly pid: number; readonly startTime: string }): string {
  return `${pid} ${startTime}`
}
