// `dsh replay`: a stored session as text, from its log alone. Runs no tool, asks no model, changes nothing, also while a server has it open.
import { existsSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { SessionEvent, SessionSummary } from '@deepseek-ai/dsh-session'
import { contentText, type ContentBlock, type ToolCallView, type ToolResultView } from '@deepseek-ai/dsh-tools'
import { CommandError, EXIT, type ExitCode } from '../exit.ts'
import { composition, required, withHost, type RunningHost } from '../host.ts'
import type { OutputFlags } from '../program.ts'

type Call = SessionEvent<'tool/call'>['data']

export async function replay(word: string | undefined, flags: OutputFlags): Promise<ExitCode> {
  // A path counts from where it was typed; `--cwd` is entered below.
  const typed = word === undefined ? undefined : resolve(word)
  const folder = sessionsFolder(flags)
  return withHost(flags, async (host) => {
    if (word === undefined || typed === undefined) {
      const rows = await host.ctx.sessions.list()
      print(flags.json === true ? rows : rows.map(listed).join('\n'))
      return EXIT.done
    }
    const { events, torn } = read(fileOf(word, typed, folder))
    if (torn) process.stderr.write('dsh: the last line of the log is not whole and is left out\n')
    const cards = new CardTexts(host, flags)
    if (flags.json === true) for (const event of events) print({ ...event, ...cards.viewOf(event) })
    else for (const event of events) print(told(event, cards))
    return EXIT.done
  })
}

function print(what: unknown): void {
  if (what === '' || what === undefined) return
  process.stdout.write(`${typeof what === 'string' ? what : JSON.stringify(what)}\n`)
}

function listed({ id, title, updatedAt, interrupted, cwd }: SessionSummary): string {
  const when = new Date(updatedAt).toISOString().slice(0, 16).replace('T', ' ')
  return `${id}  ${when}  ${title.split('\n', 1)[0] ?? ''}${interrupted ? ' (interrupted)' : ''}  ${cwd}`
}

function sessionsFolder(flags: OutputFlags): string {
  const row = composition(flags).rows.find(({ id }) => id === 'sessions')
  const dir: unknown = (row?.config as { dir?: unknown } | undefined)?.dir
  if (typeof dir === 'string') return dir
  throw new CommandError('the composition keeps no sessions: its row "sessions" has no "dir"', EXIT.usage)
}

function fileOf(word: string, typed: string, folder: string): string {
  const stored = join(folder, `${word}.jsonl`)
  const found = basename(word) === word && existsSync(stored) ? stored : existsSync(typed) ? typed : undefined
  if (found !== undefined) return found
  throw new CommandError(
    `there is no session "${word}" in ${folder}, and no such file; dsh replay lists them`,
    EXIT.usage,
  )
}

function read(file: string): { events: SessionEvent[]; torn: boolean } {
  const lines = readFileSync(file, 'utf8').split('\n')
  const rest = lines.pop() ?? ''
  const events = lines.map((line, index) => {
    try {
      return JSON.parse(line) as SessionEvent
    } catch (error) {
      throw new CommandError(`${file}:${index + 1}: this line is no event of a session`, EXIT.failed, { cause: error })
    }
  })
  return { events, torn: rest !== '' }
}

/** The cards of calls, by the presenters of the tools that are registered now. */
class CardTexts {
  private readonly host: RunningHost
  private readonly flags: OutputFlags
  private readonly calls = new Map<string, Call>()

  constructor(host: RunningHost, flags: OutputFlags) {
    this.host = host
    this.flags = flags
  }

  /** Calls have to come before their results. */
  viewOf(event: SessionEvent): { view?: ToolCallView | ToolResultView } {
    if (event.type === 'tool/call') this.calls.set(event.data.callId, event.data)
    const call =
      event.type === 'tool/call' || event.type === 'tool/result' ? this.calls.get(event.data.callId) : undefined
    const tool = call && required(this.host.ctx, 'tools', this.flags).get(call.name)
    if (call === undefined || tool === undefined) return {}
    try {
      const args = JSON.parse(call.arguments === '' ? '{}' : call.arguments) as never
      const view = event.type === 'tool/result' ? tool.presentResult?.(args, event.data) : tool.presentCall?.(args)
      return view === undefined ? {} : { view }
    } catch {
      return {} // arguments that are no JSON, or a presenter that does not know this log: shown as it is
    }
  }

  title(call: Call): string {
    const { view } = this.viewOf({ type: 'tool/call', data: call } as SessionEvent)
    return view?.title ?? call.arguments
  }

  /** As a person would read it: what the card shows where it is text, otherwise what the model read. */
  result(event: SessionEvent<'tool/result'>): string {
    const { view } = this.viewOf(event)
    return view?.card === 'terminal' && 'output' in view ? (view.output ?? '') : contentText(event.data.content)
  }
}

function told(event: SessionEvent, cards: CardTexts): string | undefined {
  switch (event.type) {
    case 'session/start':
      return `session ${event.data.id} in ${event.data.cwd}, ${new Date(event.time).toISOString()}`
    case 'user/message':
      return `\n> ${indented(textOf(event.data.message.content), '  ')}`
    case 'assistant/message':
      return textOf(event.data.content.filter((block) => block.type === 'text'))
    case 'tool/call':
      return `\n* ${event.data.name}: ${indented(cards.title(event.data), '  ')}`
    case 'tool/result': {
      const { isError, error, durationMs } = event.data
      const end = `${isError ? (error?.code ?? 'failed') : 'done'}, ${durationMs} ms`
      const text = cards.result(event).trimEnd()
      return `${text === '' ? '' : `  ${indented(text, '  ')}\n`}  [${end}]`
    }
    case 'turn/end':
      return event.data.reason.kind === 'completed' ? undefined : `[turn ${event.data.turn}: ${event.data.reason.kind}]`
    case 'session/notice':
      return `[${event.data.code}: ${event.data.message}]`
    default:
      return undefined
  }
}

const textOf = (content: readonly ContentBlock[]): string => contentText(content)

const indented = (text: string, by: string): string => text.replace(/\n(?=.)/g, `\n${by}`)
