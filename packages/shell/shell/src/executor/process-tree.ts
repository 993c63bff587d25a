// All processes of one command, escapees included: finds them, ends them, and verifies that they ended.
// A process belongs by its group or session, by the call's mark in its environment, by a parent that belongs, by having been seen
// below one while the command ran, or by holding the command's output. Known limit: one that cuts all of these before anyone looks.
import { setTimeout as delay } from 'node:timers/promises'
import type { KillReceipt, ShellSurvivor } from '../types.ts'
import { processTable, youngerThan, type ProcessEntry } from './process-table.ts'

/** How long after the forced signal the tree may take to disappear; longer only in uninterruptible system calls. */
const VERIFY_MS = 2000
/** No machine gives out all its pids in less: within it, a higher pid is a later process. */
const ROUND_TRIP_MS = 2000
/** How long what a runner confined may take to end with it. */
const NAMESPACE_MS = 300
const POLL_MIN_MS = 2
const POLL_MAX_MS = 50
/** First and longest pause between two looks at a tree that runs. */
const WATCH_MIN_MS = 15
const WATCH_MAX_MS = 1000

/** Shells that run: each is the root of a tree of its own, and belongs to no other. */
const LEADERS = new Set<number>()

/** The processes of one command, as an execution needs them. */
export interface CommandTree {
  /** To be called when the shell has ended. */
  leaderEnded(): void
  /** Names what is alive; undefined: nothing. `suspicious`: something else, such as an open pipe, says that there is someone. */
  leftBehind(suspicious: boolean): Promise<ShellSurvivor[] | undefined>
  isQuiet(): Promise<boolean>
  /** Who was alive at the last look, by number and start time. */
  survivors(): readonly { pid: number; startTime: string }[]
  /** Polite signal, grace, forced signal; returns as soon as nobody is left, and names who is left in the end. */
  terminate(graceMs: number): Promise<KillReceipt>
}

export interface TreeOptions {
  /** Leads a session and a process group of its own. */
  leader: number
  /** An environment assignment that only this tree has. */
  mark: string
  /**
   * The leader is a runner around the command. The polite signal goes to the groups of `signalTargets`, since the runner would
   * end everything at once; empty: to the leader. What the command leaves behind usually ends with the runner.
   */
  confined?: { signalTargets(): readonly number[] } | undefined
  /** Hears of members that have left the group, once each. */
  onEscape?: ((entry: ProcessEntry) => void) | undefined
}

export class ProcessTree implements CommandTree {
  readonly #leader: number
  readonly #options: TreeOptions
  readonly #startedAt = performance.now()
  readonly #outputs: readonly string[]
  /** Everything alive that was seen to belong, so that a process stays ours after it lost parent and group. */
  readonly #seen = new Map<string, ProcessEntry>()
  readonly #signalled = new Map<string, ProcessEntry>()
  /** False once the leader's number may belong to a stranger's group. */
  #groupIsOurs = true
  /** True once the leader has ended and nobody can be left; where looking is dear, once its group is empty. */
  #presumedQuiet = false
  #strongest: KillReceipt['signal'] = null
  #watch: NodeJS.Timeout | undefined

