// Ends what a host leaves behind when it dies without a chance to clean up: a small /bin/sh in a session of its own that reads a
// pipe from the host and, at its end, ends every process that carries the executor's mark, is guarded, or descends from one.
// Short commands cost it nothing: they are found by their mark, and only what has run for a moment is announced by number.
import { spawn, type ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import { linuxTable, psTable } from './process-table.ts'

/** What ends sooner is never announced. */
const ANNOUNCE_AFTER_MS = 25

/** How long the process may take to end when it is told to. */
const CLOSE_MS = 1000

export interface WatchdogOptions {
  /** How the environment of every process of this executor has an entry begin: `NAME=value-up-to-here`. */
  markPrefix: string
  /** Between the polite signal and the forced one, in milliseconds. */
  graceMs: number
  /** Where processes are read from. Default: what this platform has. */
  source?: 'proc' | 'ps'
}

/** `leader`: its whole group and session belong. `single`: only it and what descends from it. */
export type GuardKind = 'leader' | 'single'

interface Guard {
  readonly owner: object
  readonly kind: GuardKind
  readonly pid: number
  readonly since: number
  startTime: string | undefined
}

export class Watchdog {
  readonly #options: WatchdogOptions
  readonly #source: 'proc' | 'ps'
  readonly #guards = new Set<Guard>()
  readonly #pending = new Set<Guard>()
  #timer: NodeJS.Timeout | undefined
  #child: ChildProcess | undefined
  #closed = false

  constructor(options: WatchdogOptions) {
    this.#options = options
    this.#source = options.source ?? (process.platform === 'linux' ? 'proc' : 'ps')
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** How many guards it has been told of. */
  get announced(): number {
    return this.#guards.size - this.#pending.size
  }

  /** Ends the pipe as the death of the host would. */
  hangUp(): void {
    this.#child?.stdin?.end()
  }

  /** Makes sure that it runs. One that was killed is replaced and told everything again. */
  start(): void {
    if (this.#child !== undefined || this.#closed || process.platform === 'win32') return
    const child = this.#spawn()
    if (child.pid === undefined) return
    this.#child = child
    child.once('exit', () => {
      if (this.#child === child) this.#child = undefined
    })
    for (const guard of this.#guards) if (!this.#pending.has(guard)) this.#announce(guard)
  }

  /** `startTime` undefined: looked up when the process is announced. Guarded until `release(owner)`. */
  guard(owner: object, kind: GuardKind, pid: number, startTime?: string): void {
    const guard = { owner, kind, pid, startTime, since: performance.now() }
    this.#guards.add(guard)
    this.#pending.add(guard)
    this.#flushSoon()
  }

  release(owner: object): void {
    for (const guard of this.#guards) {
      if (guard.owner !== owner) continue
      this.#guards.delete(guard)
      if (!this.#pending.delete(guard)) this.#say(`-${key(guard)}`)
    }
  }

  /** Lets it go without ending anything, and waits until it has gone. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    const child = this.#child
    if (child === undefined) return
    child.ref()
    const gone = new Promise<void>((resolve) => void child.once('exit', () => resolve()))
    const late = setTimeout(() => child.kill('SIGKILL'), CLOSE_MS)
    ;(child.stdin as Socket).end('quit\n')
    await gone
    clearTimeout(late)
  }

  #spawn(): ChildProcess {
    const { markPrefix, graceMs } = this.#options
    const tenths = String(Math.ceil(graceMs / 100))
    const child = spawn('/bin/sh', ['-c', SCRIPT, 'dsh-shell-watchdog', markPrefix, tenths, this.#source], {
      // Out of reach of the signals that a terminal sends to the host's group.
      detached: true,
      cwd: '/',
      env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C' },
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    // A host without /bin/sh, or out of processes, goes on without: the next command tries again.
    child.on('error', () => {})
    child.stdin?.on('error', () => {})
    child.unref()
    ;(child.stdin as Socket | null)?.unref()
    return child
  }

  #flush(): void {
    this.#timer = undefined
    const old = performance.now() - ANNOUNCE_AFTER_MS
    const due = [...this.#pending].filter(({ since }) => since <= old)
    if (due.length > 0) this.start()
    for (const guard of due) {
      this.#pending.delete(guard)
      this.#announce(guard)
    }
    if (this.#pending.size > 0) this.#flushSoon()
  }

  #flushSoon(): void {
    this.#timer ??= setTimeout(() => this.#flush(), ANNOUNCE_AFTER_MS).unref()
  }

  #announce(guard: Guard): void {
    const table = this.#source === 'proc' ? linuxTable : psTable
    guard.startTime ??= table.startTimeOf(guard.pid) ?? '?'
    this.#say(`+${key(guard)}`)
  }

  #say(line: string): void {
    this.#child?.stdin?.write(`${line}\n`)
  }
}

function key({ kind, pid, startTime }: Guard): string {
  return `${kind} ${pid}:${(startTime ?? '?').replaceAll(/\s+/g, '_')}`
}

/**
 * $1 mark, $2 grace in tenths of a second, $3 where processes are read from.
 * A leader's group is ours while the leader is, or when nobody has its number: the kernel does not reuse the number of a group with
 * members. A number with another start time is a stranger, whose group is left alone.
 */
const SCRIPT = `
trap '' HUP INT QUIT TERM
leaders=' ' singles=' '
while IFS= read -r line; do
  key=" \${line#* } "
  case $line in
    '+leader '*) leaders="$leaders\${line#* } " ;;
    '+single '*) singles="$singles\${line#* } " ;;
    '-leader '*) case $leaders in *"$key"*) leaders="\${leaders%%"$key"*} \${leaders#*"$key"}" ;; esac ;;
    '-single '*) case $singles in *"$key"*) singles="\${singles%%"$key"*} \${singles#*"$key"}" ;; esac ;;
    quit) exit 0 ;;
  esac
done
exec 0</dev/null

list() {
  if [ "$1" = ps ]; then
    ps -axo pid=,ppid=,pgid=,stat=,lstart= | while read -r pid ppid pgid state a b c d e; do
      case $state in Z*) ;; *) echo "$pid $ppid $pgid $pgid \${a}_\${b}_\${c}_\${d}_$e" ;; esac
    done
    return
  fi
  for folder in /proc/[0-9]*; do
    stat=
    { while read -r line; do stat="$stat $line"; done < "$folder/stat"; } 2>/dev/null
    [ -n "$stat" ] || continue
    set -- \${stat##*) }
    case $1 in Z|X) ;; *) echo "\${folder#/proc/} $2 $3 $4 \${20}" ;; esac
  done
}

# Sets "found": the pids that have to go.
find_all() {
  found=' ' groups=' '
  if [ "$2" != ps ]; then
    for file in $(grep -lsz "^$1" /proc/[0-9]*/environ 2>/dev/null); do
      file=\${file#/proc/}
      found="$found\${file%/environ} "
    done
  fi
  processes=$(list "$2")
  pids=" $(echo "$processes" | while read -r pid rest; do echo "$pid"; done | tr '\\n' ' ')"
  for leader in $leaders; do
    case $pids in *" \${leader%%:*} "*) ;; *) groups="$groups\${leader%%:*} " ;; esac
  done
  grew=yes
  while [ -n "$grew" ]; do
    grew=
    while read -r pid ppid pgid sid start; do
      [ -n "$start" ] && [ "$pid" != $$ ] || continue
      case $leaders in *" $pid:$start "*|*" $pid:? "*)
        case $groups in *" $pid "*) ;; *) groups="$groups$pid " grew=yes ;; esac ;;
      esac
      case $found in *" $pid "*) continue ;; esac
      case $leaders$singles in *" $pid:$start "*|*" $pid:? "*) found="$found$pid " grew=yes; continue ;; esac
      case $groups in *" $pgid "*|*" $sid "*) found="$found$pid " grew=yes; continue ;; esac
      case $found in *" $ppid "*) found="$found$pid " grew=yes ;; esac
    done <<PROCESSES
$processes
PROCESSES
  done
}

pause() { sleep 0.1 2>/dev/null || sleep 1; }

find_all "$1" "$3"
[ "$found" = ' ' ] && exit 0
kill -TERM $found 2>/dev/null
kill -CONT $found 2>/dev/null
left=$2
while [ "$left" -gt 0 ]; do
  pause
  find_all "$1" "$3"
  [ "$found" = ' ' ] && exit 0
  left=$((left - 1))
done
left=100
while [ "$left" -gt 0 ] && [ "$found" != ' ' ]; do
  kill -KILL $found 2>/dev/null
  pause
  find_all "$1" "$3"
  left=$((left - 1))
done
`
