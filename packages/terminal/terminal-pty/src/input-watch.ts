// Finds out when a terminal waits for somebody to type: looks after a silence, again while somebody wants to know, and not at all when nothing
// happens. Tells of questions once each, and when they are over.
import type { TerminalPrompt } from '@deepseek-ai/dsh-terminal'
import type { StdinWait } from './foreground.ts'
import type { LineDiscipline } from './line-discipline.ts'
import { entered, told } from './listeners.ts'

/** Who waits. */
export type Waiting =
  | { readonly kind: 'shell' }
  /** `prompt`: what it asks, when that is a question and not the place for a command. */
  | { readonly kind: 'program'; readonly pid: number; readonly prompt: TerminalPrompt | undefined }

export interface Watched {
  readonly atPrompt: boolean
  wait(): StdinWait | undefined
  discipline(): Promise<LineDiscipline | undefined>
  /** The line that asks. */
  question(): string
  /** What was typed so far has arrived. */
  readonly settled: boolean
}

export interface WatchTimes {
  readonly exactProbeAfterMs: number
  readonly handoffGraceMs: number
}

/** Right after a shell's prompt: it is about to read. */
const FIRST_LOOK_MS = 10
const TIMER_SLACK_MS = 5
const LONGEST_PAUSE_MS = 1000
/** Looks at a silent terminal when nobody is waiting for it. */
const IDLE_LOOKS = 5
/** Between two looks at a question that stands: the program may give up on it without a word. */
const STANDING_PAUSE_MS = 500
/** Programs of other users show only by this that they ask for a password. */
const UNKNOWN_PID = -1

