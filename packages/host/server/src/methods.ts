// What the page can ask for: one function a method. Parameters arrive checked; a HarnessError becomes an answer with its code.
import { stat } from 'node:fs/promises'
import { HarnessError, errorCode, errorMessage, type ScopeKey } from '@deepseek-ai/cordis'
import type { Agent, AgentService } from '@deepseek-ai/dsh-agent'
import type { LlmProviderSettings } from '@deepseek-ai/dsh-llm'
import type { SessionStore } from '@deepseek-ai/dsh-session'
import type { ToolSchema } from '@deepseek-ai/dsh-tools'
import type { Aside } from './aside.ts'
import { createAsideMethods } from './aside-methods.ts'
import { ServerError } from './errors.ts'
import type { Feeds } from './feeds.ts'
import type { HostFeed } from './host-feed.ts'
import { checkParams } from './params.ts'
import type { HostInfo, MethodName, MethodResponse, Methods, SessionRow } from './protocol.ts'
import type { Rows } from './rows.ts'

export interface MethodSources {
  readonly sessions: SessionStore
  readonly agents: AgentService
  readonly rows: Rows
  readonly feeds: Feeds
  readonly hostFeed: HostFeed
  readonly aside: Aside
  /** Folder of new sessions. */
  readonly cwd: string
  info(): HostInfo
  schemas(scope?: ScopeKey): ToolSchema[]
  configure(provider: string, settings: LlmProviderSettings): Promise<void>
}

export type MethodTable = {
  readonly [M in MethodName]: (params: Methods[M]['params']) => Promise<Methods[M]['value']>
}

export function createMethods(sources: MethodSources): MethodTable {
  const { sessions, agents, rows, feeds, hostFeed, aside } = sources

  /** The session's agent, started when none is live. Never creates a session: a mistyped id is an error. */
  const agentOf = (id: string): Promise<Agent> =>
    feeds.holding(id, async () => {
      const live = agents.get(id)
      if (live === undefined && sessions.get(id) === undefined) await sessions.open(id)
      aside.personUses(id)
      return live ?? agents.create({ sessionId: id })
    })

  const rowOf = async (id: string): Promise<SessionRow> => {
    const row = await rows.row(id)
    if (row === undefined) throw new HarnessError(`there is no session "${id}"`, 'SESSION_NOT_FOUND')
    hostFeed.touch(id)
    return row
  }

  return {
    ...createAsideMethods(aside, agentOf),
    'host.info': async () => sources.info(),
    'sessions.list': () => rows.list(),
    'sessions.create': async ({ cwd = sources.cwd, model }) => {
      await mustBeFolder(cwd)
      const agent = await agents.create(model === undefined ? { cwd } : { cwd, model })
      aside.personUses(agent.id)
      return rowOf(agent.id)
    },
    'sessions.open': async ({ id }) => {
      await agentOf(id)
      return rowOf(id)
    },
    'sessions.rename': async ({ id, title }) => {
      await feeds.holding(id, () => sessions.rename(id, title.trim()))
      hostFeed.touch(id)
      return null
    },
    'sessions.delete': async ({ id }) => {
      await feeds.holding(id, async () => {
        feeds.end(id)
        await agents.get(id)?.dispose()
        await sessions.delete(id)
      })
      hostFeed.removed(id)
      return null
    },
    'sessions.send': async ({ id, text, delivery = 'queue' }) => (await agentOf(id)).send(text, { delivery }),
    'sessions.withdraw': async ({ id, messageId }) => ({ withdrawn: (await agentOf(id)).withdraw(messageId) }),
    'sessions.cancel': async ({ id }) => {
      agents.get(id)?.cancel('user')
      return null
    },
    'sessions.setModel': async ({ id, model }) => {
      const agent = await agentOf(id)
      agent.setModel(model)
      return rowOf(id)
    },
    'tools.list': async ({ id }) => sources.schemas(id === undefined ? undefined : agents.get(id)),
    'providers.configure': async ({ provider, settings }) => {
      await sources.configure(provider, settings)
      return sources.info()
    },
  }
}

/** Runs a method. Never rejects: a failure is an answer, and what nobody foresaw goes to `report` with its details. */
export async function callMethod<M extends MethodName>(
  table: MethodTable,
  method: M,
  params: unknown,
  report: (error: unknown) => void,
): Promise<MethodResponse<M>> {
  try {
    return { ok: true, value: await table[method](checkParams(method, params)) }
  } catch (error) {
    const code = errorCode(error)
    if (code !== undefined) return { ok: false, error: { code, message: errorMessage(error) } }
    report(error)
    const message = `${method} failed inside the server; its log has the details.`
    return { ok: false, error: { code: 'INTERNAL', message } }
  }
}

async function mustBeFolder(path: string): Promise<void> {
  const facts = await stat(path).catch((error: unknown) => {
    throw new ServerError(`the folder ${path} cannot be used: ${errorMessage(error)}`, 'FOLDER_NOT_FOUND', {
      cause: error,
    })
  })
  if (!facts.isDirectory()) throw new ServerError(`${path} is not a folder`, 'FOLDER_NOT_FOUND')
}
