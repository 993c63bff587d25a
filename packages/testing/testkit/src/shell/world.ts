// What the suites check against: processes and folders as the operating system shows them, never what a provider says of itself.
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** A temp folder for the time of `use`. */
export async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-testkit-')))
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** True while a process runs; a zombie has ended. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
  } catch {
    return process.platform !== 'linux' // no /proc: the answer to signal 0 has to do
  }
}

/** Waits for a fact, and says which one never came. */
export async function eventually(fact: string, holds: () => boolean, withinMs = 10_000): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`never came true within ${withinMs} ms: ${fact}`)
    await delay(5)
  }
}

/** A number that a command wrote into a file; undefined until it is there, line end included. */
export function numberIn(file: string): number | undefined {
  try {
    const text = readFileSync(file, 'utf8')
    return text.endsWith('\n') ? Number(text) : undefined
  } catch {
    return undefined // not written yet
  }
}

/** Waits until a command wrote a pid. */
export async function pidIn(file: string): Promise<number> {
  await eventually(`a pid in ${file}`, () => numberIn(file) !== undefined)
  return numberIn(file)!
}

let given = 0

/** A duration for `sleep` that no other process on this machine was given, so that its sleeper is found whatever pid it thinks it has. */
export function ownDuration(): string {
  return `${60 + (process.pid % 1000)}.${String(++given).padStart(6, '0')}`
}

/** Pids, as the host counts them, of the processes that have `word` among their arguments. */
export function pidsWith(word: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && wordsOf(pid).includes(word) && isRunning(pid))
}

function wordsOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    return [] // it has ended
  }
}

/** Waits until somebody sleeps for `duration`, and gives the pid. */
export async function sleeper(duration: string): Promise<number> {
  await eventually(`a process that sleeps for ${duration}`, () => pidsWith(duration).length > 0)
  return pidsWith(duration)[0]!
}
