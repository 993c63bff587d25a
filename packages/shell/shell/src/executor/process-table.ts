// What processes exist, as the operating system tells it: /proc on Linux, `ps` elsewhere. Reads only; nothing is signalled here.
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { uptime } from 'node:os'

export interface ProcessEntry {
  readonly pid: number
  readonly ppid: number
  readonly pgid: number
  /** Session id; 0 where the system does not tell. */
  readonly sid: number
  /** Tells a process from a later one with the same pid. */
  readonly startTime: string
  /** The command line, as far as it is known. */
  command(): string
  /** True when the process started with `NAME=value` in its environment; false also when we may not look. */
  hasEnvironment(assignment: string): boolean
}

export interface ProcessTable {
  /** Every process that is alive; zombies have ended and are not listed. */
  list(): Promise<ProcessEntry[]>
  /** Those of `entries` that are still alive. */
  alive(entries: readonly ProcessEntry[]): Promise<ProcessEntry[]>
  /**
   * False only when it is certain that no process was started on this machine since `pid` was. Cheap, so that a command
   * which is a single process costs no look at the table.
   */
  mayHaveStartedSince(pid: number): boolean
}

/** The kernel reports process start in units of 1/100 s to user space on every architecture that Node runs on. */
const TICKS_PER_SECOND = 100

function linuxEntry(pid: number): ProcessEntry | undefined {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return undefined // it ended between the listing and the look
  }
  // The name in parentheses may itself hold spaces and parentheses: the fields begin after the last one.
  const nameEnd = stat.lastIndexOf(')')
  const fields = stat.slice(nameEnd + 2).split(' ')
  const state = fields[0]
  if (state === 'Z' || state === 'X') return undefined
  const name = stat.slice(stat.indexOf('(') + 1, nameEnd)
  return {
    pid,
    ppid: Number(fields[1]),
    pgid: Number(fields[2]),
    sid: Number(fields[3]),
    startTime: fields[19] ?? '',
    command: () => linuxCommand(pid) ?? `[${name}]`,
    hasEnvironment: (assignment) => linuxEnvironmentHas(pid, assignment),
  }
}

function linuxCommand(pid: number): string | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
    return line === '' ? undefined : line
  } catch {
    return undefined // ended meanwhile
  }
}

function linuxEnvironmentHas(pid: number, assignment: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`).includes(assignment)
  } catch {
    return false // ended, or another user's
  }
}

const linuxTable: ProcessTable = {
  async list() {
    const entries: ProcessEntry[] = []
    for (const name of readdirSync('/proc')) {
      const pid = Number(name)
      const entry = Number.isInteger(pid) ? linuxEntry(pid) : undefined
      if (entry !== undefined) entries.push(entry)
    }
    return entries
  },
  async alive(entries) {
    return entries.filter((entry) => linuxEntry(entry.pid)?.startTime === entry.startTime)
  },
  mayHaveStartedSince(pid) {
    try {
      // The last field is the pid given out last; threads count too, which errs on the safe side.
      return Number(readFileSync('/proc/loadavg', 'latin1').trimEnd().split(' ').pop()) !== pid
    } catch {
      return true
    }
  },
}

const PS_LINE = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\d+\s+\S+\s+\d+)\s+(.*)$/

function psEntries(listing: string): ProcessEntry[] {
  const entries: ProcessEntry[] = []
  for (const line of listing.split('\n')) {
    const match = PS_LINE.exec(line)
    if (match === null || match[4]!.startsWith('Z')) continue
    const command = match[6]!.trim()
    entries.push({
      pid: Number(match[1]),
      ppid: Number(match[2]),
      pgid: Number(match[3]),
      sid: 0,
      startTime: match[5]!,
      command: () => command,
      hasEnvironment: () => false,
    })
  }
  return entries
}

const psTable: ProcessTable = {
  list() {
    return new Promise((resolve, reject) => {
      const columns = 'pid=,ppid=,pgid=,state=,lstart=,command='
      // LC_ALL: lstart is written in the locale's own words otherwise.
      const options = { env: { ...process.env, LC_ALL: 'C' }, maxBuffer: 64 * 1024 * 1024 }
      execFile('ps', ['-axo', columns], options, (error, stdout) => {
        if (error !== null) reject(error)
        else resolve(psEntries(stdout))
      })
    })
  },
  async alive(entries) {
    const now = new Map((await psTable.list()).map((entry) => [entry.pid, entry.startTime]))
    return entries.filter((entry) => now.get(entry.pid) === entry.startTime)
  },
  // Without /proc an answer costs a process of its own; the group check and the pipes have to do.
  mayHaveStartedSince: () => false,
}

export const processTable: ProcessTable = process.platform === 'linux' ? linuxTable : psTable

/** False when `entry` is certainly older than `ageMs` (with two seconds to spare), which saves a look at its environment. */
export function mayBeYoungerThan(entry: ProcessEntry, ageMs: number): boolean {
  if (process.platform !== 'linux') return true
  return Number(entry.startTime) / TICKS_PER_SECOND >= uptime() - ageMs / 1000 - 2
}
