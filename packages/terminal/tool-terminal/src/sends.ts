// A send together with the prompts it runs into: a hidden one is the person's to answer, and the send waits for that.
import type { SendResult, Terminal, TerminalOwner } from '@deepseek-ai/dsh-terminal'
import type { ToolExecution } from '@deepseek-ai/dsh-tools'
import { PromptCatcher } from './prompt-catcher.ts'
import type { SentValue } from './schema.ts'
import type { TerminalTools } from './tools.ts'

interface SendArgs {
  readonly terminal: string
  readonly text: string
  readonly submit?: boolean | undefined
  readonly timeoutMs?: number | undefined
}

export class Sends {
  readonly #host: TerminalTools
  readonly #catchers = new Map<Terminal, PromptCatcher>()

  constructor(host: TerminalTools) {
    this.#host = host
  }

  /** Asks the person from now on what programs in this terminal ask. */
  follow(terminal: Terminal, owner: TerminalOwner | undefined): PromptCatcher | undefined {
    const known = this.#catchers.get(terminal)
    if (known !== undefined) return known
    const host = this.#host
    if (terminal.row.status.kind === 'exited' || host.questions() === undefined) return undefined
    const catcher = new PromptCatcher({
      terminal,
      owner,
      questions: () => host.questions(),
      onTrouble: (message) => host.onTrouble(message),
    })
    this.#catchers.set(terminal, catcher)
    terminal.onExit(() => {
      catcher.dispose()
      this.#catchers.delete(terminal)
    })
    return catcher
  }

  /** Withdraws what is asked; terminals go on. */
  dispose(): void {
    for (const catcher of this.#catchers.values()) catcher.dispose()
    this.#catchers.clear()
  }

  async send(args: SendArgs, exec: ToolExecution): Promise<SentValue> {
    const terminal = this.#host.terminals.get(exec.agent, args.terminal)
    const catcher = this.follow(terminal, exec.agent)
    const before = catcher?.answered ?? 0
    const { text, timeoutMs } = args
    const submit = text !== '' && (args.submit ?? true)
    const wait = { signal: exec.signal, ...(timeoutMs === undefined ? {} : { timeoutMs }) }
    let result = await terminal.send({ text, submit, ...wait })
    // What was not typed is not typed later on either: the program is past it.
    const { untyped } = result
    let printed = result.text
    while (result.prompt?.hidden === true && (await this.#answered(catcher, exec.signal))) {
      result = await terminal.send({ text: '', submit: false, ...wait })
      printed += result.text
    }
    exec.signal.throwIfAborted()
    const all = { ...result, text: printed, ...(untyped === undefined ? {} : { untyped }) }
    return sent(all, (catcher?.answered ?? 0) - before)
  }

  async #answered(catcher: PromptCatcher | undefined, signal: AbortSignal): Promise<boolean> {
    if (catcher === undefined) return false
    const limit = AbortSignal.any([signal, AbortSignal.timeout(this.#host.config.promptTimeoutMs)])
    return (await catcher.outcome(limit)) === 'answered'
  }
}

function sent({ text, truncated, reason, status, prompt, untyped }: SendResult, answered: number): SentValue {
  return {
    text,
    truncated,
    reason,
    status,
    ...(prompt === undefined ? {} : { prompt: { text: prompt.text, hidden: prompt.hidden } }),
    ...(untyped === undefined ? {} : { untyped }),
    ...(answered > 0 ? { answeredByUser: answered } : {}),
  }
}
