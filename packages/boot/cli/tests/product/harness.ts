// What the product tests share: a folder and home of their own, the built command line as a process, and a client of its server.
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { MethodName, MethodResponse, Methods } from '@deepseek-ai/dsh-server/protocol'
import { expect, vi } from 'vitest'
import { SseReader } from './sse-reader.ts'

export const checkout = fileURLToPath(new URL('../../../../..', import.meta.url)).replace(/[\\/]$/, '')
export const bin = join(checkout, 'packages/boot/cli/dist/bin.js')

export type Signal = 'SIGINT' | 'SIGTERM' | 'SIGKILL'

export interface Finished {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  /** Default: the world's folder. */
  cwd?: string
  env?: Record<string, string>
  /** Written to standard input, which is then closed. Omitted: closed at once. `open`: left open, with nothing in it. */
  input?: string | { open: true }
  /** The script to run. Default: the built bin. */
  script?: string
}

export class Run {
  stdout = ''
  stderr = ''
  readonly child: ChildProcess
  readonly ended: Promise<Finished>

  constructor(child: ChildProcess) {
    this.child = child
    child.stdout!.setEncoding('utf8').on('data', (text: string) => (this.stdout += text))
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.stderr += text))
    this.ended = new Promise((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (code, signal) => resolve({ code, signal, stdout: this.stdout, stderr: this.stderr }))
    })
  }

  get pid(): number {
    return this.child.pid!
  }

  kill(signal: Signal): void {
    this.child.kill(signal)
  }

  /** Asks the process to end, so that it ends its own children too, and insists after a while. */
  async stop(): Promise<Finished> {
    this.kill('SIGTERM')
    const late = setTimeout(() => this.kill('SIGKILL'), 8000)
    const finished = await this.ended
    clearTimeout(late)
    return finished
  }

  /** Resolves with the first match in standard output; rejects when the process ends before. */
  printed(pattern: RegExp): Promise<string> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const match = pattern.exec(this.stdout)
        if (match === null) return
        this.child.stdout!.off('data', look)
        resolve(match[0])
      }
      this.child.stdout!.on('data', look)
      look()
      this.ended.then(
        ({ code, stdout, stderr }) => reject(new Error(`ended with ${code} before ${pattern}:\n${stdout}${stderr}`)),
        reject,
      )
    })
  }
}

/** A folder, a home and the processes that were started with them. */
export class World {
  /** The folder that commands work in. The home is not below it: nothing may write there. */
  readonly path: string
  readonly env: { PATH: string; HOME: string; DSH_HOME: string; DSH_PERMISSION?: string }
  private readonly root: string
  private readonly runs: Run[] = []

  constructor(parent: string = tmpdir()) {
    if (!existsSync(bin)) throw new Error(`these tests run ${bin}; run "pnpm build" first`)
    this.root = realpathSync(mkdtempSync(join(parent, 'dsh-product-')))
    this.path = join(this.root, 'work')
    const home = join(this.root, 'home')
    mkdirSync(this.path)
    mkdirSync(home)
    this.env = { PATH: process.env['PATH'] ?? '', HOME: home, DSH_HOME: join(home, 'dsh') }
    // What these tests are about works with no sandbox too.
    if (!canConfine()) this.env.DSH_PERMISSION = 'danger-full-access'
  }

  get home(): string {
    return this.env.DSH_HOME
  }

  file(name: string): string {
    return join(this.path, name)
  }

  write(files: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(this.file(name)), { recursive: true })
      writeFileSync(this.file(name), text)
    }
  }

  start(args: readonly string[], options: RunOptions = {}): Run {
    const { cwd = this.path, env = {}, input = '', script = bin } = options
    const child = spawn(process.execPath, [script, ...args], { cwd, env: { ...this.env, ...env }, stdio: 'pipe' })
    // A command that does not read its input may be gone before it is written.
    child.stdin.on('error', () => undefined)
    if (typeof input === 'string') child.stdin.end(input)
    const run = new Run(child)
    this.runs.push(run)
    return run
  }

  /** Runs a command to its end. */
  dsh(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
    return this.start(args, options).ended
  }

  /** `dsh web` on a free port, once it has printed its address. */
  async serve(args: readonly string[] = [], options: RunOptions = {}): Promise<Served> {
    const run = this.start(['web', '--port', '0', '--no-open', ...args], options)
    const line = await run.printed(/^dsh web: \S+$/m)
    return new Served(run, new URL(line.slice('dsh web: '.length)))
  }

  /** Ends what was started and still runs, then removes the folder. */
  async remove(): Promise<void> {
    await Promise.all(this.runs.map((run) => run.stop()))
    rmSync(this.root, { recursive: true, force: true })
  }
}

