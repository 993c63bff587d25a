// Attempts to reach the network, and the sockets of the host.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { join } from 'node:path'
import { EPERM } from './native.ts'
import type { SandboxRow } from './suite.ts'
import { until, type SandboxWorld } from './world.ts'

/** Counts who came. */
const listen = async (
  world: SandboxWorld,
  at: { port: number; host: string } | { path: string },
): Promise<{ server: Server; came: () => number }> => {
  let came = 0
  const server = createServer((socket) => {
    came++
    socket.on('error', () => {})
    socket.end('reached\n')
  })
  server.listen(at)
  await once(server, 'listening')
  world.onRemove(() => new Promise((resolve) => server.close(resolve)))
  return { server, came: () => came }
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port
const fetchBy = (port: number): string => `exec 9<>/dev/tcp/127.0.0.1/${port} && cat <&9`

export const networkRows: readonly SandboxRow[] = [
  {
    title: 'reaches no server on the host’s loopback, which an open network does',
    body: async (world) => {
      const { server, came } = await listen(world, { port: 0, host: '127.0.0.1' })
      const shut = await world.run(fetchBy(portOf(server)))
      assert.notEqual(shut.exitCode, 0)
      assert.equal(came(), 0)
      const open = await world.run(fetchBy(portOf(server)), { policy: { network: 'open' } })
      assert.equal(open.stdout, 'reached\n', open.stderr)
      assert.equal(came(), 1)
    },
  },
  {
    title: 'has no interface but its own loopback, no way out and no names',
    body: async (world) => {
      const ran = await world.run(
        'cat /proc/net/dev; (echo > /dev/tcp/192.0.2.1/80) 2>&1; getent hosts example.com; true',
      )
      const names = [...ran.stdout.matchAll(/^\s*([^:\s|]+):/gm)].map(([, name]) => name)
      assert.deepEqual(
        names.filter((name) => name !== '/bin/bash'),
        ['lo'],
      )
      assert.match(ran.stdout, /unreachable/)
    },
  },
  {
    title: 'shares the loopback among the calls of a session, and with no other session',
    needs: ['node', 'nsenter'],
    body: async (world) => {
      const program =
        'const s=require("net").createServer(c=>c.end("served\\n")).listen(3999,"127.0.0.1",()=>console.log("up"))'
      await world.run(`exec node -e '${program}'`, {
        env: { PATH: `${join(process.execPath, '..')}:/usr/bin:/bin` },
        during: async ({ child, stdout }) => {
          await until(() => stdout().includes('up'))
          assert.equal((await world.run(fetchBy(3999))).stdout, 'served\n')
          assert.notEqual((await world.run(fetchBy(3999), { policy: { sessionId: 'two' } })).exitCode, 0)
          child.kill('SIGKILL')
        },
      })
    },
  },
  {
    title: 'connects to no socket of the host, by path or by abstract name',
    needs: ['gcc'],
    body: async (world) => {
      const path = join(world.ws, 'host.sock')
      const name = `dsh-abstract-${process.pid}`
      const byPath = await listen(world, { path })
      const byName = await listen(world, { path: `\0${name}` })
      const native = world.native()
      for (const network of ['none', 'open'] as const) {
        const ran = await world.run(`${native} unix ${path}; ${native} abstract ${name}`, { policy: { network } })
        assert.equal(ran.stdout, EPERM + EPERM)
      }
      assert.deepEqual([byPath.came(), byName.came()], [0, 0])
    },
  },
  {
    title: 'sends nothing to a socket of the host by an end of a datagram pair',
    needs: ['gcc'],
    body: async (world) => {
      const path = join(world.ws, 'datagrams')
      const native = world.native()
      const receiver = world.spawn(native, ['receive', path])
      let got = ''
      receiver.stdout?.on('data', (chunk: Buffer) => (got += chunk.toString()))
      await until(() => got.includes('ready'))
      assert.equal((await world.run(`${native} datagram ${path}`)).stdout, EPERM)
      assert.equal(got, 'ready\n')
    },
  },
  {
    title: 'lets Unix sockets be used where the policy says so',
    needs: ['gcc'],
    body: async (world) => {
      const path = join(world.ws, 'own.sock')
      const { came } = await listen(world, { path })
      const ran = await world.run(`${world.native()} unix ${path}`, { policy: { unixSockets: true } })
      assert.equal(ran.stdout, '0\n')
      await until(() => came() === 1)
    },
  },
  {
    title: 'cuts the network of a command that may otherwise do everything',
    body: async (world) => {
      const { server, came } = await listen(world, { port: 0, host: '127.0.0.1' })
      const policy = { mode: 'danger-full-access', network: 'none' } as const
      const ran = await world.run(`echo out > ${world.outside}/canary; ${fetchBy(portOf(server))}`, { policy })
      assert.notEqual(ran.exitCode, 0)
      assert.equal(came(), 0)
      assert.equal(world.read(join(world.outside, 'canary')), 'out\n')
    },
  },
]