  constructor(options: TreeOptions) {
    this.#options = options
    this.#leader = options.leader
    LEADERS.add(this.#leader)
    // At once: a moment later the shell may have pointed its output elsewhere.
    this.#outputs = processTable.outputsOf(options.leader)
    this.#watchSoon(WATCH_MIN_MS)
  }

  /**
   * A group that is empty then is never signalled again: from here on its number may be given to a stranger. A group
   * with members keeps its number.
   */
  leaderEnded(): void {
    clearTimeout(this.#watch)
    LEADERS.delete(this.#leader)
    const age = performance.now() - this.#startedAt
    const later = age < ROUND_TRIP_MS ? processTable.startedSince(this.#leader, LEADERS) : undefined
    const none = later?.length === 0
    if (none || !this.#groupAlive()) this.#groupIsOurs = false
    const belongs = this.#membership(age)
    const strangersOnly = later?.some(belongs) === false
    this.#presumedQuiet = none || (!this.#groupIsOurs && (strangersOnly || !processTable.isCheap))
  }

  async leftBehind(suspicious: boolean): Promise<ShellSurvivor[] | undefined> {
    if (this.#presumedQuiet && !suspicious) return undefined
    let members = await this.#members(suspicious)
    if (members.length > 0 && this.#options.confined !== undefined) members = await this.#withRunner(members)
    // Nobody watches the group from here on, and its number may be reused once it is empty: go by identity and mark.
    this.#groupIsOurs = false
    return members.length > 0 || suspicious ? members.map(survivor) : undefined
  }

  /** The kernel takes a moment to end a namespace whose first process has ended. */
  async #withRunner(members: ProcessEntry[]): Promise<ProcessEntry[]> {
    const deadline = performance.now() + NAMESPACE_MS
    while (members.length > 0 && performance.now() < deadline) {
      await delay(POLL_MIN_MS)
      members = await processTable.alive(members)
    }
    return members.length > 0 ? this.#members(false) : members
  }

  async isQuiet(): Promise<boolean> {
    return (await this.#members(false)).length === 0
  }

  survivors(): readonly ProcessEntry[] {
    return [...this.#seen.values()]
  }

  async terminate(graceMs: number): Promise<KillReceipt> {
    clearTimeout(this.#watch)
    let members = await this.#end('SIGTERM', graceMs)
    if (members.length > 0) members = await this.#end('SIGKILL', VERIFY_MS)
    for (const member of members) this.#signalled.delete(identity(member))
    return { signal: this.#strongest, ended: this.#signalled.size, survivors: members.map(survivor) }
  }

  /** Signals every member, those that appear meanwhile as well, until none is left or time is up. */
  async #end(signal: 'SIGTERM' | 'SIGKILL', withinMs: number): Promise<ProcessEntry[]> {
    const deadline = performance.now() + withinMs
    const signalled = new Set<string>()
    let pause = POLL_MIN_MS
    let members = await this.#members(true)
    while (members.length > 0) {
      const fresh = members.filter((member) => !signalled.has(identity(member)))
      for (const member of fresh) signalled.add(identity(member))
      if (fresh.length > 0) this.#signal(members, fresh, signal)
      const left = deadline - performance.now()
      if (left <= 0) return members
      await delay(Math.min(pause, left))
      pause = Math.min(pause * 2, POLL_MAX_MS)
      // The whole table is only read again once everyone known is gone or a forced kill races with forks.
      const known = await processTable.alive(members)
      members = known.length > 0 && signal === 'SIGTERM' ? known : await this.#members(known.length === 0)
    }
    return members
  }

  /**
   * The group at once, the rest with parents before children: a shell that outlives its child by a moment would go on
   * with the next command.
   */
  #signal(members: readonly ProcessEntry[], fresh: readonly ProcessEntry[], signal: 'SIGTERM' | 'SIGKILL'): void {
    const polite = signal === 'SIGTERM' ? (this.#options.confined?.signalTargets() ?? []) : []
    const sparing = polite.length > 0 ? runnersOf(members, polite, this.#leader) : undefined
    const addressed = fresh.filter((member) => sparing?.has(member.pid) !== true)
    const groups = polite.length > 0 ? polite : this.#groupIsOurs ? [this.#leader] : []
    const inGroup = (member: ProcessEntry): boolean => groups.includes(member.pgid)
    const targets = parentsFirst(addressed.filter((member) => !inGroup(member))).map(({ pid }) => pid)
    for (const group of groups) if (addressed.some(({ pgid }) => pgid === group)) targets.unshift(-group)
    if (targets.length === 0) return
    this.#strongest = signal
    for (const member of addressed) this.#signalled.set(identity(member), member)
    for (const target of targets) send(target, signal)
    // A stopped process only notices a polite signal once it goes on.
    if (signal === 'SIGTERM') for (const target of targets) send(target, 'SIGCONT')
  }

  /** `thoroughly`: also by who holds the output, which means a look at every descriptor there is. */
  async #members(thoroughly: boolean): Promise<ProcessEntry[]> {
    const table = await processTable.list()
    const age = performance.now() - this.#startedAt
    const children = new Map<number, ProcessEntry[]>()
    const belongs = this.#membership(age)
    const queue: ProcessEntry[] = []
    for (const entry of table) {
      const siblings = children.get(entry.ppid)
      if (siblings === undefined) children.set(entry.ppid, [entry])
      else siblings.push(entry)
      if (belongs(entry)) queue.push(entry)
    }
    // An older one was handed the output by a member; it is not ours to end.
    if (thoroughly) queue.push(...processTable.holders(this.#outputs).filter(youngerThan(age)))
    const members = new Map<string, ProcessEntry>()
    for (let entry = queue.pop(); entry !== undefined; entry = queue.pop()) {
      if (entry.pid === process.pid || members.has(identity(entry))) continue
      members.set(identity(entry), entry)
      queue.push(...(children.get(entry.pid) ?? []))
    }
    this.#seen.clear()
    for (const [id, entry] of members) this.#seen.set(id, entry)
    return [...members.values()]
  }

  #membership(age: number): (entry: ProcessEntry) => boolean {
    const isYoung = youngerThan(age)
    return (entry) => {
      if (this.#seen.has(identity(entry))) return true
      if (this.#groupIsOurs && (entry.pgid === this.#leader || entry.sid === this.#leader)) return true
      return isYoung(entry) && entry.hasEnvironment(this.#options.mark)
    }
  }

  /** Looks below the leader now and then while it runs: a child that cuts every tie later on has been seen by then. */
  #watchSoon(pause: number): void {
    if (!processTable.isCheap) return
    this.#watch = setTimeout(() => {
      if (this.#lookBelow()) this.#watchSoon(Math.min(pause * 2, WATCH_MAX_MS))
    }, pause)
    this.#watch.unref()
  }

  /** False when this system cannot list the children of a process. */
  #lookBelow(): boolean {
    const found = new Map<string, ProcessEntry>()
    const queue = [this.#leader]
    for (const entry of this.#seen.values()) {
      if (processTable.startTimeOf(entry.pid) !== entry.startTime) continue
      found.set(identity(entry), entry)
      queue.push(entry.pid)
    }
    for (let pid = queue.pop(); pid !== undefined; pid = queue.pop()) {
      const below = processTable.childrenOf(pid)
      if (below === undefined) return false
      for (const entry of below) {
        if (found.has(identity(entry))) continue
        found.set(identity(entry), entry)
        queue.push(entry.pid)
      }
    }
    for (const [id, entry] of found) {
      if (entry.pgid !== this.#leader && !this.#seen.has(id)) this.#options.onEscape?.(entry)
    }
    this.#seen.clear()
    for (const [id, entry] of found) this.#seen.set(id, entry)
    return true
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

/** The leader and what is between it and the polite targets: it holds the command together and passes no polite signal on. */
function runnersOf(members: readonly ProcessEntry[], groups: readonly number[], leader: number): Set<number> {
  const byPid = new Map(members.map((member) => [member.pid, member]))
  const runners = new Set([leader])
  for (const member of members) {
    if (!groups.includes(member.pgid)) continue
    for (let at = byPid.get(member.ppid); at !== undefined && !runners.has(at.pid); at = byPid.get(at.ppid)) {
      if (!groups.includes(at.pgid)) runners.add(at.pid)
    }
  }
  return runners
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
