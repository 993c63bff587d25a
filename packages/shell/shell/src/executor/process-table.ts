// What processes exist, as the operating system tells it: /proc on Linux, `ps` elsewhere. Reads only; nothing is signalled here.
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
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
  /** False where each look starts a process of its own. */
  readonly isCheap: boolean
  /** Every process that is alive; zombies have ended and are not listed. */
  list(): Promise<ProcessEntry[]>
  /** Those of `entries` that are still alive. */
  alive(entries: readonly ProcessEntry[]): Promise<ProcessEntry[]>
  /**
   * The processes that were started after `pid` and are alive, without a look at the whole table. Undefined: only `list()`
   * can tell. Those in `except` are left out.
   */
  startedSince(pid: number, except?: ReadonlySet<number>): ProcessEntry[] | undefined
  /** The living children of `pid`. Undefined: only `list()` can tell. */
  childrenOf(pid: number): ProcessEntry[] | undefined
  /** Undefined when the process has ended, or when looking is dear. */
  startTimeOf(pid: number): string | undefined
  /** What the standard output and error of `pid` lead to, in a form that `holders` knows; empty where it cannot be told. */
  outputsOf(pid: number): string[]
  /** Processes that have one of `files` open, as far as we may look; this process is none of them. */
  holders(files: readonly string[]): ProcessEntry[]
}

/** The kernel reports process start in units of 1/100 s to user space on every architecture that Node runs on. */
const TICKS_PER_SECOND = 100

/** More pids than this are looked up faster in one listing. */
const FEW = 64

/** A small file of /proc; undefined when it cannot be read. `utf8` is the encoding that Node reads in one call. */
function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

function linuxEntry(pid: number): ProcessEntry | undefined {
  const stat = readText(`/proc/${pid}/stat`)
  if (stat === undefined) return undefined // it ended between the listing and the look
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
  const words = readText(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ').trim()
  return words === '' ? undefined : words
}

function linuxEnvironmentHas(pid: number, assignment: string): boolean {
  try {
    // Entries end with a NUL: without it, call 1 would be found in call 12.
    return readFileSync(`/proc/${pid}/environ`).includes(`${assignment}\0`)
  } catch {
    return false // ended, or another user's
  }
}

function numericNames(folder: string): number[] {
  try {
    return readdirSync(folder).map(Number).filter(Number.isInteger)
  } catch {
    return [] // it ended, or is another user's
  }
}

function linkTarget(link: string): string | undefined {
  try {
    return readlinkSync(link)
  } catch {
    return undefined // closed meanwhile, or another user's
  }
}

export const linuxTable: ProcessTable = {
  isCheap: true,
  async list() {
    return present(numericNames('/proc').map(linuxEntry))
  },
  async alive(entries) {
    return entries.filter((entry) => linuxEntry(entry.pid)?.startTime === entry.startTime)
  },
  startedSince(pid, except) {
    // The last field is the pid given out last. Pids are given out in order and start again after the highest one.
    const last = Number(readText('/proc/loadavg')?.trimEnd().split(' ').pop())
    if (!(last >= pid && last - pid <= FEW)) return undefined
    const entries: ProcessEntry[] = []
    for (let each = pid + 1; each <= last; each++) {
      // Most have ended: asking first is cheaper than catching.
      const entry = except?.has(each) !== true && existsSync(`/proc/${each}`) ? linuxEntry(each) : undefined
      if (entry !== undefined) entries.push(entry)
    }
    return entries
  },
  childrenOf(pid) {
    const pids: number[] = []
    for (const thread of numericNames(`/proc/${pid}/task`)) {
      const listing = readText(`/proc/${pid}/task/${thread}/children`)
      // The process is there, its children are not told: this kernel was built without them.
      if (listing === undefined && existsSync(`/proc/${pid}/task/${thread}`)) return undefined
      for (const each of listing?.split(' ') ?? []) if (each !== '') pids.push(Number(each))
    }
    return present(pids.map(linuxEntry))
  },
  startTimeOf: (pid) => linuxEntry(pid)?.startTime,
  outputsOf(pid) {
    const targets = [1, 2].map((descriptor) => linkTarget(`/proc/${pid}/fd/${descriptor}`))
    // Nothing that has a name: half the machine may have /dev/null open.
    return present(targets).filter((target) => /^(?:socket|pipe):/.test(target))
  },
  holders(files) {
    const has = (pid: number): boolean =>
      numericNames(`/proc/${pid}/fd`).some((each) => files.includes(linkTarget(`/proc/${pid}/fd/${each}`) ?? ''))
    const pids = files.length === 0 ? [] : numericNames('/proc')
    return present(pids.filter((pid) => pid !== process.pid && has(pid)).map(linuxEntry))
  },
}

function present<T>(values: readonly (T | undefined)[]): T[] {
  return values.filter((value) => value !== undefined)
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

export const psTable: ProcessTable = {
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
  isCheap: false,
  startedSince: () => undefined,
  childrenOf: () => undefined,
  startTimeOf: () => undefined,
  outputsOf: () => [],
  holders: () => [],
}

export const processTable: ProcessTable = process.platform === 'linux' ? linuxTable : psTable

/** Tells which processes are certainly older than `ageMs`, with two seconds to spare: it saves a look at their environment. */
export function youngerThan(ageMs: number): (entry: ProcessEntry) => boolean {
  if (process.platform !== 'linux') return () => true
  const since = (uptime() - ageMs / 1000 - 2) * TICKS_PER_SECOND
  return (entry) => Number(entry.startTime) >= since
}
