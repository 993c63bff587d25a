// Public surface of @deepseek-ai/dsh-testkit. Anything added here is public.
export {
  testShell,
  type ShellFactory,
  type ShellSuiteOptions,
  type ShellUnderTest,
  type SuiteRunner,
} from './shell/suite.ts'
export {
  testCodeRuntime,
  type CodeRuntimeFactory,
  type CodeRuntimeLimits,
  type CodeRuntimeUnderTest,
} from './code-runtime/suite.ts'
export { checkTool } from './tool/check-tool.ts'
export type { ArbitraryOverrides, RunWorld, ToolCheckOptions, ToolUnderTest } from './tool/options.ts'
export { formatReport, type CheckId, type CheckReport, type ToolReport } from './tool/report.ts'
export { testTool, type ToolSuiteOptions, type ToolSuiteRunner } from './tool/suite.ts'
export { TestkitOptionsError } from './errors.ts'
export {
  testSandbox,
  type SandboxFactory,
  type SandboxRow,
  type SandboxSuiteRunner,
  type SandboxUnderTest,
} from './sandbox/suite.ts'
export {
  testFs,
  type FsFactory,
  type FsRow,
  type FsSuiteOptions,
  type FsSuiteRunner,
  type FsUnderTest,
} from './fs/suite.ts'
