// What the network tests share: running a program in a session's network, and servers that stand in for hosts.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { findPrograms } from '../../src/network/programs.ts'
import { SessionNetwork, type PreparedNetwork, type SessionNetworkOptions } from '../../src/network/index.ts'

const { bwrap, nsenter } = findPrograms()

/** Why these tests cannot run here, if they cannot. */
export const missing = [bwrap ? [] : ['bwrap'], nsenter ? [] : ['nsenter']].flat().join(' and ')

export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export const start = (prepared: PreparedNetwork, argv: readonly string[]): ChildProcess => {
  const net = prepared.unshareNet ? ['--unshare-net'] : []
  const confine = [
    '--unshare-user',
    '--unshare-pid',
    '--die-with-parent',
    '--cap-drop',
    'ALL',
    '--disable-userns',
    ...net,
  ]
  const files = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--']
  const [file, ...args] = [...prepared.argvPrefix, bwrap as string, ...confine, ...files, ...argv] as [
    string,
    ...string[],
  ]
  return spawn(file, args, {
    env: { PATH: process.env.PATH ?? '', ...prepared.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

export const run = async (prepared: PreparedNetwork, ...argv: string[]): Promise<Outcome> => {
  const child = start(prepared, argv)
  const text = { stdout: '', stderr: '' }
  child.stdout?.setEncoding('latin1').on('data', (chunk: string) => (text.stdout += chunk))
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (text.stderr += chunk))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, ...text }
}

export const node = (prepared: PreparedNetwork, script: string): Promise<Outcome> =>
  run(prepared, process.execPath, '-e', script)

export interface Host {
  readonly port: number
  readonly server: Server
  close(): Promise<void>
}

export const serve = async (listener: RequestListener): Promise<Host> => {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { port: (server.address() as AddressInfo).port, server, close }
}

/** A session whose resolver knows `*.test` as this machine, which its rule for addresses lets pass; everything else is real. */
export const session = (
  network: 'none' | 'allowlist',
  allowedHosts: readonly string[] = [],
  more: Partial<SessionNetworkOptions> = {},
): SessionNetwork =>
  new SessionNetwork({
    sessionId: 'tested',
    network,
    allowedHosts,
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    isPublic: (address) => address === '127.0.0.1',
    ...more,
  })
