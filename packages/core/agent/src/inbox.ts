// Messages that wait. The session log is the only store: this reads its pending list and writes its inbox events.
import { randomUUID } from 'node:crypto'
import type { Delivery, Session, SessionMessage } from '@deepseek-ai/dsh-session'
import type { ContentBlock, MessageSource } from '@deepseek-ai/dsh-tools'
import { AgentError } from './errors.ts'

export class Inbox {
  private readonly session: Session
  /** Taken for a step, not yet logged as part of the conversation. */
  private readonly claimed = new Set<string>()

  constructor(session: Session) {
    this.session = session
  }

  add(content: string | readonly ContentBlock[], source: MessageSource, delivery: Delivery): SessionMessage {
    const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content
    if (isBlank(blocks)) throw new AgentError('a message needs some text', 'EMPTY_MESSAGE')
    const message = { id: randomUUID(), content: blocks, source }
    return this.session.append('inbox/added', { message, delivery }).data.message
  }

  /** True when a waiting message may start a turn. */
  wakes(): boolean {
    return this.waiting().some((each) => each.delivery !== 'inject')
  }

  /** True when a waiting message joins the running turn. */
  steers(): boolean {
    return this.waiting().some((each) => each.delivery === 'steer')
  }

  /** One queued message and everything that waits for the next step, oldest first. */
  claimForTurn(): SessionMessage[] {
    const waiting = this.waiting()
    const queued = waiting.find((each) => each.delivery === 'queue')
    return this.claim(waiting.filter((each) => each === queued || each.delivery !== 'queue'))
  }

  claimForStep(): SessionMessage[] {
    return this.claim(this.waiting().filter((each) => each.delivery !== 'queue'))
  }

  /** Puts claimed messages into the conversation; claimed ones that are not among `messages` leave without being sent. */
  join(turn: number, claimed: readonly SessionMessage[], messages: readonly SessionMessage[]): void {
    const joined = new Set<string>()
    for (const message of messages) {
      if (joined.has(message.id)) continue
      joined.add(message.id)
      this.session.append('user/message', { turn, message })
    }
    this.drop(claimed.filter((each) => !joined.has(each.id)).map((each) => each.id))
    for (const message of claimed) this.claimed.delete(message.id)
  }

  withdraw(id: string): boolean {
    if (!this.waiting().some((each) => each.message.id === id)) return false
    this.drop([id])
    return true
  }

  clear(): void {
    this.drop(this.waiting().map((each) => each.message.id))
  }

  private waiting(): ReturnType<Session['pending']> {
    const pending = this.session.pending()
    return this.claimed.size === 0 ? pending : pending.filter((each) => !this.claimed.has(each.message.id))
  }

  private claim(entries: ReturnType<Session['pending']>): SessionMessage[] {
    for (const { message } of entries) this.claimed.add(message.id)
    return entries.map((each) => each.message)
  }

  private drop(ids: readonly string[]): void {
    if (ids.length > 0) this.session.append('inbox/removed', { ids })
  }
}

export function isBlank(content: string | readonly ContentBlock[]): boolean {
  return typeof content === 'string'
    ? content.trim() === ''
    : content.every((block) => block.type === 'text' && block.text.trim() === '')
}
