// Everything runs over real HTTP against the mock server.
import { createServer, type Socket } from 'node:net'
import { Context } from '@deepseek-ai/cordis'
import Llm, { type LlmChunk, type LlmMessage, type LlmRequest } from '@deepseek-ai/dsh-llm'
import { afterEach, describe, expect, it } from 'vitest'
import {
  startMockLlm,
  type MockAnswer,
  type MockBehaviour,
  type MockLlm,
  type MockLlmOptions,
} from '../../../testing/llm-mock/src/index.ts'
import { adapterContract, drain, textOf } from '../../llm/tests/adapter-contract.ts'
import { openAiAdapter } from '../src/adapter.ts'
import { resolveConfig } from '../src/config.ts'
import * as plugin from '../src/index.ts'
import type { OpenAiConfig } from '../src/index.ts'

const KEY = 'sk-test-0123456789abcdefghij'
const cleanup: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const each of cleanup.splice(0)) await each()
})

async function mock(options: MockLlmOptions = {}): Promise<MockLlm> {
  const server = await startMockLlm(options)
  cleanup.push(() => server.close())
  return server
}

function adapterFor(baseURL: string, config: Partial<OpenAiConfig> = {}) {
  return openAiAdapter(resolveConfig({ provider: 'custom', baseURL, apiKey: KEY, models: ['m'], ...config }), {})
}

function requestOf(messages: LlmMessage[] = [user('hi')], more: Partial<LlmRequest> = {}): LlmRequest {
  const base = { provider: 'custom', model: 'm', system: '', tools: [], signal: new AbortController().signal }
  return { ...base, messages, ...more }
}

function user(text: string): LlmMessage {
  return { role: 'user', content: [{ type: 'text', text }] }
}

async function run(behaviour: MockBehaviour, config: Partial<OpenAiConfig> = {}) {
  const server = await mock({ script: [behaviour] })
  const chunks = await drain(adapterFor(server.url, config).stream(requestOf()))
  expect(JSON.stringify(chunks)).not.toContain(KEY)
  return { chunks, server, last: chunks.at(-1) }
}

function callsOf(chunks: readonly LlmChunk[]) {
  const calls: { name: string | undefined; id: string | undefined; arguments: string }[] = []
  for (const chunk of chunks) {
    if (chunk.type !== 'tool-call') continue
    const call = (calls[chunk.index] ??= { name: chunk.name, id: chunk.id, arguments: '' })
    call.arguments += chunk.argumentsDelta
  }
  return calls
}

function failureOf(chunk: LlmChunk | undefined) {
  if (chunk?.type !== 'error') throw new Error(`no failure: ${JSON.stringify(chunk)}`)
  return chunk.failure
}

adapterContract('openai over HTTP', async () => {
  const server = await startMockLlm({
    script: (request) => {
      const messages = request.body['messages'] as { content: string }[]
      const asked = messages.at(-1)?.content
      if (asked === 'call') return { kind: 'answer', toolCalls: [{ name: 'greet', arguments: { name: 'Ada' } }] }
      if (asked === 'slow') return { kind: 'answer', text: 'x', cut: { after: 1, how: 'stall' } }
      return { kind: 'answer', reasoning: 'hm', text: 'Hello there, person.' }
    },
  })
  const asking = (text: string) => (signal: AbortSignal) => requestOf([user(text)], { signal })
  return {
    adapter: adapterFor(server.url),
    text: asking('text'),
    call: asking('call'),
    slow: asking('slow'),
    close: () => server.close(),
  }
})

