// One line of the session list: what the store knows, joined with what the agents and viewers have live.
import type { AgentService } from '@deepseek-ai/dsh-agent'
import type { LlmProviderStatus, ModelRef } from '@deepseek-ai/dsh-llm'
import type { Session, SessionStore, SessionSummary } from '@deepseek-ai/dsh-session'
import type { HostInfo, SessionRow } from './protocol.ts'

export interface ModelTable {
  status(): LlmProviderStatus[]
  /** The model a reference means; the default without one. May throw. */
  resolve(ref?: string | ModelRef): ModelRef
}

const NO_MODEL: ModelRef = { provider: '', model: '' }

/** The default model, or empty names when no provider is there. */
export function defaultModel(llm: ModelTable): ModelRef {
  try {
    return llm.resolve()
  } catch {
    return NO_MODEL // no provider at all: `providers` is empty too, which the page explains
  }
}

export class Rows {
  private readonly sessions: SessionStore
  private readonly agents: AgentService
  private readonly llm: ModelTable

  constructor(sessions: SessionStore, agents: AgentService, llm: ModelTable) {
    this.sessions = sessions
    this.agents = agents
    this.llm = llm
  }

  /** Newest first. */
  async list(): Promise<SessionRow[]> {
    const stored = await this.sessions.list()
    return stored.map((summary) => this.join(summary))
  }

  /** The row of one session; undefined when there is none. */
  async row(id: string): Promise<SessionRow | undefined> {
    const live = this.agents.get(id)?.session ?? this.sessions.get(id)
    if (live !== undefined) return this.join(await summaryOf(live))
    const stored = await this.sessions.list()
    const summary = stored.find((each) => each.id === id)
    return summary === undefined ? undefined : this.join(summary)
  }

  private join(summary: SessionSummary): SessionRow {
    const agent = this.agents.get(summary.id)
    const model = agent?.model ?? this.sessions.get(summary.id)?.model ?? defaultModel(this.llm)
    const interrupted = summary.interrupted && agent === undefined
    return { ...summary, interrupted, status: agent?.status ?? 'idle', model }
  }
}

async function summaryOf(session: Session): Promise<SessionSummary> {
  const { id, title, cwd, createdAt, lastSeq } = session
  const [last] = await session.read({ from: lastSeq, to: lastSeq, limit: 1 })
  // An open session has been repaired: no turn of an earlier process is open in it.
  return { id, title, cwd, createdAt, updatedAt: last?.time ?? createdAt, events: lastSeq + 1, interrupted: false }
}

/** Where the rows that did not start come from; the loader, when there is one. */
export type Problems = () => HostInfo['problems']
