// The contract suite of code runtimes: every provider of `ctx.codeRuntime` runs it. What programs can do, must not reach, and how
// each failure is named. Runner-agnostic: the caller hands in `describe` and `it`.
import type { CodeBinding, CodeRunRequest, CodeRunResult, CodeRuntime } from '@deepseek-ai/dsh-code-runtime'
import type { SuiteRunner } from '../shell/suite.ts'
import { bindingRows } from './binding-rows.ts'
import { escapeRows } from './escape-rows.ts'
import { languageRows } from './language-rows.ts'
import { lifecycleRows } from './lifecycle-rows.ts'
import { limitRows } from './limit-rows.ts'

export interface CodeRuntimeLimits {
  computeMs: number
  maxWallMs: number
  maxOutputBytes: number
  maxMemoryMb: number
}

export interface CodeRuntimeUnderTest {
  runtime: CodeRuntime
  /** Ends the provider as its host would. */
  dispose: () => Promise<unknown>
}

/** Makes a provider with the limits that the suite names; everything else as shipped. */
export type CodeRuntimeFactory = (limits: CodeRuntimeLimits) => Promise<CodeRuntimeUnderTest>

export interface CodeCase {
  /** Runs with the binding `tools`: `echo` gives its argument back, `fail` rejects with `told to fail`, `never` stays pending. */
  run: (program: string, more?: Partial<CodeRunRequest>) => Promise<CodeRunResult>
  runtime: CodeRuntime
  limits: CodeRuntimeLimits
  make: CodeRuntimeFactory
}

export type CodeTest = (name: string, body: (code: CodeCase) => Promise<void>) => void

const LIMITS: CodeRuntimeLimits = { computeMs: 1500, maxWallMs: 20_000, maxOutputBytes: 65_536, maxMemoryMb: 64 }

export const TOOLS: CodeBinding = {
  global: 'tools',
  names: ['echo', 'fail', 'never', 'odd name', '__proto__', 'constructor'],
  async call(name, argument) {
    if (name === 'fail') throw new Error('told to fail')
    if (name === 'never') return await new Promise(() => {})
    return argument
  },
  errorClass: { name: 'ToolCallError', memberNameProperty: 'toolName' },
}

/** Registers the suite. One provider serves all rows but those of its lifecycle, since a run must not tell of an earlier one. */
export function testCodeRuntime({ describe, it }: SuiteRunner, name: string, factory: CodeRuntimeFactory): void {
  let shared: Promise<CodeRuntimeUnderTest> | undefined
  const test: CodeTest = (title, body) => {
    it(title, async () => {
      const { runtime } = await (shared ??= factory(LIMITS))
      await body({
        runtime,
        limits: LIMITS,
        make: factory,
        run: (program, more) => runtime.run({ program, bindings: [TOOLS], ...more }),
      })
    })
  }
  describe(`${name} keeps the code-runtime contract`, () => {
    describe('language, results and console', () => languageRows(test))
    describe('bindings', () => bindingRows(test))
    describe('escape attempts', () => escapeRows(test))
    describe('limits', () => limitRows(test))
    describe('lifecycle', () => lifecycleRows(test))
    it('ends with its host', async () => {
      await (await shared)?.dispose()
    })
  })
}