describe('an answer', () => {
  it.each(['reasoning_content', 'reasoning'] as const)(
    'streams reasoning from %s, text and usage',
    async (reasoningField) => {
      const { chunks } = await run({
        kind: 'answer',
        reasoning: 'thinking about it',
        reasoningField,
        text: 'Hello 😀 world',
        usage: {
          prompt_tokens: 100,
          completion_tokens: 20,
          prompt_tokens_details: { cached_tokens: 60 },
          completion_tokens_details: { reasoning_tokens: 8 },
        },
      })
      expect(textOf(chunks)).toBe('Hello 😀 world')
      expect(chunks.map((chunk) => (chunk.type === 'reasoning' ? chunk.text : '')).join('')).toBe('thinking about it')
      expect(chunks.slice(-2)).toEqual([
        { type: 'usage', usage: { input: 40, output: 20, cacheRead: 60, reasoning: 8 } },
        { type: 'finish', reason: 'stop' },
      ])
    },
  )

  it('reads the cache count of DeepSeek', async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 1, prompt_cache_hit_tokens: 4 }
    const { chunks } = await run({ kind: 'answer', text: 'x', usage })
    expect(chunks).toContainEqual({ type: 'usage', usage: { input: 6, output: 1, cacheRead: 4 } })
  })

  it.each(['fragments', 'repeat-id', 'whole', 'whole-same-index', 'no-index'] as const)(
    'assembles parallel calls streamed as %s',
    async (callStyle) => {
      const { chunks, last } = await run({
        kind: 'answer',
        callStyle,
        pieceLength: 3,
        toolCalls: [
          { id: 'a', name: 'greet', arguments: { name: 'Ada' } },
          { id: 'b', name: 'greet', arguments: { name: 'Bob' } },
        ],
      })
      expect(callsOf(chunks)).toEqual([
        { id: 'a', name: 'greet', arguments: '{"name":"Ada"}' },
        { id: 'b', name: 'greet', arguments: '{"name":"Bob"}' },
      ])
      expect(last).toEqual({ type: 'finish', reason: 'tool-calls' })
    },
  )

  it('gives calls without ids ids of their own', async () => {
    const toolCalls = [
      { id: null, name: 'a', arguments: '{}' },
      { id: null, name: 'b', arguments: '{}' },
    ]
    const { chunks } = await run({ kind: 'answer', callStyle: 'no-index', toolCalls })
    const calls = callsOf(chunks)
    expect(calls.map((call) => call.name)).toEqual(['a', 'b'])
    expect(new Set(calls.map((call) => call.id)).size).toBe(2)
  })

  it('takes calls for calls even when the server says stop', async () => {
    const { last } = await run({ kind: 'answer', finish: 'stop', toolCalls: [{ name: 'a', arguments: '{}' }] })
    expect(last).toEqual({ type: 'finish', reason: 'tool-calls' })
  })

  it('reports an answer cut by its length limit, and an empty one as it is', async () => {
    expect((await run({ kind: 'answer', text: 'x', finish: 'length' })).last).toEqual({
      type: 'finish',
      reason: 'max-tokens',
    })
    expect((await run({ kind: 'empty' })).last).toEqual({ type: 'finish', reason: 'stop' })
  })

  it('says when a content filter stopped it', async () => {
    const { last } = await run({ kind: 'answer', text: 'x', finish: 'content_filter' })
    expect(failureOf(last)).toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('content filter'),
    })
  })

  it('does not wait for a server that keeps the connection open after its last word', async () => {
    const server = createServer((socket: Socket) => {
      const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`
      socket.once('data', () =>
        socket.write(
          'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n' +
            event({ choices: [{ delta: { content: 'done' }, finish_reason: 'stop' }] }) +
            'data: [DONE]\n\n',
        ),
      )
      socket.on('error', () => {})
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const chunks = await drain(adapterFor(`http://127.0.0.1:${port}`).stream(requestOf()))
    expect(chunks.at(-1)).toEqual({ type: 'finish', reason: 'stop' })
    await new Promise((resolve) => server.close(resolve))
  })
})

