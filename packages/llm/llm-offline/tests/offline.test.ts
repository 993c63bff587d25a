import { Context } from '@deepseek-ai/cordis'
import Llm, { type LlmChunk, type LlmMessage, type LlmRequest } from '@deepseek-ai/dsh-llm'
import type { JsonSchema, ToolSchema } from '@deepseek-ai/dsh-tools'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as offline from '../src/index.ts'
import { reply } from '../src/reply.ts'

function tool(name: string, properties: { [key: string]: JsonSchema }, required = Object.keys(properties)): ToolSchema {
  return { name, description: name, parameters: { type: 'object', properties, required, additionalProperties: true } }
}

const text: JsonSchema = { type: 'string' }
const greet = tool('greet', { name: text })
const bash = tool('bash', { command: text, description: text, timeoutMs: { type: 'integer' } }, [
  'command',
  'description',
])
const add = tool('add', { a: { type: 'number' }, b: { type: 'number' } })
const mixed = tool(
  'mixed',
  {
    title: text,
    count: { type: 'integer' },
    on: { type: 'boolean' },
    tags: { type: 'array', items: text },
    data: { type: 'object', additionalProperties: true },
    any: {},
  },
  ['title'],
)
const wait = tool('wait', { seconds: { type: 'integer' } })
const TOOLS = [greet, bash, add, mixed, wait]

function user(content: string): LlmMessage {
  return { role: 'user', content: [{ type: 'text', text: content }] }
}

function requestOf(messages: LlmMessage[], tools = TOOLS, signal = new AbortController().signal): LlmRequest {
  return { provider: 'offline', model: 'offline', system: '', tools, messages, signal }
}

async function host(config: offline.OfflineConfig = {}) {
  const root = new Context()
  await root.plugin(Llm)
  await root.plugin(offline, config)
  return root.llm
}

async function ask(messages: LlmMessage[], tools = TOOLS) {
  const llm = await host()
  const chunks: LlmChunk[] = []
  for await (const chunk of llm.stream(requestOf(messages, tools))) chunks.push(chunk)
  return assemble(chunks)
}

function assemble(chunks: LlmChunk[]) {
  let said = ''
  const calls: { id: string; name: string; arguments: string }[] = []
  for (const chunk of chunks) {
    if (chunk.type === 'text') said += chunk.text
    if (chunk.type !== 'tool-call') continue
    calls[chunk.index] ??= { id: chunk.id ?? '', name: chunk.name ?? '', arguments: '' }
    const call = calls[chunk.index]
    if (call !== undefined) call.arguments += chunk.argumentsDelta
  }
  return {
    text: said,
    calls: calls.map((call) => [call.name, JSON.parse(call.arguments)]),
    ids: calls.map((call) => call.id),
    chunks,
  }
}