/** Whether commands can be confined here: what the default permission asks for. */
export function canConfine(): boolean {
  const confined =
    process.platform === 'darwin'
      ? spawnSync('sandbox-exec', ['-p', '(version 1)(allow default)', 'true'])
      : spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-pid', '--proc', '/proc', 'true'])
  return confined.status === 0
}

/** A command that waits for a minute and can be found from outside, whatever namespace its pid is of. */
export class Waiting {
  readonly command: string
  private readonly file: string
  private readonly marker: string

  constructor(world: World) {
    this.marker = `60.${Math.floor(Math.random() * 1e9)}`
    this.file = world.file(`started-${this.marker}`)
    this.command = `touch ${this.file}; exec sleep ${this.marker}`
  }

  async started(): Promise<void> {
    await vi.waitFor(() => expect(existsSync(this.file) && this.running()).toBe(true), 10_000)
  }

  /** Whether any process of this machine still waits. */
  running(): boolean {
    const all = execFileSync('ps', ['-A', '-o', 'args='], { encoding: 'utf8' }).split('\n')
    return all.some((line) => line.trim() === `sleep ${this.marker}`)
  }
}

/** A running `dsh web` and what its page may ask of it. */
export class Served {
  readonly run: Run
  readonly url: URL
  private readonly headers: Record<string, string>

  constructor(run: Run, url: URL) {
    this.run = run
    this.url = url
    this.headers = { authorization: `Bearer ${url.searchParams.get('token')}` }
  }

  get port(): string {
    return this.url.port
  }

  /** The value of a method; rejects with the server's message when it says no. */
  async call<M extends MethodName>(method: M, params: Methods[M]['params']): Promise<Methods[M]['value']> {
    const headers = { ...this.headers, 'content-type': 'application/json' }
    const body = JSON.stringify(params)
    const response = await fetch(new URL(`/api/${method}`, this.url), { method: 'POST', headers, body })
    const answer = (await response.json()) as MethodResponse<M>
    if (!answer.ok) throw new Error(`${method}: ${answer.error.code}: ${answer.error.message}`)
    return answer.value
  }

  events(id: string): Promise<SseReader> {
    return SseReader.open(this.stream(id), this.headers)
  }

  /** A reader that takes its place and never reads. Returns what closes it. */
  openAndIgnore(id: string): Promise<() => void> {
    return SseReader.openAndIgnore(this.stream(id), this.headers)
  }

  private stream(id: string): URL {
    return new URL(`/api/sessions/${id}/events`, this.url)
  }

  /** Sends a message and resolves with the stream of the session once `turns` turns in all have ended. */
  async ask(id: string, text: string, turns: number): Promise<SseReader> {
    const reader = await this.events(id)
    await this.call('sessions.send', { id, text })
    await reader.until(({ events }) => events.filter((event) => event.type === 'turn/end').length >= turns)
    return reader
  }

  async stop(signal: Signal = 'SIGTERM'): Promise<Finished> {
    this.run.kill(signal)
    return this.run.ended
  }
}

export function residentMiB(pid: number): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024
}

/** The tool of the tutorial, and the `cordis.yml` that names it. */
export const GREET_PLUGIN = {
  'scratch-plugin/cordis.yml': '- name: ./src/my-plugin.ts\n',
  'scratch-plugin/src/my-plugin.ts': `import type { Context } from '@deepseek-ai/cordis'
import { defineTool } from '@deepseek-ai/dsh-tools'

export const name = 'greet-tool'
export const inject = ['tools']

export function apply(ctx: Context) {
  ctx.tools.register(defineTool({
    name: 'greet',
    description: 'Greet a person by name.',
    parameters: {
      name: { type: 'string', required: true, description: 'Who to greet' },
    },
    output: {
      schema: { type: 'string' },
      render: (_args, value) => [{ type: 'text', text: value }],
    },
    async execute(args) {
      return \`Hello, \${args.name}!\`
    },
  }))
}
`,
} as const

export const GREET_PATCH = ['--patch', './scratch-plugin/cordis.yml']
