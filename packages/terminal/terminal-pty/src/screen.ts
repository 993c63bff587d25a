// The screen of a terminal and the lines that have left it: what a program printed becomes what a person would see.
// Knows nothing of processes. Reading it as text is the transcript's business, drawing it again the snapshot's.
import type { Terminal as Emulator } from '@xterm/headless'
import { DrawingState, drawingOf } from './snapshot.ts'
import { Transcript, textOfScreen } from './transcript.ts'

/** A cell of the emulator is three 32-bit numbers. */
const CELL_BYTES = 12

export interface ScreenOptions {
  readonly cols: number
  readonly rows: number
  readonly scrollbackLines: number
  readonly scrollbackMaxBytes: number
}

export interface ScreenEvents {
  /** The terminal answers a question of the program, such as where the cursor is. */
  onReply(data: string): void
  /** The emulator failed at what was printed; the screen begins anew. */
  onLost(error: unknown): void
}

/** Draws at once, in the caller's own stack: a failure of it is caught there and not by whoever runs the process. */
interface Synchronous {
  readonly _core: { writeSync(data: string): void }
}

type Headless = typeof import('@xterm/headless')

export class Screen {
  /** Prompts that the shell has shown so far. */
  prompts = 0
  /** The shell has shown its prompt and has not begun to run anything since. */
  atPrompt = false
  readonly #headless: Headless
  readonly #options: ScreenOptions
  readonly #events: ScreenEvents
  #emulator: Emulator
  #transcript: Transcript
  #drawing: DrawingState

  private constructor(headless: Headless, options: ScreenOptions, events: ScreenEvents) {
    this.#headless = headless
    this.#options = options
    this.#events = events
    this.#emulator = this.#made(options)
    this.#transcript = new Transcript(this.#emulator)
    this.#drawing = new DrawingState(this.#emulator)
  }

  static async create(options: ScreenOptions, events: ScreenEvents): Promise<Screen> {
    // Loaded for the first terminal: it takes longer than everything else here.
    const loaded = (await import('@xterm/headless')) as Headless & { default?: Headless }
    return new Screen(loaded.default ?? loaded, options, events)
  }

  get transcript(): Transcript {
    return this.#transcript
  }

  /** Lines were dropped for newer ones. */
  get isFull(): boolean {
    return this.#transcript.isFull
  }

  feed(data: string): void {
    try {
      ;(this.#emulator as unknown as Synchronous)._core.writeSync(data)
    } catch (error) {
      this.#renew()
      this.#events.onLost(error)
    }
  }

  resize(cols: number, rows: number): void {
    this.#emulator.resize(cols, rows)
    this.#emulator.options.scrollback = kept(this.#options, cols)
    this.#drawing.resized()
  }

  /** Every line that is kept, oldest first, without what is blank below the cursor. */
  lines(): string[] {
    return textOfScreen(this.#emulator)
  }

  /** Escape sequences that draw it on any terminal of its size. */
  draw(): string {
    return drawingOf(this.#emulator, this.#drawing)
  }

  dispose(): void {
    this.#emulator.dispose()
  }

  #renew(): void {
    const { cols, rows } = this.#emulator
    this.#emulator.dispose()
    this.#emulator = this.#made({ ...this.#options, cols, rows })
    this.#transcript = new Transcript(this.#emulator)
    this.#drawing = new DrawingState(this.#emulator)
  }

  #made(options: ScreenOptions): Emulator {
    const { cols, rows } = options
    const scrollback = kept(options, cols)
    const emulator = new this.#headless.Terminal({ cols, rows, scrollback, allowProposedApi: true, logLevel: 'off' })
    emulator.onData((reply) => this.#events.onReply(reply))
    emulator.parser.registerOscHandler(133, (mark) => this.#onMark(mark))
    // Note: erasing up to the last cell makes this version fail: it looks for a line below the last one.
    emulator.parser.registerCsiHandler({ final: 'J' }, ([how]) => how === 1 && isAtLastCell(emulator))
    return emulator
  }

  /** A shell shows a prompt again after each line, whatever it makes of it. */
  lineTyped(): void {
    this.atPrompt = false
  }

  /** The marks of shells: A before and B after a prompt, C when a command runs, D when it has ended. */
  #onMark(mark: string): boolean {
    if (mark.startsWith('B')) {
      this.prompts++
      this.atPrompt = true
    } else if (mark.startsWith('C')) this.atPrompt = false
    return true
  }
}

function isAtLastCell({ buffer: { active }, cols }: Emulator): boolean {
  return active.cursorX + 1 >= cols && active.getLine(active.cursorY + 1) === undefined
}

function kept({ scrollbackLines, scrollbackMaxBytes }: ScreenOptions, cols: number): number {
  return Math.max(1, Math.min(scrollbackLines, Math.floor(scrollbackMaxBytes / (cols * CELL_BYTES))))
}
