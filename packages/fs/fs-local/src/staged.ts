// Names of staged files, and what becomes of those that a killed process left.
import { createHash, randomBytes } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import type { Anchor } from './anchor.ts'
import { codeOf } from './errno.ts'

/** `.name.SPACE-PID-RANDOM.staged`: hidden, and named so that a person who finds one knows what it was for. */
const NAME = /^\..*\.([0-9a-z]+)-(\d+)-[0-9a-f]{12}\.staged$/
/** Of the target's name; the whole stays below the 255 that file systems allow. */
const MOST_NAME_BYTES = 120
/** One whose process cannot be asked for is nobody's by then. */
const ABANDONED_MS = 24 * 60 * 60 * 1000
/** A folder is looked through no more often. */
const SWEEP_MS = 60_000
const MOST_REMEMBERED = 1000

export function stagedName(name: string): string {
  return `.${shortened(name)}.${processSpace()}-${process.pid}-${randomBytes(6).toString('hex')}.staged`
}

/** On whole characters. */
function shortened(name: string): string {
  let [short, bytes] = ['', 0]
  for (const character of name) {
    bytes += Buffer.byteLength(character)
    if (bytes > MOST_NAME_BYTES) break
    short += character
  }
  return short
}

let space: string | undefined

/** Processes of different namespaces share folders and numbers, so that a number alone says nothing of another's process. */
function processSpace(): string {
  space ??= createHash('sha256').update(namespaceName()).digest('hex').slice(0, 8)
  return space
}

function namespaceName(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return process.platform // one space for all processes
  }
}

const swept = new Map<string, number>()

/** Removes what processes that are gone have left in a folder. Never fails: it is nobody's request. */
export async function sweepStaged(anchor: Anchor): Promise<void> {
  const now = performance.now()
  const last = swept.get(anchor.folder)
  if (last !== undefined && now - last < SWEEP_MS) return
  if (swept.size >= MOST_REMEMBERED) swept.clear()
  swept.set(anchor.folder, now)
  try {
    for (const name of await readdir(anchor.at('.'))) {
      if (NAME.test(name) && (await isAbandoned(anchor, name))) await rm(anchor.at(name), { force: true })
    }
  } catch {
    // Not to be listed, or gone: there is nothing to tidy.
  }
}

async function isAbandoned(anchor: Anchor, name: string): Promise<boolean> {
  const [, theirs, pid] = NAME.exec(name) ?? []
  if (theirs === processSpace()) return Number(pid) !== process.pid && !isAlive(Number(pid))
  const { mtimeMs } = await stat(anchor.at(name))
  return Date.now() - mtimeMs > ABANDONED_MS
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) !== 'ESRCH'
  }
}
