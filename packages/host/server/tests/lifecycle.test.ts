import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Server } from '../src/index.ts'
import { startHost, startServices, tempFolder } from './host.ts'
import { SseClient } from './sse-client.ts'

let folder: Awaited<ReturnType<typeof tempFolder>>
beforeEach(async () => {
  folder = await tempFolder()
})
afterEach(() => folder.remove())

describe('the server', () => {
  it('names the port and the remedy when the port is in use, and leaves the rest of the host working', async () => {
    const taken = createServer()
    const port = await new Promise<number>((resolve) => {
      taken.listen(0, '127.0.0.1', () => resolve((taken.address() as { port: number }).port))
    })
    const host = await startServices(folder.path)
    await expect(Promise.resolve(host.ctx.plugin(Server, { port }))).rejects.toMatchObject({
      code: 'PORT_IN_USE',
      message: expect.stringMatching(new RegExp(`port ${port} .*--port 0`)) as unknown,
    })
    const agent = await host.ctx.agents.create({ cwd: folder.path })
    agent.send('hello')
    await agent.whenIdle()
    expect(agent.session.messages().at(-1)?.role).toBe('assistant')
    await host.dispose()
    await new Promise((resolve) => taken.close(resolve))
  })

  it('refuses addresses that others could reach, and other bad settings by name', async () => {
    const bad: [Record<string, unknown>, string][] = [
      [{ host: '0.0.0.0' }, '"host" of the server must be a loopback name'],
      [{ host: '::' }, '"host"'],
      [{ host: 'example.com' }, '"host"'],
      [{ port: 70_000 }, '"port" of the server must be a whole number from 0 to 65535, not 70000'],
      [{ port: '3080' }, '"port"'],
      [{ token: 'short' }, '"token"'],
      [{ prot: 3080 }, '"prot" is not a setting of the server'],
    ]
    for (const [config, wanted] of bad) {
      await expect(startHost(join(folder.path, 'c'), config)).rejects.toThrow(wanted)
    }
    await expect(startHost(join(folder.path, 'c'), { token: 'secret but bad' })).rejects.not.toThrow(/secret but bad/)
  })

  it('prints an address that works for the name it listens on', async () => {
    const host = await startHost(folder.path, { host: 'localhost', token: 'a-token-of-my-own' })
    expect(host.server.url).toBe(`http://localhost:${host.server.port}/?token=a-token-of-my-own`)
    const response = await fetch(host.server.url, { redirect: 'manual' })
    expect(response.status).toBe(302)
    await host.dispose()
  })

  it('ends every stream and frees the port when it is disposed, readers that do not read included', async () => {
    const host = await startHost(folder.path)
    const { id } = await host.value('sessions.create', {})
    const headers = { authorization: `Bearer ${host.token}` }
    const session = await SseClient.open(`${host.origin}/api/sessions/${id}/events`, headers)
    const list = await SseClient.open(`${host.origin}/api/events`, headers)
    const deaf = await SseClient.open(`${host.origin}/api/sessions/${id}/events`, headers)
    deaf.pause()
    const live = host.ctx.sessions.get(id)
    for (let count = 0; count < 64; count++) live?.append('session/notice', { code: 'X', message: 'x'.repeat(100_000) })
    await session.until((client) => client.seqs.length >= 64)
    const { port } = host.server
    const started = performance.now()
    await host.dispose()
    expect(performance.now() - started).toBeLessThan(2000)
    await Promise.all([session.whenEnded(), list.whenEnded()])
    deaf.close()
    const again = createServer()
    await new Promise<void>((resolve, reject) => again.once('error', reject).listen(port, '127.0.0.1', resolve))
    await new Promise((resolve) => again.close(resolve))
  })

  it('keeps idle streams open with comments', async () => {
    const host = await startHost(folder.path, { heartbeatMs: 10 })
    const list = await SseClient.open(`${host.origin}/api/events`, { authorization: `Bearer ${host.token}` })
    await list.until((client) => client.comments >= 3)
    list.close()
    await host.dispose()
  })
})
