import { Context, fiberTable } from '@deepseek-ai/cordis'
import { describe, expect, it } from 'vitest'
import Llm, {
  type LlmAdapter,
  type LlmChunk,
  type LlmConfig,
  type LlmProviderStatus,
  type LlmRequest,
} from '@deepseek-ai/dsh-llm'

interface FakeOptions {
  models?: string[]
  configured?: boolean
  stream?: (request: LlmRequest) => AsyncIterable<LlmChunk>
}

function fake(provider: string, options: FakeOptions = {}): LlmAdapter {
  const { models = ['m'], configured = true } = options
  return {
    provider,
    status: (): LlmProviderStatus => ({
      provider,
      label: provider,
      configured,
      ...(configured ? {} : { remedy: `Set ${provider.toUpperCase()}_KEY.` }),
      models: models.map((id) => ({ provider, id })),
      configurable: false,
    }),
    stream:
      options.stream ??
      async function* () {
        yield { type: 'text', text: 'hi' }
        yield { type: 'finish', reason: 'stop' }
      },
  }
}

async function service(config: LlmConfig = {}, ...adapters: LlmAdapter[]) {
  const root = new Context()
  await root.plugin(Llm, config)
  for (const adapter of adapters) root.llm.register(adapter)
  return root.llm
}

function request(provider: string, signal = new AbortController().signal): LlmRequest {
  return { provider, model: 'm', system: '', tools: [], messages: [], signal }
}

