// Public surface of @deepseek-ai/dsh: the command line as a function. Anything added here is public.
export { EXIT, type ExitCode } from './exit.ts'
export { main } from './main.ts'
