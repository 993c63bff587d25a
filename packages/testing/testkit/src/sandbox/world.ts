// The world around a confined command: a workspace, canaries outside, secrets, and ways to run in it. Checks are made by the rows.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ConfineRequest, ConfinedCommand, Sandbox, SandboxPolicy, SandboxReport } from '@deepseek-ai/dsh-sandbox'
import { NATIVE_SOURCE } from './native.ts'

export interface RunOptions {
  policy?: Partial<SandboxPolicy>
  env?: Record<string, string>
  workdir?: string
  terminal?: boolean
  /** Called once the command runs; its end is awaited afterwards. */
  during?: (running: { command: ConfinedCommand; child: ChildProcess; stdout: () => string }) => Promise<void>
  /** Further descriptors, from the first free one on. */
  argv?: ConfineRequest['argv']
}

export interface Ran {
  stdout: string
  stderr: string
  exitCode: number | null
  signal: string | null
  report: SandboxReport
}

export interface SandboxWorld {
  readonly sandbox: Sandbox
  /** Removed with everything in it. Holds `ws`, `outside` and `secret`. */
  readonly folder: string
  readonly ws: string
  /** Holds `canary`, which says `before`. */
  readonly outside: string
  /** Holds `key`, which says `secret-key`; not readable by policy. */
  readonly secret: string
  policy(more?: Partial<SandboxPolicy>): SandboxPolicy
  run(command: string, options?: RunOptions): Promise<Ran>
  /** Writes a file in the workspace, folders included. */
  put(path: string, text: string): string
  read(path: string): string | undefined
  /** A repository as git makes one, without git. */
  repository(path: string): string
  /** The path, inside too, of the program of system calls. Needs gcc. */
  native(): string
  /** Ends with the world. */
  spawn(file: string, args: string[]): ChildProcess
  onRemove(end: () => unknown): void
  remove(): Promise<void>
}

let compiled: Buffer | undefined

/** `parent`: where the world is made. Default `/var/tmp`, which no runner replaces. */
export function makeWorld(sandbox: Sandbox, parent = '/var/tmp'): SandboxWorld {
  const folder = realpathSync(mkdtempSync(join(parent, 'dsh-world-')))
  const [ws, outside, secret] = ['ws', 'outside', 'secret'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  for (const each of [ws, outside, secret]) mkdirSync(each)
  writeFileSync(join(outside, 'canary'), 'before')
  writeFileSync(join(secret, 'key'), 'secret-key')
  const ends: (() => unknown)[] = []
  const world: SandboxWorld = {
    sandbox,
    folder,
    ws,
    outside,
    secret,
    policy: (more = {}) => {
      const sessionId = more.sessionId ?? 'one'
      return {
        mode: 'workspace-write',
        network: 'none',
        allowedHosts: [],
        root: ws,
        writableRoots: [],
        deniedReads: [secret],
        tempDir: sandbox.temporaryFolder(sessionId),
        sessionId,
        nestedNamespaces: false,
        ...more,
      }
    },
    run: (command, options = {}) => run(sandbox, world.policy(options.policy), command, options),
    put: (path, text) => {
      const file = join(ws, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
      return file
    },
    read: textOf,
    repository: (path) => makeRepository(join(ws, path)),
    native: () => {
      const file = join(ws, 'native')
      compiled ??= compile()
      writeFileSync(file, compiled, { mode: 0o755 })
      return file
    },
    spawn: (file, args) => {
      const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] })
      ends.push(() => end(child))
      return child
    },
    onRemove: (each) => void ends.push(each),
    remove: async () => {
      for (const each of ends.toReversed()) await each()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return world
}

async function run(sandbox: Sandbox, policy: SandboxPolicy, text: string, options: RunOptions): Promise<Ran> {
  const command = await sandbox.confine({
    argv: options.argv ?? ['/bin/bash', '-c', text],
    workdir: options.workdir ?? policy.root,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', HOME: policy.tempDir, ...options.env },
    policy,
    ...(options.terminal === undefined ? {} : { terminal: options.terminal }),
  })
  const [file, ...args] = command.argv
  const stdio = ['ignore', 'pipe', 'pipe', ...command.extraStdio] as const
  // Who starts a terminal gives it a session of its own.
  const child = spawn(file, args, { env: command.env, stdio: [...stdio], detached: options.terminal === true })
  command.observe(child.stdio.slice(3) as (NodeJS.ReadableStream | null)[])
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const closed = once(child, 'close') as Promise<[number | null, string | null]>
  try {
    await options.during?.({ command, child, stdout: () => stdout })
    const [exitCode, signal] = await closed
    const { exitCode: code, signal: how, ...report } = await command.finish({ exitCode, signal, stderrTail: stderr })
    return { stdout, stderr, exitCode: code, signal: how, report }
  } finally {
    child.kill('SIGKILL')
    command.release()
  }
}

function makeRepository(folder: string): string {
  const git = join(folder, '.git')
  for (const each of ['hooks', 'info', 'objects', 'refs/heads']) mkdirSync(join(git, each), { recursive: true })
  writeFileSync(join(git, 'HEAD'), 'ref: refs/heads/main\n')
  writeFileSync(join(git, 'config'), '[core]\n\trepositoryformatversion = 0\n')
  return folder
}

function compile(): Buffer {
  const folder = mkdtempSync('/var/tmp/dsh-native-')
  try {
    const file = join(folder, 'native')
    const { status, stderr } = spawnSync('gcc', ['-O1', '-w', '-x', 'c', '-o', file, '-'], { input: NATIVE_SOURCE })
    if (status !== 0) throw new Error(`gcc: ${stderr.toString()}`)
    return readFileSync(file)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** Waits for a fact, not for a time; gives up after ten seconds. */
export async function until(fact: () => boolean): Promise<void> {
  const deadline = performance.now() + 10_000
  while (!fact()) {
    if (performance.now() > deadline) throw new Error(`never came true: ${fact.toString()}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
