// A code runtime for tests of the bridge: runs the program in this very process. The real one has a contract suite of its own.
import type { Context } from '@deepseek-ai/cordis'

type Binding = { global: string; names: readonly string[]; call: (name: string, argument: never) => Promise<unknown> }

const AsyncFunction = (async () => undefined).constructor as new (
  ...source: string[]
) => (...globals: unknown[]) => Promise<unknown>

export function inProcessRuntime(): { language: string; run: (request: never) => Promise<unknown> } {
  return {
    language: 'typescript',
    async run({
      program,
      bindings,
      onLog,
    }: {
      program: string
      bindings: readonly Binding[]
      onLog?: (line: string) => void
    }) {
      const logs: string[] = []
      const print = (line: unknown): void => {
        logs.push(String(line))
        onLog?.(String(line))
      }
      const [binding] = bindings
      const tools = Object.fromEntries(
        (binding?.names ?? []).map((name) => [name, (argument: never) => binding?.call(name, argument)]),
      )
      try {
        const value = await new AsyncFunction('tools', 'print', program)(tools, print)
        return value === undefined ? { logs } : { value, logs }
      } catch (error) {
        return { logs, error: { kind: 'exception', message: (error as Error).message } }
      }
    },
  }
}

export function provideRuntime(ctx: Context, runtime: unknown = inProcessRuntime()): void {
  ctx.provide('codeRuntime', runtime as never)
}