/** Keys that end a line or a program. */
const ENDING_KEYS: readonly string[] = ['\r', '\n', '\x03', '\x04', '\x1a', '\x1c']
/** What a shell or an interpreter shows before a command. */
const COMMAND_PROMPT = /[$#%>»❯]$/
const ASKS_FOR_SECRET = /pass(?:word|phrase|code)|secret|\bpin\b|\btoken\b|verification code/i

export class InputWatch {
  readonly #watched: Watched
  readonly #times: WatchTimes
  readonly #onTrouble: (message: string) => void
  readonly #promptListeners = new Set<(prompt: TerminalPrompt | undefined) => void>()
  readonly #waiters = new Set<(waiting: Waiting) => void>()
  #timer: NodeJS.Timeout | undefined
  #pause = 0
  #looks = 0
  #lastActivity = performance.now()
  /** Changes with everything printed or typed: what was found out before is no longer so. */
  #generation = 0
  #standing: { readonly pid: number; readonly prompt: TerminalPrompt } | undefined
  #ended = false
  /** Somebody types line after line and waits for each to be taken. */
  #eager = false

  constructor(watched: Watched, times: WatchTimes, onTrouble: (message: string) => void) {
    this.#watched = watched
    this.#times = times
    this.#onTrouble = onTrouble
  }

  /**
   * `prompt`: a shell has shown its prompt. `typed`: keys are under way or have reached the terminal. Note: a program that has not taken them yet
   * looks like one that waits, so that only what it prints afterwards makes an early look worth while.
   */
  activity(what: 'printed' | 'typed' | 'prompt'): void {
    this.#generation++
    this.#lastActivity = performance.now()
    this.#looks = 0
    const isEarly = what === 'prompt' || (what === 'printed' && this.#eager)
    this.#lookIn(isEarly ? FIRST_LOOK_MS : this.#times.exactProbeAfterMs)
  }

  /** Somebody types. A question is over once a line is given. */
  typed(keys: string): void {
    this.activity('typed')
    if (ENDING_KEYS.some((each) => keys.includes(each))) this.#over()
  }

  /**
   * Hears of each time that the terminal is found waiting, until it leaves. `eager`: as soon as somebody reads, for the next of several lines, since
   * what reads has taken the one before.
   */
  follow(waiter: (waiting: Waiting) => void, eager = false): () => void {
    this.#waiters.add(waiter)
    this.#eager = eager
    this.#looks = 0
    const silence = performance.now() - this.#lastActivity
    this.#lookIn(Math.max(FIRST_LOOK_MS, this.#times.exactProbeAfterMs - silence))
    return () => {
      this.#waiters.delete(waiter)
      this.#eager = false
    }
  }

  onPrompt(listener: (prompt: TerminalPrompt | undefined) => void): () => void {
    const leave = entered(this.#promptListeners, listener)
    this.activity('printed')
    return leave
  }

  end(): void {
    this.#ended = true
    clearTimeout(this.#timer)
    this.#over()
  }

  get #exactProbeAfterMs(): number {
    return this.#eager ? FIRST_LOOK_MS : this.#times.exactProbeAfterMs
  }

  #lookIn(delay: number): void {
    clearTimeout(this.#timer)
    if (this.#ended || (this.#waiters.size === 0 && this.#promptListeners.size === 0)) return
    this.#pause = Math.max(delay, FIRST_LOOK_MS)
    this.#timer = setTimeout(() => void this.#look(), delay)
  }

  async #look(): Promise<void> {
    const generation = this.#generation
    const silence = performance.now() - this.#lastActivity
    // Keys that are on their way make a date of their own when they arrive.
    if (!this.#watched.settled) return
    const waiting = await this.#find(silence)
    if (this.#ended || generation !== this.#generation) return
    if (typeof waiting === 'number') {
      this.#lookIn(waiting)
      return
    }
    this.#tell(waiting)
    this.#looks++
    if (this.#standing !== undefined) this.#lookIn(STANDING_PAUSE_MS)
    else if (this.#waiters.size > 0 || this.#looks < IDLE_LOOKS)
      this.#lookIn(Math.min(this.#pause * 2, LONGEST_PAUSE_MS))
  }

  /** A number: it may be waiting, and only more silence tells, in milliseconds. */
  async #find(silence: number): Promise<Waiting | number | undefined> {
    const { atPrompt } = this.#watched
    const wait = this.#watched.wait()
    if (wait === undefined) return undefined
    // A shell that has shown its prompt and cannot be looked at is taken at its word once it is silent.
    if (atPrompt && (wait.kind !== 'unknown' || silence >= this.#exactProbeAfterMs - TIMER_SLACK_MS))
      return { kind: 'shell' }
    const standing = this.#standing
    if (wait.kind !== 'unknown' && wait.pid === standing?.pid && this.#stillAsks(standing.prompt)) {
      return { kind: 'program', ...standing }
    }
    const grace = wait.kind === 'read' ? this.#exactProbeAfterMs : this.#times.handoffGraceMs
    // Timers are a little early now and then.
    if (silence < grace - TIMER_SLACK_MS) return grace - silence
    const discipline = await this.#watched.discipline()
    const prompt = this.#promptOf(discipline)
    if (wait.kind !== 'unknown') return { kind: 'program', pid: wait.pid, prompt }
    // It cannot be looked at, but a terminal that hides whole lines is there for nothing else.
    return prompt?.hidden === true && discipline?.lines === true
      ? { kind: 'program', pid: UNKNOWN_PID, prompt }
      : undefined
  }

  /** What is typed and shown stands behind the question. */
  #stillAsks({ text }: TerminalPrompt): boolean {
    return this.#watched.question().startsWith(text)
  }

  #promptOf(discipline: LineDiscipline | undefined): TerminalPrompt | undefined {
    if (discipline === undefined) return undefined
    const text = this.#watched.question()
    const { echo, lines } = discipline
    // Editors and line editors of interpreters take single keys and show them themselves: only the words tell a password there.
    if (!echo && (lines || ASKS_FOR_SECRET.test(text))) return { text, hidden: true }
    return lines && text !== '' && !COMMAND_PROMPT.test(text) ? { text, hidden: false } : undefined
  }

  #tell(waiting: Waiting | undefined): void {
    const program = waiting?.kind === 'program' ? waiting : undefined
    if (this.#standing !== undefined && program?.pid !== this.#standing.pid) this.#over()
    if (this.#standing === undefined && program?.prompt !== undefined) {
      this.#standing = { pid: program.pid, prompt: program.prompt }
      told(this.#promptListeners, [program.prompt], this.#onTrouble)
    }
    if (waiting !== undefined) for (const waiter of this.#waiters) waiter(waiting)
  }

  #over(): void {
    if (this.#standing === undefined) return
    this.#standing = undefined
    told(this.#promptListeners, [undefined], this.#onTrouble)
  }
}
