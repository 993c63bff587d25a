// What ripgrep writes to stderr: places it could not read, places it left out when it is asked to say so, and anything else it has to say.
// Bounded, whatever it writes.
import { FirstFew } from './first-few.ts'
import { comparePaths, keyOfText, withoutDot } from './path-order.ts'
import type { Skip } from './ripgrep.ts'

const MAX_PATHS = 20
const MAX_TEXT = 4096
const MAX_LINE = 16_384

/** `rg: ./private: Permission denied (os error 13)`, where some system calls put a sentence of their own in between. */
const UNREADABLE = /^rg: (.+?): (?:IO error for operation on .*: )?(?:[^:]*) \(os error \d+\)$/
const DEBUG = /^rg: DEBUG\|/
/** `rg: DEBUG|ignore::walk|…: ignoring ./.git: Ignore(IgnoreMatch(Hidden))`, the same with `Gitignore(…)` and `Override(…)`. */
const IGNORING = /: ignoring (.+): Ignore\(IgnoreMatch\((Hidden|Gitignore|Override)/
const TOO_LARGE = /: ignoring (.+): \d+ bytes$/
const GLOB = /original: "((?:[^"\\]|\\.)*)"/
/** Advice about flags that nobody here can give, and what is left of debug lines about names with a line break in them. */
const NOISE = /^(?:rg: No files were searched|Running with --debug)|Ignore\(IgnoreMatch\(/

export class Complaints {
  /** Places that could not be read, the first few in path order. */
  readonly unreadable = new FirstFew<string>(MAX_PATHS, (a, b) => comparePaths(keyOfText(a), keyOfText(b)))
  /** Everything else. */
  text = ''
  private readonly skipped: (skip: Skip) => boolean
  private partial = ''
  private readonly decoder = new TextDecoder()

  constructor(skipped: (skip: Skip) => boolean) {
    this.skipped = skipped
  }

  /** True when its reader has heard enough of what was skipped. */
  read(chunk: Uint8Array): boolean {
    const lines = (this.partial + this.decoder.decode(chunk, { stream: true })).split('\n')
    this.partial = (lines.pop() ?? '').slice(0, MAX_LINE)
    let enough = false
    for (const line of lines) enough = this.line(line) || enough
    return enough
  }

  end(): void {
    if (this.partial !== '') this.line(this.partial)
    this.partial = ''
  }

  private line(line: string): boolean {
    if (DEBUG.test(line)) {
      const skip = skipOf(line)
      return skip !== undefined && this.skipped(skip)
    }
    if (NOISE.test(line)) return false
    const path = UNREADABLE.exec(line)?.[1]
    if (path !== undefined) this.unreadable.add(withoutDot(path))
    else if (this.text.length < MAX_TEXT) this.text += `${line.replace(/^rg: /, '').slice(0, MAX_TEXT)}\n`
    return false
  }
}

function skipOf(line: string): Skip | undefined {
  const [, path, why] = IGNORING.exec(line) ?? []
  if (path !== undefined) {
    const rule = why === 'Hidden' ? 'hidden' : why === 'Gitignore' ? 'ignored' : 'excluded'
    return { rule, path: withoutDot(path), glob: GLOB.exec(line)?.[1] }
  }
  const large = TOO_LARGE.exec(line)?.[1]
  return large === undefined ? undefined : { rule: 'too-large', path: withoutDot(large) }
}
