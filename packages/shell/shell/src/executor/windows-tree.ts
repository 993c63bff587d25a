// All processes of one command on Windows: found by parents in the system's own list, ended with taskkill, verified in the list.
// Nothing here is polite: Windows has no signal that a console program without a console of its own could answer.
import { execFile } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import type { KillReceipt, ShellSurvivor } from '../types.ts'
import type { CommandTree } from './process-tree.ts'

const VERIFY_MS = 3000
const POLL_MS = 100

/** Starts a program and gives what it printed; an exit other than 0 is no error. */
export type RunProgram = (file: string, args: readonly string[]) => Promise<string>

export interface WindowsProcess {
  pid: number
  ppid: number
  /** 100 ns units since 1601; grows with time, and tells a process from a later one with the same number. */
  startTime: bigint
  command: string
}

/** One line a process, fields by tabs. Windows PowerShell is on every Windows, and its language does not depend on the locale. */
const LISTING = `Get-CimInstance Win32_Process | ForEach-Object {
  $t = if ($_.CreationDate) { $_.CreationDate.ToFileTimeUtc() } else { 0 }
  $c = if ($_.CommandLine) { $_.CommandLine } else { $_.Name }
  "$($_.ProcessId)\`t$($_.ParentProcessId)\`t$t\`t$($c -replace '[\\r\\n\\t]', ' ')"
}`

export class WindowsTree implements CommandTree {
  readonly #leader: number
  readonly #run: RunProgram
  readonly #startedAt: bigint
  #known = new Map<number, WindowsProcess>()
  #hasLeft = false

  /** `startedAt`: when the leader was started, as `WindowsProcess` tells time. */
  constructor(leader: number, run: RunProgram = runProgram, startedAt = fileTime(Date.now())) {
    this.#leader = leader
    this.#run = run
    this.#startedAt = startedAt
  }

  leaderEnded(): void {
    this.#hasLeft = true
  }

  /** Looks only when something says that there is someone: each look starts a PowerShell of its own. */
  async leftBehind(suspicious: boolean): Promise<ShellSurvivor[] | undefined> {
    if (!suspicious) return undefined
    return [...(await this.#members()).values()].map(survivor)
  }

  async isQuiet(): Promise<boolean> {
    return (await this.#members()).size === 0
  }

  survivors(): readonly { pid: number; startTime: string }[] {
    return [...this.#known.values()].map(({ pid, startTime }) => ({ pid, startTime: String(startTime) }))
  }

  async terminate(): Promise<KillReceipt> {
    const before = await this.#members()
    if (before.size === 0) return { signal: null, ended: 0, survivors: [] }
    // The tree as Windows sees it, then each that has lost its parent: taskkill follows living parents only.
    if (!this.#hasLeft) await this.#run('taskkill', ['/PID', String(this.#leader), '/T', '/F'])
    const deadline = performance.now() + VERIFY_MS
    let left = await this.#members()
    while (left.size > 0 && performance.now() < deadline) {
      await this.#run('taskkill', [...[...left.keys()].flatMap((pid) => ['/PID', String(pid)]), '/T', '/F'])
      await delay(POLL_MS)
      left = await this.#members()
    }
    const ended = [...before.keys()].filter((pid) => !left.has(pid)).length
    return { signal: 'SIGKILL', ended, survivors: [...left.values()].map(survivor) }
  }

  async #members(): Promise<Map<number, WindowsProcess>> {
    const args = ['-NoLogo', '-NoProfile', '-NonInteractive', '-Command', LISTING]
    const table = parseListing(await this.#run('powershell.exe', args))
    const now = new Map(table.map((entry) => [entry.pid, entry]))
    const isKnown = ({ pid, startTime }: WindowsProcess): boolean => this.#known.get(pid)?.startTime === startTime
    const queue = table.filter((entry) => isKnown(entry) || (!this.#hasLeft && entry.pid === this.#leader))
    const members = new Map<number, WindowsProcess>()
    for (let entry = queue.pop(); entry !== undefined; entry = queue.pop()) {
      if (members.has(entry.pid)) continue
      members.set(entry.pid, entry)
      queue.push(...childrenOf(entry, table))
    }
    // A parent's number stays with its children after it ended, and may be given to a stranger, who then is in the list.
    if (this.#hasLeft && !now.has(this.#leader)) {
      for (const entry of table) {
        if (entry.ppid === this.#leader && entry.startTime >= this.#startedAt) members.set(entry.pid, entry)
      }
    }
    this.#known = members
    return members
  }
}

/** A child is younger than its parent; otherwise it names a number that was used before. */
function childrenOf(parent: WindowsProcess, table: readonly WindowsProcess[]): WindowsProcess[] {
  return table.filter(({ ppid, startTime }) => ppid === parent.pid && startTime >= parent.startTime)
}

export function parseListing(listing: string): WindowsProcess[] {
  const processes: WindowsProcess[] = []
  for (const line of listing.split(/\r?\n/)) {
    const match = /^(\d+)\t(\d+)\t(\d+)\t(.*)$/.exec(line)
    if (match === null) continue
    const [, pid, ppid, startTime, command] = match as unknown as [string, string, string, string, string]
    processes.push({ pid: Number(pid), ppid: Number(ppid), startTime: BigInt(startTime), command: command.trim() })
  }
  return processes
}

/** A second early: the process was started before this was asked. */
function fileTime(unixMs: number): bigint {
  return BigInt(unixMs - 1000) * 10_000n + 116_444_736_000_000_000n
}

function survivor({ pid, command }: WindowsProcess): ShellSurvivor {
  return { pid, command }
}

function runProgram(file: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const options = { windowsHide: true, maxBuffer: 64 * 1024 * 1024 }
    execFile(file, [...args], options, (_error, stdout) => resolve(stdout))
  })
}
