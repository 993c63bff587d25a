// A host with the real services and a real socket; only the model is scripted.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHost, type Context } from '@deepseek-ai/cordis'
import { Agents } from '@deepseek-ai/dsh-agent'
import { Llm, type LlmAdapter, type LlmChunk, type LlmRequest } from '@deepseek-ai/dsh-llm'
import { Sessions } from '@deepseek-ai/dsh-session'
import { ToolRegistry } from '@deepseek-ai/dsh-tools'
import { SystemPrompt } from '../../../core/system-prompt/src/index.ts'
import { Server, type MethodName, type MethodResponse, type Methods, type ServerConfig } from '../src/index.ts'

export type Script = (request: LlmRequest) => AsyncIterable<LlmChunk>

export const FINISH: LlmChunk = { type: 'finish', reason: 'stop' }

/** Answers every request with one text. */
export async function* says(text: string): AsyncGenerator<LlmChunk> {
  yield { type: 'text', text }
  yield FINISH
}

/** Calls one tool with raw arguments. */
export async function* calls(name: string, args: string, id = 'call-1'): AsyncGenerator<LlmChunk> {
  yield { type: 'tool-call', index: 0, id, name, argumentsDelta: args }
  yield { type: 'finish', reason: 'tool-calls' }
}

export interface TestServices {
  readonly ctx: Context
  readonly log: string[]
  /** The model's next answers; without one it says "ok". */
  readonly script: Script[]
  readonly dispose: () => Promise<void>
}

export interface TestHost extends TestServices {
  readonly server: Server
  readonly origin: string
  readonly token: string
  /** Calls a method with the token and returns the answer. */
  call<M extends MethodName>(method: M, params: Methods[M]['params']): Promise<MethodResponse<M>>
  /** `call` that must succeed. */
  value<M extends MethodName>(method: M, params: Methods[M]['params']): Promise<Methods[M]['value']>
  fetch(path: string, init?: RequestInit): Promise<Response>
}

export async function tempFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'dsh-server-'))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}

/** Everything but the server. */
export async function startServices(dir: string): Promise<TestServices> {
  const log: string[] = []
  const script: Script[] = []
  const host = createHost({ write: (line) => log.push(line) })
  const { ctx } = host
  await ctx.plugin(Llm)
  await ctx.plugin(ToolRegistry)
  await ctx.plugin(SystemPrompt)
  await ctx.plugin(Sessions, { dir: join(dir, 'sessions'), fsync: 'never' })
  await ctx.plugin(Agents, { retryBaseMs: 1 })
  ctx.llm.register(scripted(script))
  return { ctx, log, script, dispose: () => host.dispose() }
}

export async function startHost(dir: string, config: ServerConfig = {}): Promise<TestHost> {
  const { ctx, log, script, dispose } = await startServices(dir)
  try {
    await ctx.plugin(Server, { port: 0, cwd: dir, home: dir, ...config })
  } catch (error) {
    await dispose()
    throw error
  }
  const { server } = ctx
  const url = new URL(server.url)
  const token = url.searchParams.get('token') ?? ''
  const { origin } = url
  const fetchPath = (path: string, init: RequestInit = {}): Promise<Response> => fetch(origin + path, init)
  const call: TestHost['call'] = async (method, params) => {
    const response = await fetchPath(`/api/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(params),
    })
    return (await response.json()) as never
  }
  return {
    ctx,
    server,
    origin,
    token,
    log,
    script,
    call,
    async value(method, params) {
      const answer = await call(method, params)
      if (!answer.ok) throw new Error(`${method}: ${answer.error.code} ${answer.error.message}`)
      return answer.value
    },
    fetch: fetchPath,
    dispose,
  }
}

function scripted(script: Script[]): LlmAdapter {
  return {
    provider: 'scripted',
    status: () => ({
      provider: 'scripted',
      label: 'Scripted',
      configured: true,
      models: [{ provider: 'scripted', id: 'one' }],
      configurable: false,
    }),
    stream: (request) => (script.shift() ?? (() => says('ok')))(request),
  }
}
