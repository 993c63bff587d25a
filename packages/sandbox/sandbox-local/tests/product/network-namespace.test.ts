// The namespace of a session: what its calls share, what they cannot reach, and what is left of it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { SessionNetwork } from '../../src/network/index.ts'
import { findPrograms } from '../../src/network/programs.ts'
import { missing, node, run, serve, session, start } from './network-world.ts'

const open: { dispose(): Promise<void> }[] = []
const opened = <Network extends SessionNetwork>(network: Network): Network => {
  open.push(network)
  return network
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((network) => network.dispose()))
})

const FETCH = (url: string) => `fetch(${JSON.stringify(url)}).then((r) => r.text()).then(console.log, (e) => {
  console.log('failed', e.cause?.code ?? e.message)
})`

const namespacesHeld = (): string[] =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`)
      return /^(net|user):/.test(target) ? [target] : []
    } catch {
      // The descriptor of the listing itself.
      return []
    }
  })

describe.skipIf(missing !== '')(`a session's namespace${missing && ` (needs ${missing})`}`, () => {
  it('lets a server of one call answer the next, and nobody else', async () => {
    const [own, other] = [opened(session('none')), opened(session('none'))]
    const [prepared, foreign] = [await own.prepare(), await other.prepare()]
    const script = `require('http').createServer((q, s) => s.end('served')).listen(8123, '127.0.0.1', () => console.log('up'))`
    const server = start(prepared, [process.execPath, '-e', script])
    try {
      await once(server.stdout as NodeJS.ReadableStream, 'data')
      expect((await node(prepared, FETCH('http://127.0.0.1:8123/'))).stdout).toBe('served\n')
      expect((await node(foreign, FETCH('http://127.0.0.1:8123/'))).stdout).toBe('failed ECONNREFUSED\n')
      await expect(fetch('http://127.0.0.1:8123/')).rejects.toThrow()
    } finally {
      server.kill('SIGKILL')
      await once(server, 'close')
    }
  })

  it.each(['none', 'allowlist'] as const)('reaches neither host, network nor resolver in %s', async (kind) => {
    const host = await serve((_request, response) => response.end('host'))
    try {
      const prepared = await opened(session(kind, ['allowed.test'])).prepare()
      expect((await run(prepared, 'cat', '/proc/net/dev')).stdout.trim().split('\n').slice(2)).toEqual([
        expect.stringMatching(/^\s*lo:/),
      ])
      expect((await node(prepared, FETCH(`http://127.0.0.1:${host.port}/`))).stdout).toBe('failed ECONNREFUSED\n')
      expect((await node(prepared, FETCH('http://1.1.1.1/'))).stdout).toBe('failed ENETUNREACH\n')
      expect((await node(prepared, FETCH('http://example.com/'))).stdout).toMatch(/^failed (EAI_AGAIN|ENOTFOUND)\n$/)
      expect((await run(prepared, 'grep', '-E', 'CapEff|CapPrm', '/proc/self/status')).stdout).toBe(
        'CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n',
      )
    } finally {
      await host.close()
    }
  })

  it('is made once for callers that ask at the same time', async () => {
    const network = opened(session('allowlist'))
    const [first, second] = await Promise.all([network.prepare(), network.prepare()])
    expect(second).toBe(first)
    expect(namespacesHeld()).toHaveLength(2)
  })

  it('says nothing of proxies where there is none', async () => {
    expect((await opened(session('none')).prepare()).env).toEqual({})
  })

  it('runs a command that outlives dispose() on, cut off from the proxy', async () => {
    const host = await serve((_request, response) => response.end('host'))
    const network = opened(session('allowlist', [`allowed.test:${host.port}`]))
    const prepared = await network.prepare()
    const script = `process.on('SIGUSR1', () => {}); setInterval(() => {}, 1000); console.log('up')
      const tick = () => require('http').get('http://127.0.0.1:3128/').on('error', (e) => console.log(e.code))
        .on('response', () => setTimeout(tick, 20)); tick()`
    const child = start(prepared, [process.execPath, '-e', script])
    let said = ''
    child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()))
    await vi.waitFor(() => expect(said).toBe('up\n'), { timeout: 10_000 })
    await network.dispose()
    await vi.waitFor(() => expect(said).toMatch(/^up\n(ECONNREFUSED|ECONNRESET)\n$/), { timeout: 10_000 })
    child.kill('SIGKILL')
    await once(child, 'close')
    await host.close()
    await expect(network.prepare()).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
  })

  it('leaves no descriptor, handle, child or namespace over 100 sessions', async () => {
    const cycle = async (index: number): Promise<void> => {
      const network = session(index % 4 === 0 ? 'allowlist' : 'none', ['allowed.test'])
      if (index % 10 === 9) void network.prepare().catch(() => {})
      else expect((await network.prepare()).unshareNet).toBe(false)
      await network.dispose()
      await network.dispose()
    }
    const held = () => ({
      descriptors: readdirSync('/proc/self/fd').length,
      namespaces: namespacesHeld(),
      resources: process
        .getActiveResourcesInfo()
        .filter((name) => name.endsWith('Wrap'))
        .toSorted(),
    })
    await cycle(0)
    const quiet = () => vi.waitFor(() => expect(held().resources).not.toContain('ProcessWrap'), { timeout: 10_000 })
    await quiet()
    const before = held()
    expect(before.namespaces).toEqual([])
    for (let index = 0; index < 100; index++) await cycle(index)
    await quiet()
    expect(held()).toEqual(before)
  })

  it('ends with a host that is killed', async () => {
    const root = fileURLToPath(new URL('../../../../../', import.meta.url))
    const script = `
      const { createViteServer } = await import('vitest/node')
      const conditions = ['@deepseek-ai/source', 'module', 'node', 'import', 'default']
      const resolve = { conditions }
      const vite = await createViteServer({ configFile: false, logLevel: 'silent', appType: 'custom', resolve,
        server: { middlewareMode: true, ws: false, watch: null, hmr: false },
        ssr: { resolve: { conditions, externalConditions: conditions }, noExternal: [/@deepseek-ai/] } })
      const path = '/packages/sandbox/sandbox-local/src/network/index.ts'
      const { SessionNetwork } = await vite.ssrLoadModule(path)
      const network = new SessionNetwork({ sessionId: 's', network: 'allowlist', allowedHosts: [] })
      const { argvPrefix } = await network.prepare()
      const { spawn } = await import('node:child_process')
      const [file, ...args] = [...argvPrefix, ${JSON.stringify(findPrograms().bwrap)}, '--unshare-pid', '--unshare-user',
        '--die-with-parent', '--dev-bind', '/', '/', '--', 'sh', '-c', 'readlink /proc/self/ns/net; sleep 600']
      spawn(file, args, { stdio: ['ignore', 'inherit', 'inherit'] })
      setInterval(() => {}, 1000)`
    const host = spawn(process.execPath, ['--input-type=module', '-e', script], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let [said, complained] = ['', '']
    host.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
    host.stderr.on('data', (chunk: Buffer) => (complained += chunk.toString()))
    await vi.waitFor(() => expect(said, complained).toMatch(/^net:\[\d+\]\n$/), { timeout: 30_000 })
    expect(processesIn(said.trim()).length).toBeGreaterThan(0)
    host.kill('SIGKILL')
    await once(host, 'exit')
    await vi.waitFor(() => expect(processesIn(said.trim())).toEqual([]), { timeout: 10_000 })
  })
})

