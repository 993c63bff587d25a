// A running command as background work: its output in pieces, its end in one line.
import { errorMessage } from '@deepseek-ai/cordis'
import type { JobEnd, JobOutput, JobWork } from '@deepseek-ai/dsh-jobs'
import type { ShellProcess, ShellResult } from '@deepseek-ai/dsh-shell'

/**
 * `starting` may reject: the job has then failed. `cursor` is where its reader begins. `files` gives the files that hold the whole
 * output, as far as there are any.
 */
export function shellJob(starting: Promise<ShellProcess>, cursor: number, files: () => readonly string[]): JobWork {
  const reader = new OutputReader(cursor, files)
  let cancelled = false
  const run = async (): Promise<JobEnd> => {
    try {
      const process = await starting
      // Its life is the job's from here on, not the call's.
      process.detach()
      reader.process = process
      if (cancelled) process.kill()
      return ended(await process.result, cancelled)
    } catch (error) {
      return { status: 'failed', detail: errorMessage(error) }
    }
  }
  return {
    done: run(),
    cancel() {
      cancelled = true
      reader.process?.kill()
    },
    readOutput: (maxBytes) => reader.take(maxBytes),
    peekOutput: (maxBytes) => reader.peek(maxBytes),
  }
}

/** A command that exits 1 has completed: what that means is the reader's to say. */
function ended(result: ShellResult, cancelled: boolean): JobEnd {
  const { exitCode, signal, aborted, kill } = result
  const killed = cancelled || aborted
  const detail =
    signal !== null ? `signal: ${signal}` : exitCode === null ? 'exit code: unknown' : `exit code: ${exitCode}`
  const survivors = kill?.survivors ?? []
  return { status: killed ? 'killed' : 'completed', detail, ...(survivors.length === 0 ? {} : { survivors }) }
}

class OutputReader {
  process: ShellProcess | undefined
  #cursor: number
  readonly #files: () => readonly string[]

  constructor(cursor: number, files: () => readonly string[]) {
    this.#cursor = cursor
    this.#files = files
  }

  take(maxBytes: number): JobOutput {
    const slice = fitting(maxBytes, (most) => this.process?.read(this.#cursor, most))
    if (slice === undefined) return { text: '', lossy: false }
    this.#cursor = slice.cursor
    const files = this.#files()
    return { text: slice.text, lossy: slice.lost > 0, ...(files.length === 0 ? {} : { files }) }
  }

  peek(maxBytes: number): string {
    const held = this.process?.read(0).text ?? ''
    if (Buffer.byteLength(held) <= maxBytes) return held
    const end = Buffer.from(held).subarray(-maxBytes).toString('utf8')
    const line = end.indexOf('\n')
    return line < 0 ? end : end.slice(line + 1)
  }
}

/** Reads as many characters as make at most `maxBytes` of UTF-8. */
function fitting<T extends { readonly text: string }>(
  maxBytes: number,
  read: (maxChars: number) => T | undefined,
): T | undefined {
  for (let most = maxBytes; ;) {
    const slice = read(most)
    if (slice === undefined) return undefined
    const bytes = Buffer.byteLength(slice.text)
    if (bytes <= maxBytes || most <= 1) return slice
    most = Math.max(1, Math.floor((slice.text.length * maxBytes) / bytes) - 1)
  }
}