describe('commands', () => {
  it.each([
    ['/greet {"name":"Ada"}', [['greet', { name: 'Ada' }]]],
    ['/greet {\n  "name": "}/x {"\n}', [['greet', { name: '}/x {' }]]],
    ['/greet name=Ada', [['greet', { name: 'Ada' }]]],
    ['/greet name="Ada \\"L\\" Lovelace"', [['greet', { name: 'Ada "L" Lovelace' }]]],
    ["/greet name='it\\'s'", [['greet', { name: "it's" }]]],
    ['/greet Ada Lovelace', [['greet', { name: 'Ada Lovelace' }]]],
    ['/bash echo hi; exit 3', [['bash', { command: 'echo hi; exit 3', description: 'echo hi; exit 3' }]]],
    ['/bash FOO=1 env', [['bash', { command: 'FOO=1 env', description: 'FOO=1 env' }]]],
    ['/bash command="ls -la" timeoutMs=500', [['bash', { command: 'ls -la', timeoutMs: 500, description: 'ls -la' }]]],
    [
      '/mixed title=5 count=3 on=true tags=a,b data={"x":[1, 2]} any=7',
      [['mixed', { title: '5', count: 3, on: true, tags: ['a', 'b'], data: { x: [1, 2] }, any: 7 }]],
    ],
    ['/mixed title=x any="7" tags=["a","b c"]', [['mixed', { title: 'x', any: '7', tags: ['a', 'b c'] }]]],
    [
      '/greet name=Ada\n/greet name=Bob',
      [
        ['greet', { name: 'Ada' }],
        ['greet', { name: 'Bob' }],
      ],
    ],
    ['please do this:\n/greet name=Ada', [['greet', { name: 'Ada' }]]],
  ])('reads %s', async (message, calls) => {
    expect((await ask([user(message)])).calls).toEqual(calls)
  })

  it.each([
    ['/gret name=Ada', 'There is no tool "gret". Did you mean /greet?'],
    ['/greet', 'I could not find "name" (string) for the greet tool in your message. Try: `/greet name="…"`'],
    ['/greet {"name":', 'The arguments of /greet are not JSON'],
    ['/greet {"name":"Ada"} twice', 'I cannot read "twice" after the arguments of /greet.'],
    ['/add a=one b=2', '"a" of the add tool must be a number, got "one"'],
    ['/wait seconds=1.5', 'must be a whole number'],
    ['/mixed title=x on=maybe', 'must be true or false'],
    ['/greet name=A name=B', '"name" of /greet is given twice.'],
    ['/greet name="Ada', 'The quoted value of "name" of /greet does not end.'],
    ['/greet name=Ada\n/nope', 'There is no tool "nope"'],
  ])('says what is wrong with %j and calls nothing', async (message, problem) => {
    const answer = await ask([user(message)])
    expect(answer.text).toContain(problem)
    expect(answer.calls).toEqual([])
  })

  it('leaves paths alone', async () => {
    expect((await ask([user('/etc/hosts is what?')])).text).toContain('built-in offline model')
  })

  // Straight at the pure function: a host for each of hundreds of runs would test the host.
  const callsFor = (message: string) =>
    reply(requestOf([user(message)])).calls.map((call): unknown[] => [call.name, JSON.parse(call.arguments)])

  it('reads back any string that JSON can quote', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (value) => {
        expect(callsFor(`/greet name=${JSON.stringify(value)}`)).toEqual([['greet', { name: value }]])
        expect(callsFor(`/greet ${JSON.stringify({ name: value }, null, 2)}`)).toEqual([['greet', { name: value }]])
      }),
    )
  })

  it('reads back typed pairs', () => {
    const pairs = fc.record({ title: fc.string(), count: fc.integer(), on: fc.boolean(), tags: fc.array(fc.string()) })
    fc.assert(
      fc.property(pairs, (value) => {
        const written = Object.entries(value).map(([key, each]) => `${key}=${JSON.stringify(each)}`)
        expect(callsFor(`/mixed ${written.join(' ')}`)).toEqual([['mixed', value]])
      }),
    )
  })

  it('answers whatever is written with text or with calls whose arguments are JSON', () => {
    const part = fc.constantFrom(
      '/greet',
      '/add',
      ' ',
      '\n',
      '"',
      "'",
      '{',
      '}',
      '[',
      'name=',
      'a=1',
      '\\',
      '\uE0000\uE000',
      'use the greet tool',
      ' to ',
      '\ud800',
      'name: ',
      '`',
      'and the add tool',
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(part, fc.string()), { maxLength: 12 }), (parts) => {
        const answer = reply(requestOf([user(parts.join(''))]))
        for (const call of answer.calls) expect(() => JSON.parse(call.arguments) as unknown).not.toThrow()
        expect(answer.text !== '' || answer.calls.length > 0).toBe(true)
      }),
      { numRuns: 500 },
    )
  })
})

