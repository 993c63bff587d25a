// All processes of one command, escapees included: finds them, ends them, and verifies that they ended.
// A process belongs by its group or session, by the call's mark in its environment, or by a parent that belongs.
// Known limit: one that clears its environment, leaves the session and loses its parent before anyone looks is not found.
import { setTimeout as delay } from 'node:timers/promises'
import type { KillReceipt, ShellSurvivor } from '../types.ts'
import { mayBeYoungerThan, processTable, type ProcessEntry } from './process-table.ts'

/** How long after the forced signal the tree may take to disappear; longer only in uninterruptible system calls. */
const VERIFY_MS = 2000
/** No machine gives out all its pids in less: within it, a higher pid is a later process. */
const ROUND_TRIP_MS = 2000
const POLL_MIN_MS = 2
const POLL_MAX_MS = 50

export class ProcessTree {
  readonly #leader: number
  readonly #mark: string
  readonly #startedAt = performance.now()
  /** Everything that was ever seen to belong, so that a process stays ours after it lost parent and group. */
  readonly #seen = new Map<string, ProcessEntry>()
  /** False once the leader's number may belong to a stranger's group. */
  #groupIsOurs = true
  /** True once the leader has ended and nobody can be left; where looking is dear, once its group is empty. */
  #presumedQuiet = false
  #strongest: KillReceipt['signal'] = null

  /** `leader` leads a session and a process group of its own; `mark` is an environment assignment only its tree has. */
  constructor(leader: number, mark: string) {
    this.#leader = leader
    this.#mark = mark
  }

  /**
   * To be called when the leader has ended. A group that is empty then is never signalled again: from here on
   * its number may be given to a stranger. A group with members keeps its number.
   */
  leaderEnded(): void {
    const age = performance.now() - this.#startedAt
    const later = age < ROUND_TRIP_MS ? processTable.startedSince(this.#leader) : undefined
    const none = later?.length === 0
    if (none || !this.#groupAlive()) this.#groupIsOurs = false
    const strangersOnly = later?.some((entry) => this.#belongs(entry, age)) === false
    this.#presumedQuiet = none || (!this.#groupIsOurs && (strangersOnly || !processTable.isCheap))
  }

  /** Names what is alive. `suspicious`: something else, such as an open pipe, says that there is someone. */
  async leftBehind(suspicious: boolean): Promise<ShellSurvivor[] | undefined> {
    if (this.#presumedQuiet && !suspicious) return undefined
    const members = await this.#members()
    // Nobody watches the group from here on, and its number may be reused once it is empty: go by identity and mark.
    this.#groupIsOurs = false
    return members.length > 0 || suspicious ? members.map(survivor) : undefined
  }

  async isQuiet(): Promise<boolean> {
    return (await this.#members()).length === 0
  }

  /** Polite signal, grace, forced signal; returns as soon as nobody is left, and names who is left in the end. */
  async terminate(graceMs: number): Promise<KillReceipt> {
    let members = await this.#end('SIGTERM', graceMs)
    if (members.length > 0) members = await this.#end('SIGKILL', VERIFY_MS)
    return { signal: this.#strongest, ended: this.#seen.size - members.length, survivors: members.map(survivor) }
  }

  /** Signals every member, those that appear meanwhile as well, until none is left or time is up. */
  async #end(signal: 'SIGTERM' | 'SIGKILL', withinMs: number): Promise<ProcessEntry[]> {
    const deadline = performance.now() + withinMs
    const signalled = new Set<string>()
    let pause = POLL_MIN_MS
    let members = await this.#members()
    while (members.length > 0) {
      const fresh = members.filter((member) => !signalled.has(identity(member)))
      for (const member of fresh) signalled.add(identity(member))
      if (fresh.length > 0) this.#signal(fresh, signal)
      const left = deadline - performance.now()
      if (left <= 0) return members
      await delay(Math.min(pause, left))
      pause = Math.min(pause * 2, POLL_MAX_MS)
      // The whole table is only read again once everyone known is gone or a forced kill races with forks.
      const known = await processTable.alive(members)
      members = known.length > 0 && signal === 'SIGTERM' ? known : await this.#members()
    }
    return members
  }

  /**
   * The group at once, the rest with parents before children: a shell that outlives its child by a moment would go on
   * with the next command.
   */
  #signal(members: readonly ProcessEntry[], signal: 'SIGTERM' | 'SIGKILL'): void {
    this.#strongest = signal
    const inGroup = (member: ProcessEntry): boolean => this.#groupIsOurs && member.pgid === this.#leader
    const targets = parentsFirst(members.filter((member) => !inGroup(member))).map(({ pid }) => pid)
    if (members.some(inGroup)) targets.unshift(-this.#leader)
    for (const target of targets) send(target, signal)
    // A stopped process only notices a polite signal once it goes on.
    if (signal === 'SIGTERM') for (const target of targets) send(target, 'SIGCONT')
  }

  async #members(): Promise<ProcessEntry[]> {
    const table = await processTable.list()
    const age = performance.now() - this.#startedAt
    const children = new Map<number, ProcessEntry[]>()
    const queue: ProcessEntry[] = []
    for (const entry of table) {
      const siblings = children.get(entry.ppid)
      if (siblings === undefined) children.set(entry.ppid, [entry])
      else siblings.push(entry)
      if (entry.pid !== process.pid && this.#belongs(entry, age)) queue.push(entry)
    }
    const members = new Map<string, ProcessEntry>()
    for (let entry = queue.pop(); entry !== undefined; entry = queue.pop()) {
      if (members.has(identity(entry))) continue
      members.set(identity(entry), entry)
      this.#seen.set(identity(entry), entry)
      queue.push(...(children.get(entry.pid) ?? []))
    }
    return [...members.values()]
  }

  #belongs(entry: ProcessEntry, age: number): boolean {
    if (this.#seen.has(identity(entry))) return true
    if (this.#groupIsOurs && (entry.pgid === this.#leader || entry.sid === this.#leader)) return true
    return mayBeYoungerThan(entry, age) && entry.hasEnvironment(this.#mark)
  }

  #groupAlive(): boolean {
    try {
      process.kill(-this.#leader, 0)
      return true
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EPERM'
    }
  }
}

function parentsFirst(entries: readonly ProcessEntry[]): ProcessEntry[] {
  const rest = new Map(entries.map((entry) => [entry.pid, entry]))
  const ordered: ProcessEntry[] = []
  const place = (entry: ProcessEntry): void => {
    if (!rest.delete(entry.pid)) return
    const parent = rest.get(entry.ppid)
    if (parent !== undefined) place(parent)
    ordered.push(entry)
  }
  entries.forEach(place)
  return ordered
}

function identity(entry: ProcessEntry): string {
  return `${entry.pid}@${entry.startTime}`
}

function survivor(entry: ProcessEntry): ShellSurvivor {
  return { pid: entry.pid, command: entry.command() }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // Ended already, or another user's: whoever is left is named in the receipt.
  }
}
