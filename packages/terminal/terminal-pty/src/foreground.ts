// The programs in front of a terminal, as Linux tells it in /proc: which group is in front, and whether one of it is proven to wait for keys.
// Reads only. Elsewhere nothing is known of waits, and the group in front is asked of `ps`.
import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, readSync, readdirSync, statSync } from 'node:fs'
import { linuxTable } from '@deepseek-ai/dsh-shell/executor'

export type StdinWait =
  /** Blocked in a read of the terminal: it can do nothing else. `poll`: waits for the terminal among other things. */
  | { readonly kind: 'read' | 'poll'; readonly pid: number }
  /** Somebody in front may not be looked at, such as a program that runs as another user. */
  | { readonly kind: 'unknown' }

export interface Foreground {
  /** The process group in front. */
  group(): number | undefined
  wait(): StdinWait | undefined
}

/** `leader` leads the session of the terminal; `device` is its path. */
export function foregroundOf(leader: number, device: string): Foreground {
  return process.platform === 'linux' ? new LinuxForeground(leader, device) : new PsForeground(leader)
}

class PsForeground implements Foreground {
  readonly #leader: number

  constructor(leader: number) {
    this.#leader = leader
  }

  group(): number | undefined {
    try {
      const group = Number(execFileSync('ps', ['-o', 'tpgid=', '-p', String(this.#leader)], { encoding: 'utf8' }))
      return group > 0 ? group : undefined
    } catch {
      return undefined // it has ended
    }
  }

  wait(): StdinWait {
    return { kind: 'unknown' }
  }
}

/** What each system call does with its arguments. `bits`: a set of descriptors, `list`: of pollfd structures. */
type Call = 'read' | 'bits' | 'list' | 'epoll'

const CALLS: Readonly<Record<string, Readonly<Record<number, Call>>>> = {
  x64: {
    0: 'read',
    7: 'list',
    17: 'read',
    19: 'read',
    23: 'bits',
    232: 'epoll',
    270: 'bits',
    271: 'list',
    281: 'epoll',
    441: 'epoll',
  },
  arm64: { 22: 'epoll', 63: 'read', 65: 'read', 67: 'read', 72: 'bits', 73: 'list', 441: 'epoll' },
}

/** `/dev/tty`, whichever terminal that is: device 5:0. */
const CONTROLLING_TERMINAL = 0x500
/** More descriptors than this are not looked through. */
const MOST_DESCRIPTORS = 1024
const POLLFD_BYTES = 8
const POLLIN = 1

class LinuxForeground implements Foreground {
  readonly #leader: number
  readonly #terminal: number | undefined
  readonly #calls = CALLS[process.arch] ?? {}

  constructor(leader: number, device: string) {
    this.#leader = leader
    this.#terminal = deviceNumber(device)
  }

  group(): number | undefined {
    const stat = text(`/proc/${this.#leader}/stat`)
    // The name in parentheses may hold anything; the fields begin after the last one.
    const group = Number(stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[5])
    return group > 0 ? group : undefined
  }

  wait(): StdinWait | undefined {
    const group = this.group()
    if (group === undefined) return undefined
    let found: StdinWait | undefined
    for (const pid of this.#members(group)) {
      const wait = this.#waitOf(pid)
      if (wait?.kind === 'read') return wait
      if (found === undefined || wait?.kind === 'poll') found = wait ?? found
    }
    return found
  }

  /** Below the leader; the group's own number too, whose process may have lost its parent. */
  #members(group: number): Set<number> {
    const members = new Set<number>(group === this.#leader ? [this.#leader] : [group])
    const queue = [this.#leader]
    const seen = new Set(queue)
    for (let pid = queue.pop(); pid !== undefined; pid = queue.pop()) {
      for (const child of linuxTable.childrenOf(pid) ?? []) {
        if (seen.has(child.pid)) continue
        seen.add(child.pid)
        queue.push(child.pid)
        if (child.pgid === group) members.add(child.pid)
      }
    }
    return members
  }

  #waitOf(pid: number): StdinWait | undefined {
    try {
      for (const thread of readdirSync(`/proc/${pid}/task`)) {
        const kind = this.#threadWaits(pid, readFileSync(`/proc/${pid}/task/${thread}/syscall`, 'utf8'))
        if (kind !== undefined) return { kind, pid }
      }
      return undefined
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      return code === 'EACCES' || code === 'EPERM' ? { kind: 'unknown' } : undefined // or it has ended
    }
  }

  /** `call`: number, arguments and two pointers; `running`, or -1, when the thread is in no system call. */
  #threadWaits(pid: number, call: string): 'read' | 'poll' | undefined {
    const [number, ...words] = call.trim().split(' ')
    const kind = this.#calls[Number(number)]
    const [a = 0, b = 0] = words.map(Number)
    if (kind === 'read') return this.#isTerminal(pid, a) ? 'read' : undefined
    if (kind === undefined) return undefined
    const descriptors = kind === 'bits' ? bitSet(pid, b, a) : kind === 'list' ? pollList(pid, a, b) : epollSet(pid, a)
    return descriptors.some((each) => this.#isTerminal(pid, each)) ? 'poll' : undefined
  }

  #isTerminal(pid: number, descriptor: number): boolean {
    const device = deviceNumber(`/proc/${pid}/fd/${descriptor}`)
    return device !== undefined && (device === this.#terminal || device === CONTROLLING_TERMINAL)
  }
}

function bitSet(pid: number, address: number, count: number): number[] {
  const set = address === 0 ? undefined : memory(pid, address, Math.ceil(Math.min(count, MOST_DESCRIPTORS) / 64) * 8)
  const found: number[] = []
  if (set === undefined) return found
  for (let each = 0; each < Math.min(count, MOST_DESCRIPTORS); each++) {
    if (((set[each >> 3] ?? 0) >> (each & 7)) & 1) found.push(each)
  }
  return found
}

function pollList(pid: number, address: number, count: number): number[] {
  const list = memory(pid, address, Math.min(count, MOST_DESCRIPTORS) * POLLFD_BYTES)
  const found: number[] = []
  if (list === undefined) return found
  for (let at = 0; at < list.length; at += POLLFD_BYTES) {
    if (list.readInt16LE(at + 4) & POLLIN) found.push(list.readInt32LE(at))
  }
  return found
}

function epollSet(pid: number, descriptor: number): number[] {
  const found: number[] = []
  for (const [, target, events] of (text(`/proc/${pid}/fdinfo/${descriptor}`) ?? '').matchAll(
    /^tfd:\s*(\d+)\s+events:\s*([0-9a-f]+)/gm,
  )) {
    if (Number.parseInt(events ?? '0', 16) & POLLIN) found.push(Number(target))
  }
  return found
}

function memory(pid: number, address: number, length: number): Buffer | undefined {
  let file: number | undefined
  try {
    file = openSync(`/proc/${pid}/mem`, 'r')
    const bytes = Buffer.alloc(length)
    return readSync(file, bytes, 0, length, address) === length ? bytes : undefined
  } catch {
    return undefined // ended, or not ours to read
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

function deviceNumber(path: string): number | undefined {
  try {
    const stat = statSync(path)
    return stat.isCharacterDevice() ? stat.rdev : undefined
  } catch {
    return undefined // closed meanwhile
  }
}

function text(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined // it has ended
  }
}