describe('sentences', () => {
  it.each([
    ['Use the greet tool to greet Ada.', [['greet', { name: 'Ada' }]]],
    ['use greet to greet Ada Lovelace', [['greet', { name: 'Ada Lovelace' }]]],
    ['Please use the `greet` tool with name "Ada B".', [['greet', { name: 'Ada B' }]]],
    ['call greet with name: Ada', [['greet', { name: 'Ada' }]]],
    ['Call greet with Ada', [['greet', { name: 'Ada' }]]],
    ['use the greet tool on "Grace Hopper" please', [['greet', { name: 'Grace Hopper' }]]],
    ['Greet Ada with the greet tool.', [['greet', { name: 'Ada' }]]],
    ['Can you use the greet tool to say hello to Ada?', [['greet', { name: 'Ada' }]]],
    ['Use the greet tool {"name": "Ada"}', [['greet', { name: 'Ada' }]]],
    ['use the add tool with a=1 and b = 2', [['add', { a: 1, b: 2 }]]],
    ['use the wait tool for 3 seconds', [['wait', { seconds: 3 }]]],
    [
      'Use the bash tool to run `echo hi`.',
      [['bash', { command: 'echo hi', description: 'Use the bash tool to run `echo hi`.' }]],
    ],
    [
      'use the bash tool to run ls -la and the greet tool to greet Ada',
      [
        ['bash', { command: 'ls -la', description: 'use the bash tool to run ls -la and the greet tool to greet Ada' }],
        ['greet', { name: 'Ada' }],
      ],
    ],
  ])('reads %s', async (message, calls) => {
    expect((await ask([user(message)])).calls).toEqual(calls)
  })

  it.each([
    'hello',
    'How do I use the greet tool?',
    "Don't use the greet tool to greet Ada.",
    'The greet tool is nice',
    'what does "use the greet tool to greet Ada" do?',
  ])('calls nothing for %s', async (message) => {
    const answer = await ask([user(message)])
    expect(answer.calls).toEqual([])
    expect(answer.text).toContain('built-in offline model')
  })

  it('does not invent a command or a value', async () => {
    expect((await ask([user('use the bash tool to list the files')])).text).toContain(
      'I could not find "command" (string)',
    )
    expect((await ask([user('use the add tool with a=1')])).text).toContain('"b" (number)')
  })

  it('names the nearest tool for one that is not there', async () => {
    expect((await ask([user('Use the gret tool to greet Ada.')])).text).toContain('Did you mean /greet?')
  })
})