describe('a failure', () => {
  const body = (message: string, code?: string) => ({ error: { message, code, type: 'x' } })

  it.each([
    [401, body('Incorrect API key provided'), 'AUTH', /check the key from config \(ending in …ghij\)/],
    [403, body('forbidden'), 'AUTH', /check the key/],
    [400, body('API key not valid. Please pass a valid API key.'), 'AUTH', /check the key/],
    [402, body('Insufficient Balance'), 'QUOTA', /balance or plan/],
    [429, body('You exceeded your current quota', 'insufficient_quota'), 'QUOTA', /balance or plan/],
    [429, body('too many tokens per minute'), 'RATE_LIMIT', /wait a little/],
    [404, body('nope'), 'UNKNOWN_MODEL', /check the model custom\/m and the base URL http:\/\/127/],
    [400, body('The model `m` does not exist', 'model_not_found'), 'UNKNOWN_MODEL', /check the model/],
    [400, body("This model's maximum context length is 8192 tokens"), 'CONTEXT_WINDOW_EXCEEDED', /new session/],
    [413, body('too large'), 'CONTEXT_WINDOW_EXCEEDED', /new session/],
    [400, body('tools[0] is wrong'), 'INVALID_REQUEST', /tools\[0\] is wrong/],
    [422, body('unprocessable'), 'INVALID_REQUEST', /answered 422/],
    [422, { detail: [{ msg: 'field required' }] }, 'INVALID_REQUEST', /field required/],
    [400, { object: 'error', message: 'too many tokens', code: 400 }, 'CONTEXT_WINDOW_EXCEEDED', /too many tokens/],
    [404, { error: "model 'm' not found" }, 'UNKNOWN_MODEL', /model 'm' not found/],
    [500, '[1]', 'SERVER', /answered 500/],
    [408, body('slow'), 'TIMEOUT', /try again/],
    [500, body('oops'), 'SERVER', /try again later/],
    [
      503,
      '<html><head><style>p{}</style></head><body><p>Service   Unavailable</p></body></html>',
      'SERVER',
      /: Service Unavailable;/,
    ],
    [529, '', 'SERVER', /answered 529;/],
  ] as const)('of status %s with %j is %s', async (status, content, code, message) => {
    const { last } = await run({ kind: 'error', status, body: content })
    expect(failureOf(last)).toMatchObject({ code, status, message: expect.stringMatching(message) })
  })

  it('keeps what the server said about retrying and the id of the request', async () => {
    const headers = { 'retry-after': '7', 'x-request-id': 'req-1' }
    const { last, server } = await run({ kind: 'error', status: 429, headers })
    expect(failureOf(last)).toMatchObject({ code: 'RATE_LIMIT', retryAfterMs: 7000, requestId: 'req-1' })
    expect(server.requests).toHaveLength(1)
    const date = new Date(Date.now() + 60_000).toUTCString()
    const later = failureOf(
      (await run({ kind: 'error', status: 503, headers: { 'retry-after': date } })).last,
    ).retryAfterMs
    expect(later).toBeGreaterThan(50_000)
    expect(later).toBeLessThanOrEqual(60_000)
    const exact = await run({ kind: 'error', status: 429, headers: { 'retry-after-ms': '250', 'retry-after': '9' } })
    expect(failureOf(exact.last).retryAfterMs).toBe(250)
  })

  it.each([
    [{ kind: 'reset' }, 'TRANSPORT', /could not be reached at http:\/\/127\.0\.0\.1/],
    [{ kind: 'malformed-json' }, 'MALFORMED_RESPONSE', /not JSON/],
    [
      { kind: 'not-sse' },
      'MALFORMED_RESPONSE',
      /answered with text\/html instead of an event stream \(it begins "<html>/,
    ],
    [{ kind: 'not-sse', contentType: 'application/json', body: '{}' }, 'MALFORMED_RESPONSE', /application\/json/],
    [{ kind: 'empty-body' }, 'STREAM_CLOSED', /before its answer was complete/],
    [{ kind: 'answer', text: 'hello you', cut: { after: 1, how: 'disconnect' } }, 'STREAM_CLOSED', /before its answer/],
    [{ kind: 'answer', text: 'hello you', cut: { after: 1, how: 'end' } }, 'STREAM_CLOSED', /before its answer/],
    [{ kind: 'answer', text: 'x', finish: null }, 'STREAM_CLOSED', /before its answer/],
    [{ kind: 'answer', toolCalls: [{ name: '', arguments: '{}' }] }, 'MALFORMED_RESPONSE', /without a name/],
    [{ kind: 'stream-error', error: { message: 'overloaded', code: 503 } }, 'SERVER', /overloaded/],
    [{ kind: 'stream-error', error: { message: 'Rate limit reached' } }, 'RATE_LIMIT', /wait/],
    [
      { kind: 'stream-error', error: { message: 'x', code: 'context_length_exceeded' } },
      'CONTEXT_WINDOW_EXCEEDED',
      /new session/,
    ],
  ] as [MockBehaviour, string, RegExp][])('of %j is %s', async (behaviour, code, message) => {
    const { last, chunks } = await run(behaviour)
    expect(failureOf(last)).toMatchObject({ code, message: expect.stringMatching(message) })
    expect(chunks.filter((chunk) => chunk.type === 'error')).toHaveLength(1)
  })

  it('keeps the text that came before a disconnect', async () => {
    const { chunks } = await run({ kind: 'answer', text: '12345678abc', cut: { after: 1, how: 'disconnect' } })
    expect(textOf(chunks)).toBe('12345678')
  })

  it('names the address when nobody listens there', async () => {
    const server = await startMockLlm()
    await server.close()
    const [chunk] = await drain(adapterFor(server.url).stream(requestOf()))
    expect(failureOf(chunk)).toMatchObject({
      code: 'TRANSPORT',
      message: expect.stringContaining(`refused the connection at ${server.url}`),
    })
  })

  it('never waits for ever: no header, no byte, a stalled error page', async () => {
    expect(failureOf((await run({ kind: 'stall' }, { connectTimeoutMs: 60 })).last)).toMatchObject({
      code: 'TIMEOUT',
      message: expect.stringContaining('did not begin to answer within 0.06 s'),
    })
    const stalled: MockAnswer = { kind: 'answer', text: 'hello you', cut: { after: 1, how: 'stall' } }
    expect(failureOf((await run(stalled, { timeoutMs: 60 })).last)).toMatchObject({
      code: 'TIMEOUT',
      message: expect.stringContaining('in the middle of its answer'),
    })
    const page: MockBehaviour = { kind: 'error', status: 500, body: 'oops', stall: true }
    expect(failureOf((await run(page, { timeoutMs: 60 })).last)).toMatchObject({ code: 'SERVER', status: 500 })
  })

  it('takes comments for signs of life', async () => {
    // One delta after 1.5 s of nothing but comments.
    const late: MockAnswer = { kind: 'answer', text: 'abcdef', delayMs: 1500, keepalive: true }
    const { chunks } = await run(late, { timeoutMs: 1000 })
    expect(textOf(chunks)).toBe('abcdef')
  })

  it('scrubs the key that a server or a page quotes, even at the edge of what is shown', async () => {
    for (let pad = 80; pad < 130; pad += 7) {
      await run({ kind: 'not-sse', body: `${'x'.repeat(pad)}${KEY}` })
      await run({ kind: 'error', status: 401, body: `${'x'.repeat(pad + 190)} ${KEY}` })
    }
    const { last } = await run({ kind: 'error', status: 401, body: { error: { message: `bad key ${KEY}` } } })
    expect(failureOf(last).message).toContain('bad key ***')
  })
})

describe('cancelling', () => {
  it.each([
    { kind: 'stall' },
    { kind: 'answer', text: 'hello you', cut: { after: 1, how: 'stall' } },
  ] as MockBehaviour[])('closes the connection during %j', async (behaviour) => {
    const server = await mock({ script: [behaviour] })
    const controller = new AbortController()
    const answer = drain(adapterFor(server.url).stream(requestOf([user('hi')], { signal: controller.signal })))
    const request = await server.request(1)
    controller.abort()
    expect(await request.closed).toBe('client')
    expect(failureOf((await answer).at(-1)).code).toBe('ABORTED')
  })

  it('closes the connection when the reader stops early', async () => {
    const server = await mock({ script: [{ kind: 'answer', text: 'hello you', cut: { after: 1, how: 'stall' } }] })
    for await (const _ of adapterFor(server.url).stream(requestOf())) break
    expect(await (await server.request(1)).closed).toBe('client')
  })

  it('closes the connection when the row is unloaded', async () => {
    const server = await mock({ script: [{ kind: 'stall' }] })
    const root = new Context()
    await root.plugin(Llm)
    const fiber = await root.plugin(plugin, { provider: 'custom', baseURL: server.url, apiKey: KEY })
    const answer = drain(root.llm.stream(requestOf()))
    const request = await server.request(1)
    await fiber.dispose()
    expect(await request.closed).toBe('client')
    expect(failureOf((await answer).at(-1)).code).toBe('NO_ADAPTER')
  })
})

describe('what is sent', () => {
  async function sent(messages: LlmMessage[], config: Partial<OpenAiConfig> = {}, more: Partial<LlmRequest> = {}) {
    const server = await mock({ script: [{ kind: 'answer', text: 'ok' }] })
    await drain(adapterFor(server.url, config).stream(requestOf(messages, more)))
    const [request] = server.requests
    if (request === undefined) throw new Error('nothing was sent')
    return request
  }
  const turn: LlmMessage[] = [
    user('one'),
    user('two'),
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'because' },
        { type: 'tool-call', id: 'a', name: 'greet', arguments: '' },
        { type: 'tool-call', id: 'b', name: 'greet', arguments: '{broken' },
      ],
    },
    { role: 'tool', callId: 'a', content: [], isError: false },
    { role: 'tool', callId: 'b', content: [{ type: 'text', text: 'invalid arguments' }], isError: true },
    { role: 'assistant', content: [{ type: 'reasoning', text: 'only thoughts' }] },
    { role: 'assistant', content: [{ type: 'text', text: 'done' }] },
  ]
  const wireTurn = [
    { role: 'system', content: 'be good' },
    { role: 'user', content: 'one' },
    { role: 'user', content: 'two' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'greet', arguments: '{}' } },
        { id: 'b', type: 'function', function: { name: 'greet', arguments: '{"invalid_json":"{broken"}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'a', content: '(no output)' },
    { role: 'tool', tool_call_id: 'b', content: 'invalid arguments' },
    { role: 'assistant', content: 'done' },
  ]

  it('maps a whole conversation', async () => {
    const tools = [{ name: 'greet', description: 'Greets.', parameters: { type: 'object' as const } }]
    const request = await sent(turn, {}, { system: 'be good', tools, maxTokens: 50, sessionId: 's' })
    expect(request.body).toEqual({
      model: 'm',
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 50,
      tools: [
        { type: 'function', function: { name: 'greet', description: 'Greets.', parameters: { type: 'object' } } },
      ],
      messages: wireTurn,
    })
    expect(request.headers['authorization']).toBe(`Bearer ${KEY}`)
    expect(request.path).toBe('/v1/chat/completions')
  })

  it('sends reasoning back to providers that ask for it, and to no other', async () => {
    const bodies = [
      await sent(turn, { provider: 'deepseek' }),
      await sent(turn, { echoReasoning: true }),
      await sent(turn),
    ]
    expect(bodies.map((request) => JSON.stringify(request.body).includes('"reasoning_content":"because"'))).toEqual([
      true,
      true,
      false,
    ])
  })

  it('uses the limits and the cache key of OpenAI for OpenAI only', async () => {
    const { body } = await sent([user('x')], { provider: 'openai' }, { maxTokens: 9, sessionId: 's' })
    expect(body).toMatchObject({ max_completion_tokens: 9, prompt_cache_key: 's' })
    expect(body).not.toHaveProperty('max_tokens')
    expect(body).not.toHaveProperty('tools')
  })

  it('replaces half surrogate pairs everywhere', async () => {
    const bad = 'x\ud800y'
    const tools = [
      {
        name: 'greet',
        description: bad,
        parameters: { type: 'object' as const, properties: { [bad]: { description: bad } } },
      },
    ]
    const messages: LlmMessage[] = [
      user(bad),
      {
        role: 'assistant',
        content: [
          { type: 'text', text: bad },
          { type: 'tool-call', id: bad, name: bad, arguments: `{"a":"${bad}"}` },
        ],
      },
      { role: 'tool', callId: bad, content: [{ type: 'text', text: bad }], isError: false },
    ]
    const text = JSON.stringify((await sent(messages, { echoReasoning: true }, { system: bad, tools })).body)
    expect(text).not.toMatch(/\\ud8/i)
    expect(text).toContain('x\ufffdy')
  })

  it('shortens long call ids the same way on both sides', async () => {
    const id = 'c'.repeat(90)
    const messages: LlmMessage[] = [
      { role: 'assistant', content: [{ type: 'tool-call', id, name: 'a', arguments: '{}' }] },
      { role: 'tool', callId: id, content: [], isError: false },
    ]
    const wire = (await sent(messages)).body['messages'] as [{ tool_calls: [{ id: string }] }, { tool_call_id: string }]
    expect(wire[0].tool_calls[0].id).toHaveLength(64)
    expect(wire[1].tool_call_id).toBe(wire[0].tool_calls[0].id)
  })

  it('sends no key where none is needed', async () => {
    const server = await mock()
    const adapter = openAiAdapter(resolveConfig({ provider: 'ollama', baseURL: server.url, requireKey: false }), {})
    expect(adapter.status()).toMatchObject({ configured: true, models: [] })
    expect(textOf(await drain(adapter.stream(requestOf())))).toBe('You said: hi')
    expect(server.requests[0]?.headers['authorization']).toBeUndefined()
  })
})
