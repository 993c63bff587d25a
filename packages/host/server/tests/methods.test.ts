import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FINISH, says, startHost, tempFolder, type TestHost } from './host.ts'
import { SseClient } from './sse-client.ts'

let host: TestHost
let folder: Awaited<ReturnType<typeof tempFolder>>

beforeEach(async () => {
  folder = await tempFolder()
  host = await startHost(folder.path, { version: '9.9.9' })
})
afterEach(async () => {
  await host.dispose()
  await folder.remove()
})

describe('the methods', () => {
  it('tell what the host is', async () => {
    const info = await host.value('host.info', {})
    expect(info).toMatchObject({ version: '9.9.9', cwd: folder.path, home: folder.path, problems: [] })
    expect(info.providers.map(({ provider }) => provider)).toEqual(['scripted'])
    expect(info.defaultModel).toEqual({ provider: 'scripted', model: 'one' })
  })

  it('create, list, rename, reopen and delete sessions', async () => {
    const made = await host.value('sessions.create', { cwd: folder.path, model: 'scripted/other' })
    expect(made).toMatchObject({ cwd: folder.path, status: 'idle', model: { provider: 'scripted', model: 'other' } })
    await host.value('sessions.rename', { id: made.id, title: '  My work ' })
    await host.ctx.agents.get(made.id)?.dispose()
    const other = await host.value('sessions.create', {})
    const list = await host.value('sessions.list', {})
    expect(list.map(({ id }) => id).sort()).toEqual([made.id, other.id].sort())
    expect(list.find(({ id }) => id === made.id)?.title).toBe('My work')
    const opened = await host.value('sessions.open', { id: made.id })
    expect(opened).toMatchObject({ id: made.id, title: 'My work', model: { provider: 'scripted', model: 'other' } })
    expect(host.ctx.agents.get(made.id)).toBeDefined()
    await host.value('sessions.delete', { id: made.id })
    expect((await host.value('sessions.list', {})).map(({ id }) => id)).toEqual([other.id])
    expect(host.ctx.agents.get(made.id)).toBeUndefined()
  })

  it('send, queue, withdraw and stop', async () => {
    const { id } = await host.value('sessions.create', {})
    let asked: () => void = () => {}
    const request = new Promise<void>((resolve) => (asked = resolve))
    host.script.push(async function* ({ signal }) {
      yield { type: 'text', text: 'thinking' }
      asked()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      yield { type: 'error', failure: { code: 'ABORTED', message: 'stopped' } }
    })
    await host.value('sessions.send', { id, text: 'work' })
    await request
    expect((await host.value('sessions.list', {}))[0]?.status).toBe('running')
    const queued = await host.value('sessions.send', { id, text: 'later', delivery: 'queue' })
    expect(queued.content).toEqual([{ type: 'text', text: 'later' }])
    expect(await host.value('sessions.withdraw', { id, messageId: queued.id })).toEqual({ withdrawn: true })
    expect(await host.value('sessions.withdraw', { id, messageId: queued.id })).toEqual({ withdrawn: false })
    await host.value('sessions.cancel', { id })
    const agent = host.ctx.agents.get(id)
    await agent?.whenIdle()
    const events = (await agent?.session.read({ from: 0 })) ?? []
    expect(events.at(-1)).toMatchObject({ type: 'turn/end', data: { reason: { kind: 'aborted', cause: 'user' } } })
  })

  it('choose the model of later turns', async () => {
    const { id } = await host.value('sessions.create', {})
    const row = await host.value('sessions.setModel', { id, model: { provider: 'scripted', model: 'two' } })
    expect(row.model).toEqual({ provider: 'scripted', model: 'two' })
    const refused = await host.call('sessions.setModel', { id, model: { provider: 'scriptd', model: 'two' } })
    expect(refused).toMatchObject({ ok: false, error: { code: 'NO_ADAPTER' } })
  })

  it('answer with a code and a sentence for what cannot be done', async () => {
    const { id } = await host.value('sessions.create', {})
    const cases: [string, unknown, string, RegExp][] = [
      ['sessions.open', { id: 'missing' }, 'SESSION_NOT_FOUND', /missing/],
      ['sessions.send', { id: 'missing', text: 'x' }, 'SESSION_NOT_FOUND', /missing/],
      ['sessions.delete', { id: 'missing' }, 'SESSION_NOT_FOUND', /missing/],
      ['sessions.rename', { id: 'missing', title: 'x' }, 'SESSION_NOT_FOUND', /missing/],
      ['sessions.open', {}, 'INVALID_PARAMS', /"id" is missing; it must be a session id/],
      ['sessions.open', { id: '../x' }, 'INVALID_PARAMS', /"id" must be a session id .*, not "\.\.\/x"/],
      ['sessions.open', [], 'INVALID_PARAMS', /must be a JSON object, not \[\]/],
      ['sessions.open', null, 'INVALID_PARAMS', /not null/],
      ['sessions.open', { id, extra: 1 }, 'INVALID_PARAMS', /"extra" is not a parameter; there are id/],
      ['sessions.send', { id, text: ' ' }, 'INVALID_PARAMS', /"text" must be a text that is not empty/],
      [
        'sessions.send',
        { id, text: 'x', delivery: 'inject' },
        'INVALID_PARAMS',
        /"delivery" must be "queue" or "steer"/,
      ],
      ['sessions.rename', { id, title: 'x'.repeat(201) }, 'INVALID_PARAMS', /title of 1 to 200/],
      ['sessions.create', { cwd: 'relative' }, 'INVALID_PARAMS', /absolute path/],
      ['sessions.create', { cwd: join(folder.path, 'gone') }, 'FOLDER_NOT_FOUND', /gone/],
      ['sessions.create', { model: 'nobody/x' }, 'NO_ADAPTER', /nobody/],
      ['providers.configure', { provider: 'scripted', settings: {} }, 'NOT_CONFIGURABLE', /scripted/],
      ['providers.configure', { provider: 'scripted', settings: { apiKey: 5 } }, 'INVALID_PARAMS', /apiKey/],
      ['host.info', { x: 1 }, 'INVALID_PARAMS', /there are none/],
    ]
    for (const [method, params, code, message] of cases) {
      const answer = await host.call(method as 'host.info', params as never)
      expect([method, params, answer]).toMatchObject([method, params, { ok: false, error: { code } }])
      if (!answer.ok) expect(answer.error.message).toMatch(message)
    }
    expect((await host.value('sessions.list', {})).map((row) => row.id)).toEqual([id])
  })

  it('never repeat a key that did not fit', async () => {
    const params = { provider: 'scripted', settings: { apiKey: 'sk-very-secret', oops: true } }
    const answer = await host.call('providers.configure', params)
    expect(JSON.stringify(answer)).not.toContain('sk-very-secret')
  })

  it('hide what nobody foresaw from the page and keep it in the log', async () => {
    host.ctx.llm.register({
      provider: 'broken',
      status: () => ({ provider: 'broken', label: 'Broken', configured: false, models: [], configurable: true }),
      stream: () => says('x'),
      configure: () => Promise.reject(new Error('EACCES: /home/ada/.dsh/keys')),
    })
    const answer = await host.call('providers.configure', { provider: 'broken', settings: { apiKey: 'k' } })
    expect(answer).toEqual({
      ok: false,
      error: { code: 'INTERNAL', message: 'providers.configure failed inside the server; its log has the details.' },
    })
    expect(host.log.join('\n')).toContain('EACCES: /home/ada/.dsh/keys')
  })

  it('list the tools that an agent sees', async () => {
    const { id } = await host.value('sessions.create', {})
    const tool = (name: string) => ({
      name,
      description: name,
      parameters: { type: 'object' as const, properties: {} },
      output: { schema: {}, render: () => [] },
      execute: () => null,
    })
    host.ctx.tools.register(tool('everywhere'))
    host.ctx.agents.get(id)?.ctx.tools.register(tool('mine'))
    expect((await host.value('tools.list', {})).map(({ name }) => name)).toEqual(['everywhere'])
    expect((await host.value('tools.list', { id })).map(({ name }) => name).sort()).toEqual(['everywhere', 'mine'])
  })
})

