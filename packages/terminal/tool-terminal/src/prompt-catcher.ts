// Puts the questions of programs in terminals before the person: a program that waits for an answer raises one, and an answer goes to the terminal
// alone. A secret never passes the model or the log.
import type { Terminal, TerminalOwner, TerminalPrompt } from '@deepseek-ai/dsh-terminal'
import type { QuestionOutcome, UserQuestionService } from '@deepseek-ai/dsh-user-questions'

/** Lines of the screen that are shown with a question. */
const CONTEXT_LINES = 8

interface Standing {
  readonly prompt: TerminalPrompt
  readonly controller: AbortController
  readonly settled: Promise<QuestionOutcome['kind']>
}

export class PromptCatcher {
  /** Prompts that the person has answered so far. */
  answered = 0
  private readonly terminal: Terminal
  private readonly owner: TerminalOwner | undefined
  private readonly questions: UserQuestionService
  private standing: Standing | undefined
  private readonly leave: (() => void)[]

  constructor(terminal: Terminal, owner: TerminalOwner | undefined, questions: UserQuestionService) {
    this.terminal = terminal
    this.owner = owner
    this.questions = questions
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
    const { terminal } = this
    const outcome = await this.questions.ask({
      agent: this.owner,
      origin: { kind: 'terminal', terminalId: terminal.id },
      question: prompt.text.trim() === '' ? 'A program in the terminal waits for input.' : prompt.text.trim(),
      context: terminal.read({ count: CONTEXT_LINES }).text,
      secret: prompt.hidden,
      signal: controller.signal,
    })
    if (this.standing?.controller === controller) this.standing = undefined
    if (outcome.kind === 'answered' && terminal.row.status.kind === 'running' && !controller.signal.aborted) {
      this.answered++
      terminal.write(`${outcome.text}\r`, { secret: outcome.secret })
    }
    return outcome.kind
  }

  /** The program goes on, or somebody else has answered. */
  private withdraw(): void {
    this.standing?.controller.abort()
    this.standing = undefined
  }
}