describe('the conversation', () => {
  const call: LlmMessage = {
    role: 'assistant',
    content: [{ type: 'tool-call', id: 'offline-1', name: 'greet', arguments: '{"name":"Ada"}' }],
  }
  const result = (content: string, isError = false, callId = 'offline-1'): LlmMessage => ({
    role: 'tool',
    callId,
    content: content === '' ? [] : [{ type: 'text', text: content }],
    isError,
  })
  const asked = user('Use the greet tool to greet Ada.')

  it('answers with the result, with or without context behind it', async () => {
    expect((await ask([asked, call, result('Hello, Ada!')])).text).toBe('Hello, Ada!')
    const context = user('<context>\nuse the greet tool to greet Bob\n</context>')
    const answer = await ask([asked, call, result('Hello, Ada!'), context])
    expect(answer).toMatchObject({ text: 'Hello, Ada!', calls: [] })
    expect((await ask([asked, context])).calls).toEqual([['greet', { name: 'Ada' }]])
  })

  it('says what failed and what printed nothing', async () => {
    expect((await ask([asked, call, result('boom', true)])).text).toBe('The greet tool failed: boom')
    expect((await ask([asked, call, result('')])).text).toBe('The greet tool finished and printed nothing.')
  })

  it('puts a result of several lines into a code block, and leaves one line as it is', async () => {
    const told = async (...results: LlmMessage[]) => (await ask([asked, call, ...results])).text
    expect(await told(result('one\n  two\n'))).toBe('The greet tool returned:\n\n```\none\n  two\n```')
    expect(await told(result('hi\n'))).toBe('hi')
    expect(await told(result('a\n```js\nb\n```'))).toBe('The greet tool returned:\n\n````\na\n```js\nb\n```\n````')
    expect(await told(result('no\nluck', true))).toBe('The greet tool failed:\n\n```\nno\nluck\n```')
    expect(await told(result('x'), result('y\nz'))).toBe('greet: x\n\nThe greet tool returned:\n\n```\ny\nz\n```')
  })

  it('never repeats a call because a plain message stands behind its result', async () => {
    const answer = await ask([asked, call, result('Hello, Ada!'), user('use the greet tool to greet Ada')])
    expect(answer.calls).toEqual([])
    const twice = [asked, call, result('boom', true), asked, call, result('boom', true), asked]
    expect((await ask(twice)).calls).toEqual([])
  })

  it('does what is asked after a turn that was stopped in the middle of a call', async () => {
    const stopped = [asked, call, result('The call was cancelled.', true)]
    const other = await ask([...stopped, user('use the greet tool to greet Bob')])
    expect(other.calls).toEqual([['greet', { name: 'Bob' }]])
    expect(other.text).toBe('')
    expect((await ask([...stopped, asked])).calls).toEqual([['greet', { name: 'Ada' }]])
  })

  it('does not come back to a turn that was stopped or failed when something else is said', async () => {
    const stopped = [asked, call, result('The call was cancelled.', true)]
    const hello = await ask([...stopped, user('hello')])
    expect(hello).toEqual(await ask([user('hello')]))
    const context = user('<context>\nnow\n</context>')
    expect((await ask([...stopped, context, user('/greet Bob'), context])).calls).toEqual([['greet', { name: 'Bob' }]])
    const next = result('Hello, Bob!', false, 'offline-2')
    const second: LlmMessage = {
      role: 'assistant',
      content: [{ type: 'tool-call', id: 'offline-2', name: 'greet', arguments: '{"name":"Bob"}' }],
    }
    expect((await ask([...stopped, user('/greet Bob'), second, next, context])).text).toBe('Hello, Bob!')
    expect((await ask([asked, call, result('Hello, Ada!'), user('use the greet tool to greet Ada')])).text).toBe(
      'Hello, Ada!',
    )
  })

  it('gives new calls ids that the conversation does not have', async () => {
    const done: LlmMessage = { role: 'assistant', content: [{ type: 'text', text: 'Hello, Ada!' }] }
    const answer = await ask([asked, call, result('Hello, Ada!'), done, user('/greet Bob\n/greet Eve')])
    expect(answer.ids).toEqual(['offline-2', 'offline-3'])
  })

  it('says the same for the same request', async () => {
    expect((await ask([asked])).chunks).toEqual((await ask([asked])).chunks)
  })

  it('tells what it is, lists eight tools and how to set a key', async () => {
    const many = Array.from({ length: 12 }, (_, index) => tool(`tool${index}`, { x: text }))
    const { text: said } = await ask([user('hi')], many)
    expect(said).toContain('`/tool7 x="…"`')
    expect(said).not.toContain('tool8')
    expect(said).toContain('and 4 more')
    expect(said).toMatch(/Settings.*DEEPSEEK_API_KEY or OPENAI_API_KEY/)
    expect((await ask([user('hi')], [])).text).toContain('no tools yet')
  })

  it('shortens a huge result without cutting a character in half', async () => {
    const { text: said } = await ask([asked, call, result(`a${'😀'.repeat(8000)}`)])
    expect(said.length).toBeLessThan(8200)
    expect(said).toContain('more characters')
    expect(said).not.toMatch(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/)
  })
})

describe('the provider', () => {
  it('is the default only when nothing else is ready', async () => {
    expect((await host()).resolve()).toEqual({ provider: 'offline', model: 'offline' })
  })

  it('stops at once when cancelled', async () => {
    const llm = await host({ delayMs: 60_000 })
    const controller = new AbortController()
    setImmediate(() => controller.abort())
    const chunks: LlmChunk[] = []
    for await (const chunk of llm.stream(requestOf([user('hi')], TOOLS, controller.signal))) chunks.push(chunk)
    expect(chunks).toMatchObject([{ type: 'error', failure: { code: 'ABORTED' } }])
  })

  it('has one model', async () => {
    const llm = await host()
    const chunks: LlmChunk[] = []
    for await (const chunk of llm.stream({ ...requestOf([user('hi')]), model: 'big' })) chunks.push(chunk)
    expect(chunks).toMatchObject([{ failure: { code: 'UNKNOWN_MODEL' } }])
  })

  it('refuses a config it does not understand', async () => {
    const root = new Context()
    await root.plugin(Llm)
    await expect(root.plugin(offline, { delayMs: -1 })).rejects.toThrow(/"delayMs" must be between 0 and 60000, got -1/)
  })
})
