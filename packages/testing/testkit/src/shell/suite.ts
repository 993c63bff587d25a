// The contract suite of shells: every provider of `ctx.shell` that speaks a POSIX dialect runs it, with real processes.
// Runner-agnostic: the caller hands in `describe` and `it`, so that this package needs no test framework.
import type { Shell, ShellRequest, ShellResult } from '@deepseek-ai/dsh-shell'
import { environmentRows } from './environment-rows.ts'
import { hostRows } from './host-rows.ts'
import { lifecycleRows } from './lifecycle-rows.ts'
import { loadRows } from './load-rows.ts'
import { outputRows } from './output-rows.ts'
import { processRows } from './process-rows.ts'
import { requestRows } from './request-rows.ts'
import { settleRows } from './settle-rows.ts'
import { spillRows } from './spill-rows.ts'

/** What the suites need of a test runner; vitest's and `node:test`'s own functions fit. */
export interface SuiteRunner {
  describe: (name: string, body: () => void) => unknown
  it: (name: string, body: () => Promise<void>) => unknown
}

export interface ShellUnderTest {
  shell: Shell
  /** Ends the provider as its host would. */
  dispose: () => Promise<unknown>
  /** False where everything ends with the command that started it. Default true. */
  leavesRunning?: boolean
}

/**
 * Makes a fresh provider a test. Wanted: a polite-to-forced grace of at most 500 ms (`graceMs`), `maxOutputBytes` 65536, `drainMs` 500,
 * `maxTimeoutMs` 60000, and the host's own environment and folder.
 */
export type ShellFactory = () => Promise<ShellUnderTest>

export interface ShellSuiteOptions {
  /**
   * A module that a fresh `node` can import, and the name of an export of it that makes the same provider: for what happens when the
   * host is killed. Omitted: those rows are left out.
   */
  host?: { module: string; factory: string }
  /** Also ten thousand commands in a row, about a minute. Default false. */
  endurance?: boolean
}

export interface ShellCase extends Required<ShellUnderTest> {
  run: (command: string, more?: Omit<ShellRequest, 'command'>) => Promise<ShellResult>
}

export type ShellTest = (name: string, body: (shell: ShellCase) => Promise<void>) => void

/** Registers the suite. Its tests start real processes and read /proc: Linux, files run in a process of their own. */
export function testShell(
  { describe, it }: SuiteRunner,
  name: string,
  factory: ShellFactory,
  options: ShellSuiteOptions = {},
): void {
  const test: ShellTest = (title, body) => {
    it(title, async () => {
      const made = await factory()
      const { shell } = made
      try {
        const run: ShellCase['run'] = (command, more) => shell.run(shell.resolve({ command, ...more }))
        await body({ leavesRunning: true, ...made, run })
      } finally {
        await made.dispose()
      }
    })
  }
  describe(`${name} keeps the shell contract`, () => {
    describe('standard input, prompts and settling', () => settleRows(test))
    describe('timeout, abort, process tree and disposal', () => lifecycleRows(test))
    describe('commands that are watched, detached and killed', () => processRows(test))
    describe('output', () => outputRows(test))
    describe('spill', () => spillRows(test))
    describe('environment', () => environmentRows(test))
    describe('requests and folders', () => requestRows(test))
    describe('load', () => loadRows(test, options.endurance === true))
    if (options.host !== undefined) {
      const { host } = options
      describe('the death of the host', () => hostRows(it, host))
    }
  })
}
