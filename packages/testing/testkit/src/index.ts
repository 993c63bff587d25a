// Public surface of @deepseek-ai/dsh-testkit. Anything added here is public.
export { testShell, type ShellFactory, type ShellUnderTest, type SuiteRunner } from './shell/suite.ts'
