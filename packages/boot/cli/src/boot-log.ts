// What is printed while a host boots: log lines wait for the report, so that a row that failed is told once, by its own line.
import { dirname, isAbsolute } from 'node:path'
import { problemLine, type BootReport, type RowReport } from '@deepseek-ai/dsh-loader'

export class BootLog {
  private held: string[] | undefined = []

  /** A line of the host's log: kept while booting, printed at once afterwards. */
  write(line: string): void {
    if (this.held === undefined) process.stderr.write(`${line}\n`)
    else this.held.push(line)
  }

  /** Prints what was logged while booting, then each row that did not start. */
  release(report: BootReport): void {
    const lines = withoutFailuresOf(report.problems, this.held ?? [])
    this.held = undefined
    for (const line of lines) this.write(line)
    for (const problem of report.problems) process.stderr.write(`dsh: ${problemLine(problem)}${frameOf(problem)}\n`)
  }
}

/** Upstream logs the error of a failed start with its stack, and each cause with its own before it. */
function withoutFailuresOf(problems: readonly RowReport[], lines: readonly string[]): string[] {
  const stacks = problems.flatMap(({ stack }) => (stack === undefined ? [] : [stack]))
  const kept: string[] = []
  for (const line of lines) {
    const stack = stacks.find((each) => line.endsWith(each))
    if (stack === undefined) {
      kept.push(line)
      continue
    }
    const head = line.slice(0, -stack.length)
    while (kept.at(-1)?.startsWith(head) === true && kept.at(-1)?.includes('\n    at ') === true) kept.pop()
  }
  return kept
}

/** Where a plugin of the user's own threw: the nearest line of its author, below the message. */
function frameOf({ code, module = '', stack = '' }: RowReport): string {
  if (!isAbsolute(module) || code === 'MODULE_FAILED') return ''
  const folder = dirname(module)
  const frame = stack.split('\n').find((line) => /^\s+at /.test(line) && line.includes(folder))
  return frame === undefined ? '' : `\n${frame}`
}
