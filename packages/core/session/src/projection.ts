// Everything that is derived from a session's events: title, turn, inbox, header, model and the conversation. A fold: the same
// code runs for live events and on load.
import { Conversation } from './conversation.ts'
import type { SessionEvent, SessionEventMap } from './events.ts'

const TITLE_CODE_POINTS = 60
export const UNTITLED = 'New session'

export class Projection {
  readonly conversation = new Conversation()
  private start: SessionEventMap['session/start'] | undefined
  private chosenTitle: string | undefined
  private firstText: string | undefined
  private readonly inbox = new Map<string, SessionEventMap['inbox/added']>()
  private frozenInbox: readonly SessionEventMap['inbox/added'][] | undefined
  turn = 0
  turnOpen = false
  header: SessionEventMap['request/header'] | undefined
  model: SessionEventMap['session/model'] | undefined

  get cwd(): string {
    return this.start?.cwd ?? ''
  }

  /** Chosen, else the beginning of the first message, else a placeholder. */
  get title(): string {
    return this.chosenTitle ?? this.firstText ?? UNTITLED
  }

  /** Waiting messages, oldest first. */
  pending(): readonly SessionEventMap['inbox/added'][] {
    return (this.frozenInbox ??= Object.freeze([...this.inbox.values()]))
  }

  /** Throws for data that does not have the shape of its type; then nothing has changed. Unknown types pass. */
  apply(event: SessionEvent): void {
    switch (event.type) {
      case 'session/start':
        this.start = event.data
        this.chosenTitle = titleOf(event.data.title)
        break
      case 'session/title':
        this.chosenTitle = titleOf(event.data.title) ?? this.chosenTitle
        break
      case 'session/model':
        this.model = event.data
        break
      case 'inbox/added':
        this.inbox.set(event.data.message.id, event.data)
        this.frozenInbox = undefined
        break
      case 'inbox/removed':
        for (const id of event.data.ids) this.leaveInbox(id)
        break
      case 'turn/start':
        this.turn = event.data.turn
        this.turnOpen = true
        break
      case 'turn/end':
        this.turnOpen = false
        break
      case 'request/header':
        this.header = event.data
        break
      case 'user/message':
        this.firstText ??= firstMessageTitle(event)
        this.conversation.user(event.data)
        this.leaveInbox(event.data.message.id)
        break
      case 'assistant/message':
        this.conversation.assistant(event.data)
        break
      case 'tool/call':
        this.conversation.call(event.data, event.seq, event.time)
        break
      case 'tool/result':
        this.conversation.result(event.data)
        break
      default: // retries and notices change nothing; unknown types belong to a plugin or to a newer version
    }
  }

  private leaveInbox(id: string): void {
    if (this.inbox.delete(id)) this.frozenInbox = undefined
  }
}

export function titleOf(text: string | undefined): string | undefined {
  const trimmed = text?.trim()
  return trimmed === '' ? undefined : trimmed
}

/** The beginning of a message that a person typed, on one line, cut between code points. */
export function firstMessageTitle({ data }: SessionEvent<'user/message'>): string | undefined {
  const { content, source } = data.message
  if (source.kind !== 'user') return undefined
  // Only the beginning is looked at: a message may be many megabytes.
  const text = content
    .map((block) => (block.type === 'text' ? block.text.slice(0, 1000) : ''))
    .join(' ')
    .replace(/\s+/gu, ' ')
    .trim()
  if (text === '') return undefined
  const points = Array.from(text)
  return points.length <= TITLE_CODE_POINTS ? text : `${points.slice(0, TITLE_CODE_POINTS - 1).join('')}…`
}
