// Makes a network namespace, holds it by descriptors, and listens in it. What runs inside, and what the listener serves, is not known here.
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { Server } from 'node:net'
import type { NetworkPrograms } from './programs.ts'

export interface NetworkNamespace {
  /** In front of an argv it makes the program run in the namespace. Valid until `close()`. */
  readonly prefix: readonly string[]
  /** A server whose socket lives in the namespace, on its 127.0.0.1, and whose connections arrive here. */
  listen(port: number): Promise<Server>
  /** Lets go. The namespace itself ends with the last process in it. Idempotent. */
  close(): void
}

/** Making a namespace takes some 10 ms and starting Node some 50; anything near this means that the machine is stuck. */
const DEADLINE_MS = 15_000

/** Rejects with a plain error that says what is missing or what the programs said. */
export const openNamespace = async ({ bwrap, nsenter }: NetworkPrograms): Promise<NetworkNamespace> => {
  if (bwrap === undefined) throw new Error('bwrap was not found. Install bubblewrap.')
  if (nsenter === undefined) throw new Error('nsenter was not found. Install util-linux.')
  const held = await holdNamespaces(bwrap)
  // A descriptor is entered through this process's /proc entry, since the runner's own is a program that did not inherit it.
  const entry = (fd: number) => `/proc/${process.pid}/fd/${fd}`
  const prefix = [
    nsenter,
    `--user=${entry(held.user)}`,
    `--net=${entry(held.net)}`,
    '--preserve-credentials',
    '--',
  ] as const
  let closed = false
  const close = (): void => {
    if (closed) return
    closed = true
    closeSync(held.user)
    closeSync(held.net)
  }
  try {
    // Entering is what every call does, so it is tried here, where a failure can still be told apart from a command's.
    await inside(prefix, ['/bin/sh', '-c', 'echo entered'], { stdio: ['ignore', 'pipe', 'pipe'] }, firstLine)
  } catch (error) {
    close()
    throw error
  }
  return { prefix, close, listen: (port) => listenInside(prefix, port) }
}

/**
 * A namespace lives as long as a process or a descriptor holds it. bubblewrap makes it (and raises its loopback) around a shell that
 * waits; once this process has the descriptors, the shell may go.
 */
const holdNamespaces = async (bwrap: string): Promise<{ user: number; net: number }> => {
  const script = 'echo $$; read -r _'
  const shell = ['--dev-bind', '/', '/', '--', '/bin/sh', '-c', script]
  const argv = [bwrap, '--unshare-user', '--unshare-net', '--cap-drop', 'ALL', '--die-with-parent', ...shell]
  return inside([], argv, { stdio: ['pipe', 'pipe', 'pipe'] }, async (child) => {
    const pid = Number(await firstLine(child))
    const user = openSync(`/proc/${pid}/ns/user`, 'r')
    try {
      return { user, net: openSync(`/proc/${pid}/ns/net`, 'r') }
    } catch (error) {
      closeSync(user)
      throw error
    } finally {
      child.stdin?.end()
    }
  })
}

/**
 * Only a process in the namespace can make a socket there, but the socket may then be handed out. The sender must close its own copy:
 * it would take half of the connections and serve none.
 */
const LISTENER = `
const server = require('node:net').createServer()
server.listen(Number(process.argv[1]), '127.0.0.1', () =>
  process.send('listening', server, () => server.close()))
process.on('disconnect', () => process.exit())
`

const listenInside = (prefix: readonly string[], port: number): Promise<Server> =>
  inside(
    prefix,
    [process.execPath, '-e', LISTENER, String(port)],
    { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] },
    (child) =>
      new Promise((resolve, reject) => {
        child.once('message', (_message, handle) => {
          child.disconnect()
          if (handle instanceof Server) resolve(handle)
          else reject(new Error('no listening socket was handed over'))
        })
      }),
  )

/** Runs a program until `use` is done with it and it has ended; its failure to start, to live or to end in time rejects. */
const inside = async <Result>(
  prefix: readonly string[],
  argv: readonly string[],
  options: SpawnOptions,
  use: (child: ChildProcess) => Promise<Result>,
): Promise<Result> => {
  const [file, ...args] = [...prefix, ...argv] as [string, ...string[]]
  const child = spawn(file, args, { ...options, env: {} })
  let said = ''
  child.stderr?.on('data', (chunk: Buffer) => (said = `${said}${chunk.toString()}`.slice(0, 2_000)))
  // A program that died early breaks the pipe; its end is what is reported.
  child.stdin?.on('error', () => {})
  const timer = setTimeout(() => child.kill('SIGKILL'), DEADLINE_MS)
  const ended = new Promise<never>((_resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      // Note: 'close' never comes for a child with a channel; its last words are complete when their stream is.
      const settle = (): void => reject(new Error(`${file} ended with ${signal ?? code}: ${said.trim()}`))
      if (child.stderr && !child.stderr.closed) child.stderr.once('close', settle)
      else settle()
    })
  })
  const over = ended.catch(() => {})
  try {
    return await Promise.race([use(child), ended])
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  } finally {
    await over
    clearTimeout(timer)
  }
}

const firstLine = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    let text = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      const end = text.indexOf('\n')
      if (end !== -1) resolve(text.slice(0, end))
    })
  })