async function collect(stream: AsyncIterable<LlmChunk>): Promise<LlmChunk[]> {
  const chunks: LlmChunk[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}

function streaming(source: (request: LlmRequest) => AsyncIterable<LlmChunk>) {
  return service({}, fake('p', { stream: source }))
}

describe('the table of providers', () => {
  it('lists providers in registration order and forgets one with its disposer', async () => {
    const llm = await service({}, fake('a'))
    const remove = llm.register(fake('b'))
    expect(llm.status().map((each) => each.provider)).toEqual(['a', 'b'])
    remove()
    expect(llm.status().map((each) => each.provider)).toEqual(['a'])
  })

  it('drops a provider with the fiber that registered it', async () => {
    const root = new Context()
    await root.plugin(Llm)
    const fiber = await root.plugin({
      name: 'row',
      inject: ['llm'],
      apply: (ctx: Context) => void ctx.llm.register(fake('a')),
    })
    expect(fiberTable(root).find((row) => row.name === 'row')?.effects).toContain('llm.register(a)')
    await fiber.dispose()
    expect(root.llm.status()).toEqual([])
  })

  it('refuses a second provider of one name and a name that a reference could not carry', async () => {
    const llm = await service({}, fake('a'))
    expect(() => llm.register(fake('a'))).toThrow(expect.objectContaining({ code: 'DUPLICATE_PROVIDER' }))
    expect(() => llm.register(fake('a/b'))).toThrow(expect.objectContaining({ code: 'INVALID_PROVIDER' }))
    expect(llm.status()).toHaveLength(1)
  })

  it('tells listeners of changes, whatever one of them does', async () => {
    const root = new Context()
    await root.plugin(Llm)
    let seen = 0
    root.on('llm/changed', () => {
      throw new Error('broken listener')
    })
    root.on('llm/changed', () => void seen++)
    const remove = root.llm.register({ ...fake('a'), configure: async () => {} })
    await root.llm.configure('a', { apiKey: 'k' })
    remove()
    expect(seen).toBe(3)
  })

  it('reports a provider whose status throws without hiding the others', async () => {
    const broken: LlmAdapter = {
      ...fake('a'),
      status: () => {
        throw new Error('settings file unreadable')
      },
    }
    const llm = await service({}, broken, fake('b'))
    expect(llm.status()[0]).toMatchObject({
      configured: false,
      remedy: 'Its status cannot be read: settings file unreadable',
    })
    expect(llm.resolve()).toEqual({ provider: 'b', model: 'm' })
  })

  it('says when a provider cannot be configured or does not exist', async () => {
    const llm = await service({}, fake('deepseek'))
    await expect(llm.configure('deepseek', {})).rejects.toMatchObject({ code: 'NOT_CONFIGURABLE' })
    await expect(llm.configure('depseek', {})).rejects.toMatchObject({
      code: 'NO_ADAPTER',
      message: 'no model provider "depseek", did you mean "deepseek"?; known: deepseek',
    })
  })
})

describe('choosing a model', () => {
  const providers = [
    fake('openai', { models: ['gpt-5', 'shared'], configured: false }),
    fake('deepseek', { models: ['chat', 'shared'] }),
    fake('custom', { models: ['meta/llama-3'] }),
    fake('bare', { models: [] }),
    fake('offline', { models: ['offline'] }),
  ]

  it.each([
    ['openai/gpt-5', 'openai', 'gpt-5'],
    ['custom/meta/llama-3', 'custom', 'meta/llama-3'],
    ['meta/llama-3', 'custom', 'meta/llama-3'],
    ['openai/not-listed', 'openai', 'not-listed'],
    ['bare/anything', 'bare', 'anything'],
    ['chat', 'deepseek', 'chat'],
    [' deepseek ', 'deepseek', 'chat'],
    ['offline', 'offline', 'offline'],
  ])('reads %s', async (ref, provider, model) => {
    const llm = await service({}, ...providers)
    expect(llm.resolve(ref)).toEqual({ provider, model })
  })

  it.each([
    [
      'shared',
      'UNKNOWN_MODEL',
      'model "shared" is offered by several providers; write openai/shared or deepseek/shared',
    ],
    ['bare', 'UNKNOWN_MODEL', 'provider "bare" needs a model: write bare/<model>'],
    [
      'openai/',
      'UNKNOWN_MODEL',
      'provider "openai" needs a model: write openai/<model>; known: openai/gpt-5, openai/shared',
    ],
    ['gpt5', 'UNKNOWN_MODEL', 'no model "gpt5", did you mean "gpt-5"?'],
    ['', 'UNKNOWN_MODEL', 'no model ""'],
    ['opnai/gpt-5', 'NO_ADAPTER', 'no model provider "opnai", did you mean "openai"?; known: openai, deepseek'],
  ])('refuses %j with %s', async (ref, code, message) => {
    const llm = await service({}, ...providers)
    expect(() => llm.resolve(ref)).toThrow(expect.objectContaining({ code, message: expect.stringContaining(message) }))
  })

  it('checks the provider of a parsed reference', async () => {
    const llm = await service({}, ...providers)
    expect(llm.resolve({ provider: 'custom', model: 'x/y' })).toEqual({ provider: 'custom', model: 'x/y' })
    expect(() => llm.resolve({ provider: 'gone', model: 'x' })).toThrow(expect.objectContaining({ code: 'NO_ADAPTER' }))
  })

  it('defaults to the config, then to the first ready provider, then to offline', async () => {
    expect((await service({ default: 'openai/gpt-5' }, ...providers)).resolve()).toEqual({
      provider: 'openai',
      model: 'gpt-5',
    })
    expect((await service({ default: ' ' }, ...providers)).resolve()).toEqual({ provider: 'deepseek', model: 'chat' })
    const llm = await service({}, fake('offline'), fake('openai', { configured: false }))
    expect(llm.resolve()).toEqual({ provider: 'offline', model: 'm' })
  })

  it('says why there is no default', async () => {
    const none = await service()
    expect(() => none.resolve()).toThrow(/no model provider is loaded/)
    const unready = await service({}, fake('openai', { configured: false }))
    expect(() => unready.resolve()).toThrow(/openai: Set OPENAI_KEY\./)
    const wrong = await service({ default: 'opnai/x' }, fake('openai'))
    expect(() => wrong.resolve()).toThrow(/the "default" of the llm config cannot be used: .*did you mean "openai"/)
  })

  it('refuses a config of the wrong shape, naming the field', async () => {
    const root = new Context()
    // @ts-expect-error a number is not a model
    await expect(root.plugin(Llm, { default: 3 })).rejects.toThrow(/"default" must be a string.*got 3/)
  })
})

describe('a stream', () => {
  it('passes deltas on, drops empty ones and puts the newest usage before the end', async () => {
    const llm = await streaming(async function* () {
      yield { type: 'usage', usage: { input: 1, output: 1 } }
      yield { type: 'text', text: '' }
      yield { type: 'text', text: 'a' }
      yield { type: 'usage', usage: { input: 1, output: 2 } }
      yield { type: 'finish', reason: 'stop' }
      yield { type: 'text', text: 'after the end' }
    })
    expect(await collect(llm.stream(request('p')))).toEqual([
      { type: 'text', text: 'a' },
      { type: 'usage', usage: { input: 1, output: 2 } },
      { type: 'finish', reason: 'stop' },
    ])
  })

  it('ends with STREAM_CLOSED when an adapter ends early', async () => {
    const llm = await streaming(async function* () {
      yield { type: 'text', text: 'a' }
    })
    expect((await collect(llm.stream(request('p')))).at(-1)).toMatchObject({ failure: { code: 'STREAM_CLOSED' } })
  })

  it.each([
    [
      'throws at once',
      () => {
        throw new Error('boom')
      },
    ],
    [
      'rejects',
      async function* () {
        yield* []
        throw new Error('boom')
      },
    ],
    ['is no iterable', () => 3 as never],
  ] as [string, () => AsyncIterable<LlmChunk>][])('turns an adapter that %s into a failure', async (_, source) => {
    const llm = await streaming(source)
    expect(await collect(llm.stream(request('p')))).toMatchObject([{ type: 'error', failure: { code: 'UNKNOWN' } }])
  })

  it('refuses chunks nobody could assemble', async () => {
    const nameless = await streaming(async function* () {
      yield { type: 'tool-call', index: 0, id: 'a', argumentsDelta: '{}' }
    })
    expect(await collect(nameless.stream(request('p')))).toMatchObject([{ failure: { code: 'MALFORMED_RESPONSE' } }])
    const unknown = await streaming(async function* () {
      yield { type: 'surprise' } as never
    })
    expect(await collect(unknown.stream(request('p')))).toMatchObject([{ failure: { code: 'UNKNOWN' } }])
  })

  it('ends with ABORTED when the signal fires, even when the adapter hangs, and tells the adapter', async () => {
    let told = false
    const llm = await streaming(async function* ({ signal }) {
      yield { type: 'text', text: 'a' }
      signal.addEventListener('abort', () => (told = true))
      await new Promise(() => {})
    })
    const controller = new AbortController()
    const chunks: LlmChunk[] = []
    for await (const chunk of llm.stream(request('p', controller.signal))) {
      chunks.push(chunk)
      setImmediate(() => controller.abort())
    }
    expect(chunks).toMatchObject([{ type: 'text' }, { type: 'error', failure: { code: 'ABORTED' } }])
    expect(told).toBe(true)
  })

  it('gives a signal that an adapter reads only after the end the reason of that end', async () => {
    let seen: LlmRequest | undefined
    const llm = await streaming(async function* (asked) {
      seen = { ...asked } // a copy has the signal too
      yield { type: 'finish', reason: 'stop' }
    })
    await collect(llm.stream(request('p')))
    expect(seen?.signal.aborted).toBe(true)

    let late: LlmRequest | undefined
    const hanging = await streaming(async function* (asked) {
      late = asked
      yield { type: 'text', text: 'a' }
      await new Promise(() => {})
    })
    const controller = new AbortController()
    for await (const chunk of hanging.stream(request('p', controller.signal))) {
      if (chunk.type === 'text') controller.abort('enough')
    }
    expect(late?.signal.reason).toBe('enough')
  })

  it('tells an adapter that waits when the reader has stopped', async () => {
    let told: Promise<unknown> | undefined
    const llm = await streaming(async function* ({ signal }) {
      told = new Promise((resolve) => signal.addEventListener('abort', resolve))
      yield { type: 'text', text: 'a' }
    })
    for await (const _ of llm.stream(request('p'))) break
    await expect(told).resolves.toMatchObject({ type: 'abort' })
  })

  it('never asks the adapter when the signal has fired already', async () => {
    let asked = false
    const llm = await streaming(() => {
      asked = true
      throw new Error('asked')
    })
    expect(await collect(llm.stream(request('p', AbortSignal.abort())))).toMatchObject([
      { failure: { code: 'ABORTED' } },
    ])
    expect(asked).toBe(false)
  })

  it('reports an adapter that fails because of the abort as ABORTED', async () => {
    const controller = new AbortController()
    const llm = await streaming(async function* () {
      yield { type: 'text', text: 'a' }
      controller.abort()
      yield { type: 'error', failure: { code: 'TRANSPORT', message: 'socket closed' } }
    })
    expect((await collect(llm.stream(request('p', controller.signal)))).at(-1)).toMatchObject({
      failure: { code: 'ABORTED' },
    })
  })

  it('lets the adapter clean up when the reader stops early', async () => {
    let cleaned = false
    const llm = await streaming(async function* () {
      try {
        for (;;) yield { type: 'text', text: 'a' }
      } finally {
        cleaned = true
      }
    })
    for await (const _ of llm.stream(request('p'))) break
    expect(cleaned).toBe(true)
  })

  it('answers reads that were asked for together in their order', async () => {
    const llm = await streaming(async function* () {
      yield { type: 'text', text: 'a' }
      yield { type: 'text', text: '' }
      yield { type: 'text', text: 'b' }
      yield { type: 'finish', reason: 'stop' }
    })
    const iterator = llm.stream(request('p'))[Symbol.asyncIterator]()
    const reads = await Promise.all(Array.from({ length: 5 }, () => iterator.next()))
    expect(reads.map(({ value }) => value as LlmChunk | undefined)).toEqual([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
      { type: 'finish', reason: 'stop' },
      undefined,
      undefined,
    ])
    expect(reads.map(({ done }) => done)).toEqual([false, false, false, true, true])
  })

  it('ends a read that waits when the reader stops, and tells the adapter', async () => {
    let told: AbortSignal | undefined
    const llm = await streaming(async function* ({ signal }) {
      told = signal
      await new Promise(() => {})
      yield { type: 'text', text: 'never' }
    })
    const iterator = llm.stream(request('p'))[Symbol.asyncIterator]()
    const waiting = iterator.next()
    await iterator.return?.()
    expect(await waiting).toEqual({ done: true, value: undefined })
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
    expect(told?.aborted).toBe(true)
  })

  it('gives the adapter a request of the same fields whose copy has the signal too', async () => {
    const seen: LlmRequest[] = []
    const llm = await streaming(async function* (given) {
      seen.push(given, { ...given })
      yield { type: 'finish', reason: 'stop' }
    })
    const asked = { ...request('p'), maxTokens: 5, sessionId: 's' }
    await collect(llm.stream(asked))
    for (const given of seen) {
      expect(Object.keys(given).toSorted()).toEqual(Object.keys(asked).toSorted())
      expect(given).toMatchObject({ provider: 'p', model: 'm', maxTokens: 5, sessionId: 's' })
      expect(given.signal).toBe(seen[0]?.signal)
    }
  })

  it('ends when its provider is removed', async () => {
    const llm = await service()
    const remove = llm.register(
      fake('p', {
        stream: async function* () {
          yield { type: 'text', text: 'a' }
          await new Promise(() => {})
        },
      }),
    )
    const chunks: LlmChunk[] = []
    for await (const chunk of llm.stream(request('p'))) {
      chunks.push(chunk)
      setImmediate(remove)
    }
    expect(chunks.at(-1)).toMatchObject({ failure: { code: 'NO_ADAPTER' } })
  })

  it('names the known providers when there is none of that name', async () => {
    const llm = await service({}, fake('deepseek'))
    expect(await collect(llm.stream(request('deepsek')))).toMatchObject([
      { failure: { code: 'NO_ADAPTER', message: expect.stringContaining('did you mean "deepseek"') } },
    ])
  })

  it('leaves no listener on a signal that outlives many streams', async () => {
    const { signal } = new AbortController()
    let listeners = 0
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    Object.assign(signal, {
      addEventListener: (...args: Parameters<typeof add>) => (listeners++, add(...args)),
      removeEventListener: (...args: Parameters<typeof remove>) => (listeners--, remove(...args)),
    })
    const llm = await service({}, fake('p'))
    for (let n = 0; n < 50; n++) await collect(llm.stream(request('p', signal)))
    expect(listeners).toBe(0)
  })
})
