// `dsh web` as a process: when it prints its address, what it takes at rest, and how it ends.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { residentMiB, Waiting, World } from './harness.ts'

let world: World
beforeAll(() => {
  world = new World()
})
afterAll(() => world.remove())

it('prints one line with its address once everything is up, and rests within its memory', async () => {
  const began = performance.now()
  const served = await world.serve()
  const response = await fetch(served.url.origin)
  const ms = performance.now() - began
  expect(response.status).toBe(200)
  expect(await response.text()).toContain('<!doctype html>')
  expect(served.run.stdout).toBe(`dsh web: ${served.url.href}\n`)
  expect(served.url.hostname).toBe('127.0.0.1')
  // Up means up: the whole composition, not the socket alone.
  const { problems, defaultModel } = await served.call('host.info', {})
  expect({ problems, defaultModel }).toEqual({ problems: [], defaultModel: { provider: 'offline', model: 'offline' } })
  const tools = (await served.call('tools.list', {})).map(({ name }) => name)
  expect(tools).toEqual(expect.arrayContaining(['bash', 'job_output', 'terminal_open']))
  const rss = residentMiB(served.run.pid)
  console.log(`dsh web: ${Math.round(ms)} ms from spawn to HTTP 200, ${Math.round(rss)} MiB at rest`)
  expect(rss).toBeLessThan(120)
  expect(ms).toBeLessThan(3000)
  await served.stop()
})

it('exchanges the token of its address for a cookie, and answers nobody without one', async () => {
  const served = await world.serve()
  const info = (headers: Record<string, string>) =>
    fetch(new URL('/api/host.info', served.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: '{}',
    })
  expect((await info({})).status).toBe(401)
  const exchanged = await fetch(served.url, { redirect: 'manual' })
  expect([exchanged.status, exchanged.headers.get('location')]).toEqual([302, '/'])
  const cookie = exchanged.headers.get('set-cookie')!
  expect(cookie).toMatch(/HttpOnly.*SameSite=Strict/)
  expect((await info({ cookie: cookie.split(';').at(0)! })).status).toBe(200)
  expect((await info({ cookie: cookie.split(';').at(0)!, origin: 'http://evil.example' })).status).toBe(403)
  await served.stop()
})

it.each(['SIGTERM', 'SIGINT'] as const)(
  'ends within a second of %s in the middle of a call, its children gone',
  async (signal) => {
    const served = await world.serve()
    const { id } = await served.call('sessions.create', {})
    const reader = await served.events(id)
    const waiting = new Waiting(world)
    const args = JSON.stringify({ command: waiting.command, description: 'Wait' })
    await served.call('sessions.send', { id, text: `/bash ${args}` })
    await waiting.started()
    const began = performance.now()
    const { code, stderr } = await served.stop(signal)
    const ms = performance.now() - began
    expect({ code, stderr }).toEqual({ code: signal === 'SIGTERM' ? 143 : 130, stderr: '' })
    expect(waiting.running()).toBe(false)
    expect(ms).toBeLessThan(1000)
    // An open tab does not keep the server up.
    await expect(reader.until(() => false)).rejects.toThrow('the stream ended first')

    const again = await world.serve()
    expect((await again.call('sessions.list', {}))[0]).toMatchObject({ id, interrupted: false })
    const log = await again.ask(id, 'Use the bash tool to run `echo on`', 2)
    expect(log.of('turn/end').at(0)!.data.reason).toMatchObject({ kind: 'aborted' })
    expect(log.of('tool/result').map(({ data }) => data.isError)).toEqual([true, false])
    await again.stop()
  },
)
