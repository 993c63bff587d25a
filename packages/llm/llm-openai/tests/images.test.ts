// Where the images of a conversation go in a request, by what the model reads. Over real HTTP against the mock server.
import { afterEach, describe, expect, it } from 'vitest'
import Llm, { type LlmMessage, type ModelInput } from '@deepseek-ai/dsh-llm'
import { Context } from '@deepseek-ai/cordis'
import { startMockLlm, type MockLlm } from '../../../testing/llm-mock/src/index.ts'
import { drain } from '../../llm/tests/adapter-contract.ts'
import { openAiAdapter } from '../src/adapter.ts'
import { resolveConfig } from '../src/config.ts'
import * as plugin from '../src/index.ts'
import type { OpenAiConfig } from '../src/index.ts'

const PNG = { type: 'image', mediaType: 'image/png', data: 'AAAA' } as const
const WEBP = { type: 'image', mediaType: 'image/webp', data: 'BBBB' } as const
const url = (type: string, data: string) => ({ type: 'image_url', image_url: { url: `data:${type};base64,${data}` } })

let server: MockLlm | undefined
afterEach(() => server?.close())

async function sent(messages: readonly LlmMessage[], input: ModelInput[] | undefined): Promise<unknown[]> {
  server = await startMockLlm({ script: [{ kind: 'answer', text: 'ok' }] })
  const model = { id: 'm', ...(input === undefined ? {} : { input }) }
  const adapter = openAiAdapter(
    resolveConfig({ provider: 'custom', baseURL: server.url, apiKey: 'k', models: [model] }),
    {},
  )
  const { signal } = new AbortController()
  const chunks = await drain(
    adapter.stream({ provider: 'custom', model: 'm', system: '', tools: [], messages, signal }),
  )
  expect(chunks.at(-1)?.type).toBe('finish')
  return server.requests[0]?.body['messages'] as unknown[]
}

const calls = (...ids: string[]): LlmMessage => ({
  role: 'assistant',
  content: ids.map((id) => ({ type: 'tool-call', id, name: 'read_image', arguments: '{}' })),
})
const answer = (callId: string, ...content: LlmMessage['content'][number][]): LlmMessage =>
  ({ role: 'tool', callId, isError: false, content }) as LlmMessage

describe('a model that reads images', () => {
  it('gets those of tools after all answers of the step, each with its call', async () => {
    const messages = await sent(
      [
        calls('a', 'b'),
        answer('a', { type: 'text', text: 'one' }, PNG),
        answer('b', WEBP),
        { role: 'user', content: [{ type: 'text', text: 'and?' }] },
      ],
      ['text', 'image'],
    )
    expect(messages.slice(1)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'one\n[image/png, 3 bytes] shown below' },
      { role: 'tool', tool_call_id: 'b', content: '[image/webp, 3 bytes] shown below' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'From the call a:' },
          url('image/png', 'AAAA'),
          { type: 'text', text: 'From the call b:' },
          url('image/webp', 'BBBB'),
        ],
      },
      { role: 'user', content: 'and?' },
    ])
  })

  it('gets those of the last answers too, and those in a message of a user in their place', async () => {
    const messages = await sent(
      [
        { role: 'user', content: [{ type: 'text', text: 'this' }, PNG, { type: 'text', text: 'or that' }] },
        calls('a'),
        answer('a', WEBP),
      ],
      ['text', 'image'],
    )
    expect(messages[0]).toEqual({
      role: 'user',
      content: [{ type: 'text', text: 'this' }, url('image/png', 'AAAA'), { type: 'text', text: 'or that' }],
    })
    expect(messages.at(-1)).toEqual({
      role: 'user',
      content: [{ type: 'text', text: 'From the call a:' }, url('image/webp', 'BBBB')],
    })
  })
})

it.each([['is told so'], ['by default']])(
  'a model that reads text alone %s gets a line in place of an image',
  async (how) => {
    const messages = await sent(
      [{ role: 'user', content: [{ type: 'text', text: 'this' }, PNG] }, calls('a'), answer('a', PNG)],
      how === 'by default' ? undefined : ['text'],
    )
    const line = '[image/png, 3 bytes] not shown, since this model reads no images'
    expect(messages[0]).toEqual({ role: 'user', content: `this\n${line}` })
    expect(messages.slice(2)).toEqual([{ role: 'tool', tool_call_id: 'a', content: line }])
  },
)

describe('what a model reads', () => {
  const inputs = async (config: OpenAiConfig, ...models: string[]) => {
    const ctx = new Context()
    await ctx.plugin(Llm)
    await ctx.plugin(plugin, config)
    const read = models.map((model) => ctx.llm.inputOf({ provider: config.provider, model }).join(' '))
    await ctx.fiber.dispose()
    return read
  }

  it('is what it says, else what its provider says, else text', async () => {
    const models = ['plain', { id: 'eyes', input: ['text', 'image'] as ModelInput[] }]
    expect(await inputs({ provider: 'custom', models }, 'plain', 'eyes', 'other')).toEqual([
      'text',
      'text image',
      'text',
    ])
    const all: ModelInput[] = ['text', 'image']
    expect(
      await inputs(
        { provider: 'custom', models: [...models, { id: 'blind', input: ['text'] }], input: all },
        'plain',
        'blind',
        'other',
      ),
    ).toEqual(['text image', 'text', 'text image'])
  })

  it('is known of the models that come with openai and deepseek', async () => {
    expect(await inputs({ provider: 'openai' }, 'gpt-5', 'gpt-5-mini', 'other')).toEqual([
      'text image',
      'text image',
      'text',
    ])
    expect(await inputs({ provider: 'deepseek' }, 'deepseek-v4-flash')).toEqual(['text'])
  })

  it('is checked', () => {
    const issues = (input: unknown) => plugin.Config['~standard'].validate({ provider: 'custom', input })
    expect(issues(['text', 'image'])).not.toHaveProperty('issues')
    for (const wrong of [[], ['image'], ['text', 'sound'], 'text']) {
      expect(JSON.stringify(issues(wrong))).toMatch(/must be a list of .*text.* and .*image/)
    }
  })
})