describe('the stream of the host', () => {
  const follow = () => SseClient.open(`${host.origin}/api/events`, { authorization: `Bearer ${host.token}` })

  it('begins with the info and tells new, changed and removed sessions', async () => {
    const reader = await follow()
    await reader.until(({ host: frames }) => frames[0]?.kind === 'info')
    const { id } = await host.value('sessions.create', {})
    await reader.until(({ host: frames }) =>
      frames.some((frame) => frame.kind === 'session' && frame.session.id === id),
    )
    await host.value('sessions.rename', { id, title: 'New name' })
    await reader.until(({ host: frames }) =>
      frames.some((frame) => frame.kind === 'session' && frame.session.title === 'New name'),
    )
    host.script.push(async function* () {
      yield { type: 'text', text: 'x' }
      yield FINISH
    })
    await host.value('sessions.send', { id, text: 'go' })
    await reader.until(({ host: frames }) =>
      frames.some((frame) => frame.kind === 'session' && frame.session.events > 4 && frame.session.status === 'idle'),
    )
    await host.value('sessions.delete', { id })
    await reader.until(({ host: frames }) => frames.some((frame) => frame.kind === 'removed' && frame.id === id))
    reader.close()
  })

  it('tells sessions that other plugins make, and providers that come and go', async () => {
    const reader = await follow()
    await reader.until(({ host: frames }) => frames.length > 0)
    const agent = await host.ctx.agents.create({ cwd: folder.path })
    await reader.until(({ host: frames }) =>
      frames.some((frame) => frame.kind === 'session' && frame.session.id === agent.id),
    )
    const remove = host.ctx.llm.register({
      provider: 'second',
      status: () => ({ provider: 'second', label: 'Second', configured: true, models: [], configurable: false }),
      stream: () => says('x'),
    })
    const providers =
      (count: number) =>
      ({ host: frames }: SseClient) =>
        frames.some((frame) => frame.kind === 'info' && frame.info.providers.length === count)
    await reader.until(providers(2))
    const before = reader.host.length
    remove()
    await reader.until(({ host: frames }) =>
      frames.slice(before).some((frame) => frame.kind === 'info' && frame.info.providers.length === 1),
    )
    reader.close()
  })
})
