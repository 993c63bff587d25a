// Names of tool calls: unique within a session, since results and cards are found by them.
import { randomUUID } from 'node:crypto'
import type { LlmMessage } from '@deepseek-ai/dsh-llm'
import { callsOf } from './pairing.ts'

export class CallIds {
  private readonly used = new Set<string>()

  constructor(history: readonly LlmMessage[]) {
    for (const message of history) {
      if (message.role === 'assistant') for (const call of callsOf(message)) this.used.add(call.id)
    }
  }

  /** The model's id as it is when it is free, a numbered one when it is taken, a new one when it is missing. */
  choose(given: string | undefined, taken: ReadonlySet<string>): string {
    const base = given === undefined || given === '' ? `call_${randomUUID().slice(0, 8)}` : given
    let id = base
    for (let count = 2; this.used.has(id) || taken.has(id); count++) id = `${base}_${count}`
    return id
  }

  /** The answer that used these ids is in the history now. */
  keep(ids: Iterable<string>): void {
    for (const id of ids) this.used.add(id)
  }
}

/** What the pipeline gets: empty text means no arguments; text that is no JSON is passed on for it to refuse. */
export function parseArguments(raw: string): unknown {
  if (raw.trim() === '') return {}
  try {
    return JSON.parse(raw) as unknown
  } catch {
    return raw
  }
}