const processesIn = (namespace: string): string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/ns/net`) === namespace
    } catch {
      // Ended meanwhile, or another user's.
      return false
    }
  })

describe('a machine that cannot share a namespace', () => {
  const programs = findPrograms()

  it.each([
    ['nsenter is missing', { bwrap: programs.bwrap ?? '/usr/bin/bwrap' }, /Install util-linux/],
    ['bwrap is missing', { nsenter: '/usr/bin/nsenter' }, /Install bubblewrap/],
    ['bwrap fails', { bwrap: '/bin/false', nsenter: '/usr/bin/nsenter' }, /ended with 1/],
  ])('gives each call its own where %s, and refuses an allowlist with the remedy', async (_title, found, remedy) => {
    expect(await opened(session('none', [], { programs: found })).prepare()).toEqual({
      argvPrefix: [],
      env: {},
      unshareNet: true,
    })
    const refused = opened(session('allowlist', ['allowed.test'], { programs: found })).prepare()
    await expect(refused).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE', message: expect.stringMatching(remedy) })
    expect(namespacesHeld()).toEqual([])
  })

  it.skipIf(missing !== '')(
    'notices that namespaces can be made but not entered, and tries anew at the next call',
    async () => {
      const network = opened(session('allowlist', [], { programs: { bwrap: programs.bwrap, nsenter: '/bin/false' } }))
      await expect(network.prepare()).rejects.toThrow(/false ended with 1/)
      await expect(network.prepare()).rejects.toThrow(/false ended with 1/)
      expect(namespacesHeld()).toEqual([])
    },
  )
})
