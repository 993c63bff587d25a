// The provider in a process of its own: as another user, on another mount, killed at a call of our choice.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { makeStepped } from './steps.ts'

export interface HostModule {
  readonly module: string
  readonly factory: string
}

export interface InHost {
  /** JavaScript: `fs` is the service, `args` what is given here; what it returns is the outcome. */
  readonly script: string
  readonly args: unknown
  /** What the process is started with, e.g. a program that changes user. */
  readonly wrap?: readonly string[]
  readonly uid?: number
}

export interface Outcome {
  /** What the script returned; undefined when it threw or was killed. */
  readonly value?: unknown
  /** Of what it threw. */
  readonly code?: string
  readonly message?: string
  readonly signal: string | null
}

const PROGRAM = `
import nodeFs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
const [module, factory, script, args] = process.argv.slice(1)
const stepped = (${makeStepped.toString()})(nodeFs, syncBuiltinESMExports)
const { [factory]: make } = await import(module)
const { fs, dispose } = await make()
const AsyncFunction = (async () => {}).constructor
const run = new AsyncFunction('fs', 'args', 'stepped', script)
const outcome = await run(fs, JSON.parse(args), stepped).then(
  (value) => ({ value }),
  (error) => ({ code: error.code ?? String(error), message: String(error.message) }),
)
await new Promise((resolve) => process.stdout.write(JSON.stringify(outcome), resolve))
await dispose()
`

/** Runs a script beside a fresh provider. Rejects when the process cannot even begin. */
export async function inHost(
  { module, factory }: HostModule,
  { script, args, wrap = [], uid }: InHost,
): Promise<Outcome> {
  const node = [process.execPath, '--input-type=module', '--eval', PROGRAM, module, factory, script]
  const [file, ...rest] = [...wrap, ...node, JSON.stringify(args)]
  const child = spawn(file, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const [exitCode, signal] = (await once(child, 'close')) as [number | null, string | null]
  if (signal !== null) return { signal }
  if (exitCode !== 0 || stdout === '') throw new Error(`the host ended with ${exitCode}: ${stderr}`)
  return { ...(JSON.parse(stdout) as Omit<Outcome, 'signal'>), signal }
}

/** Why a process cannot be started like that; undefined when it can. */
export function cannotStart(wrap: readonly string[], uid?: number): string | undefined {
  const [file, ...rest] = [...wrap, process.execPath, '--version']
  const ids = uid === undefined ? {} : { uid, gid: uid }
  const { status, error, stderr } = spawnSync(file, rest, { encoding: 'utf8', ...ids })
  if (status === 0) return undefined
  return error?.message ?? `${file} ended with ${status}: ${stderr.trim().split('\n').at(-1) ?? ''}`
}
