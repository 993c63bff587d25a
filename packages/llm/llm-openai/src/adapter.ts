// The adapter: one streaming chat completion over the `openai` library, from connection to terminal chunk.
import { errorMessage } from '@deepseek-ai/cordis'
import { failureChunk, type LlmAdapter, type LlmChunk, type LlmRequest } from '@deepseek-ai/dsh-llm'
import { inputOf, type ProviderSpec } from './config.ts'
import { connectionOf, shownURL, statusOf, store, type Connection } from './connection.ts'
import { DeltaReader } from './deltas.ts'
import { ProviderSettingsError } from './errors.ts'
import { failureOf, type RequestFacts } from './failures.ts'
import { beginning, foreignType, observed, withErrorBody } from './responses.ts'
import { Silence } from './silence.ts'
import { bodyOf } from './wire.ts'

/** After the last word only usage is missing: a server that keeps the connection open is not waited for. */
const USAGE_WAIT_MS = 1000
const ERROR_BODY_WAIT_MS = 10_000

export function openAiAdapter(spec: ProviderSpec, env: NodeJS.ProcessEnv): LlmAdapter {
  return {
    provider: spec.provider,
    status: () => statusOf(spec, env),
    inputOf: (model) => inputOf(spec, model),
    stream: (request) => answer(request, spec, env),
    async configure(settings) {
      try {
        store(spec, settings, env)
      } catch (error) {
        if (error instanceof ProviderSettingsError) throw error
        const message = `the settings of "${spec.provider}" could not be stored: ${errorMessage(error)}`
        throw new ProviderSettingsError(message, 'SETTINGS_UNAVAILABLE', { cause: error })
      }
    },
  }
}

async function* answer(
  request: LlmRequest,
  spec: ProviderSpec,
  env: NodeJS.ProcessEnv,
): AsyncGenerator<LlmChunk, void, void> {
  const connection = connectionOf(spec, env)
  const { baseURL, problem } = connection
  if (problem !== undefined) {
    yield refusal(spec, problem)
    return
  }
  const facts: RequestFacts = {
    provider: spec.provider,
    model: request.model,
    key: connection.key,
    baseURL: baseURL?.value ?? '',
    started: false,
  }
  const exchange = new Exchange(request.signal)
  const reader = new DeltaReader()
  let started = false
  try {
    const { data, response } = await open(request, spec, connection, exchange)
    started = true
    const wrong = await wrongType(response, facts)
    if (wrong !== undefined) {
      yield wrong
      return
    }
    exchange.silence.watch(spec.timeoutMs)
    for await (const chunk of data) {
      exchange.silence.pause()
      yield* reader.read(chunk)
      exchange.silence.watch(reader.finished ? USAGE_WAIT_MS : spec.timeoutMs)
    }
    yield ending(exchange, reader, spec) ?? reader.end(spec.provider)
  } catch (error) {
    const failure = failureOf(error, { ...facts, started })
    const failed: LlmChunk = { type: 'error', failure }
    const answered = failure.status !== undefined && !exchange.cancelled
    yield answered ? failed : (ending(exchange, reader, spec) ?? failed)
  } finally {
    exchange.close()
  }
}

function refusal(spec: ProviderSpec, problem: NonNullable<Connection['problem']>): LlmChunk {
  const message =
    problem.code === 'MISSING_CREDENTIAL' ? `"${spec.provider}" has no API key. ${problem.message}` : problem.message
  return failureChunk(problem.code, message)
}

/** One HTTP exchange: its abort controller and its watch. */
class Exchange {
  readonly controller = new AbortController()
  readonly silence: Silence
  silent = false
  /** Headers have come. */
  begun = false
  private readonly outer: AbortSignal
  private readonly onAbort: () => void

  constructor(outer: AbortSignal) {
    this.outer = outer
    this.onAbort = () => this.controller.abort()
    this.silence = new Silence(() => {
      this.silent = true
      this.controller.abort()
    })
    if (outer.aborted) this.controller.abort()
    else outer.addEventListener('abort', this.onAbort, { once: true })
  }

  get cancelled(): boolean {
    return this.outer.aborted
  }

  close(): void {
    this.silence.pause()
    this.outer.removeEventListener('abort', this.onAbort)
    this.controller.abort() // closes the connection when the answer is not complete; otherwise it is kept for the next one
  }
}

/** The end that does not depend on what was thrown: cancelled, complete but for the usage, or silent. */
function ending(exchange: Exchange, reader: DeltaReader, spec: ProviderSpec): LlmChunk | undefined {
  if (exchange.cancelled) return failureChunk('ABORTED', 'The request was cancelled.')
  if (reader.finished) return reader.end(spec.provider)
  if (!exchange.silent) return undefined
  if (!exchange.begun) {
    const message = `"${spec.provider}" did not begin to answer within ${spec.connectTimeoutMs / 1000} s; see whether it is reachable and not overloaded.`
    return failureChunk('TIMEOUT', message)
  }
  return failureChunk(
    'TIMEOUT',
    `"${spec.provider}" sent nothing for ${spec.timeoutMs / 1000} s in the middle of its answer; try again.`,
  )
}

async function open(request: LlmRequest, spec: ProviderSpec, connection: Connection, exchange: Exchange) {
  exchange.silence.watch(spec.connectTimeoutMs)
  // Loaded at the first request: it takes longer to load than everything else at start.
  const { default: OpenAI } = await import('openai')
  const client = new OpenAI({
    // A server without keys still gets the header that the library insists on.
    apiKey: connection.key?.value ?? 'none',
    baseURL: connection.baseURL?.value,
    // Everything that the library would otherwise read from the environment belongs to other programs.
    organization: null,
    project: null,
    adminAPIKey: null,
    webhookSecret: null,
    logLevel: 'off', // its log holds whole requests
    maxRetries: 0, // retries happen at step boundaries of the agent
    timeout: spec.connectTimeoutMs + 1000, // the watch of the exchange comes first and knows what to say
    defaultHeaders: { 'User-Agent': 'dsh', ...(connection.key === undefined ? { Authorization: null } : {}) },
    fetch: async (url, init) => {
      const response = await fetch(url, init)
      exchange.begun = true
      // The library stops its own clock here; the body of an error may stall as well.
      exchange.silence.watch(response.ok ? spec.timeoutMs : Math.min(spec.timeoutMs, ERROR_BODY_WAIT_MS))
      const live = observed(response, () => exchange.silence.touch())
      return response.ok ? live : withErrorBody(live)
    },
  })
  const body = bodyOf(request, spec)
  return client.chat.completions.create(body, { signal: exchange.controller.signal }).withResponse()
}

/** A failure when the answer is no event stream: a login page, a proxy, another API. */
async function wrongType(response: Response, facts: RequestFacts): Promise<LlmChunk | undefined> {
  const type = foreignType(response)
  if (type === undefined) return undefined
  const begins = await beginning(response, facts.key)
  const message =
    `"${facts.provider}" answered with ${type} instead of an event stream${begins === '' ? '' : ` (it begins ${JSON.stringify(begins)})`}; ` +
    `check that ${shownURL(facts.baseURL) ?? 'the base URL'} is the address of a chat completions API.`
  return failureChunk('MALFORMED_RESPONSE', message, { status: response.status })
}
