import { afterEach, describe, expect, it } from 'vitest'
import { startMockLlm, type MockLlm, type MockLlmOptions } from '../src/index.ts'

let server: MockLlm | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

async function start(options: MockLlmOptions = {}): Promise<MockLlm> {
  server = await startMockLlm(options)
  return server
}

function ask(url: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  return fetch(`${url}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  })
}

const greet = { type: 'function', function: { name: 'greet', parameters: { required: ['name'] } } }
const user = (content: string) => ({ role: 'user', content })

describe('the mock server', () => {
  it('follows the tools without a script: call, answer, echo', async () => {
    const { url } = await start()
    const asked = user('Use the greet tool to greet Ada.')
    const call = await (await ask(url, { messages: [asked], tools: [greet] })).text()
    expect(call).toContain('"name":"greet"')
    expect(call).toContain('"finish_reason":"tool_calls"')
    const messages = [asked, { role: 'assistant', content: null }, { role: 'tool', content: 'Hello, Ada!' }]
    expect(await (await ask(url, { messages, tools: [greet] })).text()).toContain('"content":"Hello, A"')
    expect(await (await ask(url, { messages: [user('hi')] })).text()).toContain('"content":"You said"')
  })

  it('plays a queue, then follows the tools again', async () => {
    const { url } = await start({ script: [{ kind: 'error', status: 503 }] })
    expect((await ask(url, {})).status).toBe(503)
    expect((await ask(url, {})).status).toBe(200)
  })

  it('hands each request and its number to a script function, after what was enqueued', async () => {
    const mock = await start({
      script: (request, number) => ({ kind: 'answer', text: `${number} ${String(request.body['model'])}` }),
    })
    mock.enqueue({ kind: 'empty' })
    expect(await (await ask(mock.url, { model: 'a' })).text()).not.toContain('content')
    expect(await (await ask(mock.url, { model: 'b' })).text()).toContain('"content":"2 b"')
    expect(mock.requests.map((request) => request.body['model'])).toEqual(['a', 'b'])
  })

  it('shows a script that throws', async () => {
    const { url } = await start({
      script: () => {
        throw new Error('mistake of the test')
      },
    })
    const response = await ask(url, {})
    expect(response.status).toBe(500)
    expect(await response.text()).toContain('mistake of the test')
  })

  it('sends usage only when asked, and ends with [DONE]', async () => {
    const { url } = await start()
    expect(await (await ask(url, { messages: [] })).text()).not.toContain('usage')
    const text = await (await ask(url, { messages: [], stream_options: { include_usage: true } })).text()
    expect(text).toContain('"usage":{"prompt_tokens":20')
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  it('answers with and without /v1, lists models and refuses other routes', async () => {
    const { url, port } = await start({ models: ['a', 'b'] })
    expect((await ask(`http://127.0.0.1:${port}`, {})).status).toBe(200)
    const models = (await (await fetch(`${url}/models`)).json()) as { data: { id: string }[] }
    expect(models.data.map((model) => model.id)).toEqual(['a', 'b'])
    expect((await fetch(`${url}/embeddings`)).status).toBe(404)
  })

  it('checks the key when one is set', async () => {
    const { url } = await start({ apiKey: 'k' })
    expect((await ask(url, {})).status).toBe(401)
  })

  it('records who ended the connection', async () => {
    const mock = await start({ script: [{ kind: 'stall' }, { kind: 'reset' }, { kind: 'empty' }] })
    const controller = new AbortController()
    const stalled = ask(mock.url, {}, controller.signal).catch(() => 'aborted')
    const first = await mock.request(1)
    controller.abort()
    expect(await stalled).toBe('aborted')
    expect(await first.closed).toBe('client')
    await expect(ask(mock.url, {})).rejects.toThrow()
    expect(await (await mock.request(2)).closed).toBe('server')
    await (await ask(mock.url, {})).text()
    expect(await (await mock.request(3)).closed).toBe('server')
  })

  it('closes while a request stalls', async () => {
    const mock = await start({ script: [{ kind: 'stall' }] })
    const stalled = ask(mock.url, {}).then(
      () => 'answered',
      () => 'closed',
    )
    const request = await mock.request(1)
    await mock.close()
    expect(await stalled).toBe('closed')
    expect(await request.closed).toBe('server')
  })
})
