// What bubblewrap says beside the command's output: who its child is, and whether the command was ever started.
import { readFileSync } from 'node:fs'

/** After the runner's own end its status stream ends too; this bounds a wait for a system that is stuck. */
const END_WAIT_MS = 2000

export class RunnerStatus {
  /** The command ran: only then the runner writes how it ended. */
  started = false
  private childPid: number | undefined
  private rest = ''
  /** Where the status is written when it is no stream. */
  private readonly file: string | undefined
  private ended: Promise<void> = Promise.resolve()

  constructor(file?: string) {
    this.file = file
  }

  observe(stream: NodeJS.ReadableStream): void {
    this.ended = new Promise((resolve) => {
      stream.on('data', (chunk: Buffer | string) => this.take(chunk.toString()))
      stream.once('end', resolve)
      stream.once('close', resolve)
      stream.once('error', () => resolve())
    })
  }

  async settled(): Promise<void> {
    this.readFile()
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, END_WAIT_MS)
    })
    await Promise.race([this.ended, late])
    clearTimeout(timer)
  }

  /** The process group of the command itself: the runner would die of a polite signal and take the command with it at once. */
  commandGroup(pidNamespace: boolean): number | undefined {
    if (this.childPid === undefined) this.readFile()
    if (this.childPid === undefined) return undefined
    const command = pidNamespace ? firstChild(this.childPid) : this.childPid
    const group = command === undefined ? undefined : groupOf(command)
    // Started without a session of its own: a signal to the group would be one to ourselves.
    return group === groupOf(process.pid) ? undefined : group
  }

  private readFile(): void {
    if (this.file === undefined) return
    try {
      this.take(readFileSync(this.file, 'utf8'))
    } catch {
      // Not written yet, or never: the runner did not start.
    }
  }

  private take(text: string): void {
    this.rest += text
    const lines = this.rest.split('\n')
    this.rest = lines.pop() ?? ''
    for (const line of lines) this.read(line)
  }

  private read(line: string): void {
    try {
      const facts = JSON.parse(line) as { 'child-pid'?: number; 'exit-code'?: number }
      if (facts['child-pid'] !== undefined) this.childPid = facts['child-pid']
      if (facts['exit-code'] !== undefined) this.started = true
    } catch {
      // Not a fact that we know; what is missing then shows in `started`.
    }
  }
}

function firstChild(pid: number): number | undefined {
  try {
    const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
    return first ? Number(first) : undefined
  } catch {
    return undefined // ended
  }
}

function groupOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in parentheses may hold anything; state, parent and group follow the last one.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2])
  } catch {
    return undefined // ended
  }
}
