// One run of ripgrep: spawned without a shell, read as it writes, ended as soon as its reader has enough. Knows no tool.
import { spawn, type ChildProcess } from 'node:child_process'
import { errorMessage } from '@deepseek-ai/cordis'
import { Complaints } from './complaints.ts'
import { SearchError } from './errors.ts'

export interface RipgrepRequest {
  readonly args: readonly string[]
  readonly cwd: string
  readonly signal: AbortSignal
  /** `performance.now()` at which the run ends, done or not. */
  readonly deadline: number
  /** Takes what was written, at once: nothing more is read before it returns. True ends the run. A throw ends it and is passed on. */
  readonly read: (chunk: Buffer) => boolean
  /** What it says of places that it leaves out. True ends the run. Omitted: it is not asked to. */
  readonly skipped?: (skip: Skip) => boolean
}

/** Why ripgrep left a place out, by its own account. */
export interface Skip {
  readonly rule: 'hidden' | 'ignored' | 'excluded' | 'too-large'
  readonly path: string
  /** The glob that excluded it. */
  readonly glob?: string | undefined
}

export interface RipgrepEnd {
  /** `done`: ripgrep ended by itself. */
  readonly by: 'done' | 'enough' | 'deadline'
  readonly exitCode: number | null
  /** What ended it, when neither it nor we did. */
  readonly killedBy: string | null
  readonly complaints: Complaints
}

/** For every run: a person's own configuration changes nothing, and no bad line of an ignore file is reported. */
const ALWAYS = ['--no-config', '--color=never', '--no-ignore-messages', '--path-separator=/'] as const

let program: Promise<string> | undefined

/** The path of ripgrep. Looked up by the first call, so that a machine without it says so there and boots all the same. */
function ripgrepPath(): Promise<string> {
  program ??= import('@vscode/ripgrep').then(({ rgPath }) => rgPath)
  return program
}

/** Rejects with the reason of the signal and with `SEARCH_FAILED`. Settles once the process is gone. */
export async function runRipgrep(request: RipgrepRequest): Promise<RipgrepEnd> {
  const file = await ripgrepPath().catch((error: unknown) => {
    program = undefined
    throw failed(error)
  })
  if (request.signal.aborted) throw cancelled(request.signal)
  return new Promise((resolve, reject) => follow(file, request, resolve, reject))
}

function follow(
  file: string,
  request: RipgrepRequest,
  resolve: (end: RipgrepEnd) => void,
  reject: (error: Error) => void,
): void {
  const { args, cwd, signal, deadline, skipped } = request
  const debug = skipped === undefined ? [] : ['--debug']
  let child: ChildProcess
  try {
    const options = { cwd, stdio: ['ignore', 'pipe', 'pipe'] as ('ignore' | 'pipe')[], windowsHide: true }
    child = spawn(file, [...ALWAYS, ...debug, ...args], options)
  } catch (error) {
    reject(failed(error))
    return
  }
  let by: RipgrepEnd['by'] = 'done'
  let failure: Error | undefined
  const end = (why: RipgrepEnd['by']): void => {
    if (by === 'done') by = why
    // ripgrep writes nothing but its output, so there is nothing to let it finish.
    child.kill('SIGKILL')
  }
  const reading = (step: () => boolean): void => {
    if (by !== 'done') return
    try {
      if (step()) end('enough')
    } catch (error) {
      failure ??= error instanceof Error ? error : new Error(errorMessage(error))
      end('enough')
    }
  }
  const onAbort = (): void => {
    failure ??= cancelled(signal)
    end('enough')
  }
  const complaints = new Complaints((skip) => skipped?.(skip) ?? false)
  const timer = setTimeout(() => end('deadline'), Math.max(0, deadline - performance.now()))
  signal.addEventListener('abort', onAbort, { once: true })
  child.stdout?.on('data', (chunk: Buffer) => reading(() => request.read(chunk)))
  child.stderr?.on('data', (chunk: Buffer) => reading(() => complaints.read(chunk)))
  child.on('error', (error) => {
    failure ??= failed(error)
  })
  child.on('close', (exitCode, killedBy) => {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
    if (by === 'done') complaints.end()
    if (failure !== undefined) reject(failure)
    else resolve({ by, exitCode, killedBy: by === 'done' ? killedBy : null, complaints })
  })
}

/** The caller's own reason comes back, as it does from the platform. */
function cancelled({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new DOMException('the search was cancelled', 'AbortError')
}

function failed(cause: unknown): SearchError {
  return new SearchError(
    `ripgrep could not be started: ${errorMessage(cause)}; it comes with the package @vscode/ripgrep for each platform`,
    'SEARCH_FAILED',
    { cause },
  )
}
