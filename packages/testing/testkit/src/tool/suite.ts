// The contract suite of tools: `checkTool` as one test a check. Runner-agnostic: the caller hands in `describe` and `it`.
import assert from 'node:assert/strict'
import { ToolChecker } from './check-tool.ts'
import type { ToolCheckOptions, ToolUnderTest } from './options.ts'
import { CHECK_IDS, CHECK_TITLES } from './report.ts'

/** What the suite needs of a test runner; vitest's and `node:test`'s own functions fit. */
export interface ToolSuiteRunner {
  describe: (name: string, body: () => void) => unknown
  /** A test context with `skip(reason)`, where the runner passes one, gets told of checks with nothing to check. */
  it: (name: string, body: (...context: unknown[]) => Promise<void>) => unknown
}

export interface ToolSuiteOptions extends ToolCheckOptions {
  /** Title of the suite. Default: the tool's name; needed where the tool is made by a function. */
  title?: string
}

/** Registers the suite. Options that do not fit throw `TestkitOptionsError` here, or fail the tests that need them. */
export function testTool(
  { describe, it }: ToolSuiteRunner,
  subject: ToolUnderTest,
  options: ToolSuiteOptions = {},
): void {
  const { title = typeof subject === 'function' ? 'the tool' : subject.name, ...rest } = options
  const checker = new ToolChecker(subject, rest)
  describe(`${title} keeps the tool contract`, () => {
    for (const id of CHECK_IDS) {
      // Rest parameters keep the length at 0: some runners take a test that names one for a callback test.
      it(`${CHECK_TITLES[id]} (${id})`, async (...[context]: unknown[]) => {
        const { status, reason, example } = await checker.check(id)
        if (status === 'skipped') skipTest(context, reason)
        if (status === 'failed') assert.fail(example === undefined ? reason : `${reason}\nwith ${example}`)
      })
    }
  })
}

function skipTest(context: unknown, reason: string | undefined): void {
  const skip: unknown = (context as { skip?: unknown } | undefined)?.skip
  if (typeof skip === 'function') skip.call(context, reason)
}
