// One writer a session, across processes: a lock file that names its owner. Owns acquisition, stale takeover and release.
import { randomUUID } from 'node:crypto'
import { linkSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { SessionError, systemCode } from './errors.ts'

interface LockOwner {
  readonly pid: number
  readonly host: string
  /** When the process began, in the kernel's own unit; absent where the platform does not tell. Guards against reused pids. */
  readonly began?: string
  readonly token: string
}

export interface Lock {
  release(): void
}

/** Throws `SESSION_LOCKED` while its owner lives. The lock of a dead process is taken over. */
export function acquireLock(id: string, path: string): Lock {
  const began = processStart(process.pid)
  const own: LockOwner = {
    pid: process.pid,
    host: hostname(),
    ...(began === undefined ? {} : { began }),
    token: randomUUID(),
  }
  for (let attempt = 0; attempt < 5; attempt++) {
    if (publish(path, own) && readOwner(path)?.token === own.token) return { release: () => release(path, own.token) }
    const owner = readOwner(path)
    if (owner === undefined) continue // released between the two looks
    if (isAlive(owner)) throw locked(id, path, owner)
    removeStale(path, owner.token)
  }
  throw locked(id, path, readOwner(path))
}

/** True when a living process holds the lock. */
export function isLocked(path: string): boolean {
  const owner = readOwner(path)
  return owner !== undefined && isAlive(owner)
}

/** Creates the lock with its content in one step, so that nobody sees an empty one. */
function publish(path: string, own: LockOwner): boolean {
  const draft = `${path}.${own.token}`
  writeFileSync(draft, JSON.stringify(own), { mode: 0o600, flag: 'wx' })
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false
    return publishWithoutLinks(path, own)
  } finally {
    unlinkSync(draft)
  }
}

/** Some file systems know no hard links. */
function publishWithoutLinks(path: string, own: LockOwner): boolean {
  try {
    writeFileSync(path, JSON.stringify(own), { mode: 0o600, flag: 'wx' })
    return true
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false
    throw error
  }
}

/** Moves the lock aside before removing it: only one of several who saw it stale gets it. */
function removeStale(path: string, token: string): void {
  const aside = `${path}.${randomUUID()}`
  try {
    renameSync(path, aside)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return
    throw error
  }
  // Somebody else took over in between: this is a living lock, give it back.
  if (readOwner(aside)?.token !== token) linkBack(aside, path)
  unlinkSync(aside)
}

function linkBack(aside: string, path: string): void {
  try {
    linkSync(aside, path)
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error
  }
}

function release(path: string, token: string): void {
  if (readOwner(path)?.token !== token) return // removed by hand, or the whole folder went
  try {
    unlinkSync(path)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
  }
}

/** The owner; undefined when there is no lock. A lock that cannot be read as one counts as left by a dead process. */
function readOwner(path: string): LockOwner | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
  try {
    const owner = JSON.parse(text) as Partial<LockOwner> | null
    if (typeof owner?.pid === 'number' && typeof owner.host === 'string' && typeof owner.token === 'string') {
      return owner as LockOwner
    }
  } catch {
    // not JSON: see below
  }
  return { pid: 0, host: hostname(), token: '' }
}

function isAlive({ pid, host, began }: LockOwner): boolean {
  if (host !== hostname()) return true // cannot be looked at from here
  if (pid <= 0) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    return systemCode(error) === 'EPERM' // it exists and belongs to somebody else
  }
  const now = processStart(pid)
  return began === undefined || now === undefined || began === now
}

/** Field 22 of /proc/<pid>/stat: start time in clock ticks since boot. */
function processStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The command name in parentheses may hold spaces and parentheses of its own.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined // not Linux, or the process has just ended
  }
}

function locked(id: string, path: string, owner: LockOwner | undefined): SessionError {
  const who = owner === undefined ? 'another process' : ownerText(owner)
  return new SessionError(
    `the session "${id}" is in use by ${who}; close it there, or, when that process is gone, remove ${path}`,
    'SESSION_LOCKED',
  )
}

function ownerText({ pid, host }: LockOwner): string {
  if (host !== hostname()) return `process ${pid} on ${host}`
  return pid === process.pid ? `this process (${pid})` : `process ${pid}`
}
