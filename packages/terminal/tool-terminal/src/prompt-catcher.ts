// Puts the questions of programs in terminals before the person: a program that waits for an answer raises one, and an answer goes to the terminal
// alone. A secret never passes the model or the log.
import { errorMessage } from '@deepseek-ai/cordis'
import type { Terminal, TerminalOwner, TerminalPrompt } from '@deepseek-ai/dsh-terminal'
import type { QuestionOutcome, UserQuestionService } from '@deepseek-ai/dsh-user-questions'

/** Lines of the screen that are shown with a question. */
const CONTEXT_LINES = 8

export interface PromptCatcherOptions {
  readonly terminal: Terminal
  readonly owner: TerminalOwner | undefined
  /** Asked for anew with each prompt: the service may have been replaced. */
  questions(): UserQuestionService | undefined
  onTrouble(message: string): void
}

interface Standing {
  readonly prompt: TerminalPrompt
  readonly controller: AbortController
  readonly settled: Promise<QuestionOutcome['kind']>
}

export class PromptCatcher {
  /** Prompts that the person has answered so far. */
  answered = 0
  private readonly options: PromptCatcherOptions
  private standing: Standing | undefined
  private readonly leave: (() => void)[]

  constructor(options: PromptCatcherOptions) {
    const { terminal } = options
    this.options = options
    this.leave = [terminal.onPrompt((prompt) => this.onPrompt(prompt)), terminal.onExit(() => this.withdraw())]
  }

  /**
   * Waits until the person has answered the prompt that stands, has dismissed it, or it is gone. Undefined at once when none stands: nobody
   * was asked.
   */
  outcome(signal: AbortSignal): Promise<QuestionOutcome['kind'] | undefined> {
    const { standing } = this
    if (standing === undefined) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      const onAbort = (): void => resolve('cancelled')
      signal.addEventListener('abort', onAbort, { once: true })
      void standing.settled.then((kind) => {
        signal.removeEventListener('abort', onAbort)
        resolve(kind)
      })
    })
  }

  dispose(): void {
    this.leave.forEach((each) => each())
    this.withdraw()
  }

  private onPrompt(prompt: TerminalPrompt | undefined): void {
    this.withdraw()
    if (prompt === undefined) return
    const controller = new AbortController()
    const settled = this.ask(prompt, controller)
    this.standing = { prompt, controller, settled }
  }

  private async ask(prompt: TerminalPrompt, controller: AbortController): Promise<QuestionOutcome['kind']> {
    const { terminal, owner } = this.options
    const service = this.options.questions()
    if (service === undefined) return 'unavailable'
    const outcome = await service.ask({
      agent: owner,
      origin: { kind: 'terminal', terminalId: terminal.id },
      question: prompt.text.trim() === '' ? 'A program in the terminal waits for input.' : prompt.text.trim(),
      context: terminal.read({ count: CONTEXT_LINES }).text,
      secret: prompt.hidden,
      signal: controller.signal,
    })
    if (this.standing?.controller === controller) this.standing = undefined
    if (outcome.kind !== 'answered') return outcome.kind
    return !controller.signal.aborted && this.type(outcome.text, outcome.secret) ? 'answered' : 'cancelled'
  }

  private type(answer: string, secret: boolean): boolean {
    try {
      this.options.terminal.write(`${answer}\r`, { secret })
      this.answered++
      return true
    } catch (error) {
      // It has ended meanwhile. Note: what is told of it must not hold the answer.
      this.options.onTrouble(`an answer came too late: ${errorMessage(error)}`)
      return false
    }
  }

  /** The program goes on, or somebody else has answered. */
  private withdraw(): void {
    this.standing?.controller.abort()
    this.standing = undefined
  }
}
