// What the registry needs of a code runtime. The service definition lives in @deepseek-ai/dsh-code-runtime, which builds on this package.
import type { Json } from '../presentation.ts'

export interface CodeRunner {
  readonly language: string
  run(request: {
    program: string
    bindings: readonly {
      global: string
      names: readonly string[]
      call(name: string, argument: Json): Promise<Json>
      errorClass?: { name: string; memberNameProperty: string }
    }[]
    signal?: AbortSignal
    onLog?: (line: string) => void
  }): Promise<{
    readonly value?: Json
    readonly logs: readonly string[]
    readonly error?: { readonly kind: string; readonly message: string }
  }>
}
