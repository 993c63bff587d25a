// The contract of code runtimes: what runs, what it may call, what comes back. No behaviour lives here.
import type { Json } from '@deepseek-ai/dsh-tools'

/**
 * An object of functions that a program sees as a global. A call detaches its argument as lossless JSON and resolves with the value
 * of the handler; a rejection becomes an instance of `errorClass` inside the program.
 */
export interface CodeBinding {
  /** Name of the global: a plain identifier, not a reserved word and not one of the runtime's own globals. */
  readonly global: string
  /** Names that the object has, in order. Any string; `tools['odd name']` reaches odd ones. */
  readonly names: readonly string[]
  /** Contract: may reject; only the message of what it rejects with reaches the program. */
  call(name: string, argument: Json): Promise<Json>
  readonly errorClass?: {
    /** Name of the class and of the global that holds it. */
    readonly name: string
    /** Property that carries the name of the function that failed. */
    readonly memberNameProperty: string
  }
}

export interface CodeRunRequest {
  /** Body of an async function, in the runtime's language; `return` gives the result. */
  readonly program: string
  readonly bindings: readonly CodeBinding[]
  readonly signal?: AbortSignal
  /** Each finished console line as it comes. Contract: must not throw. */
  readonly onLog?: (line: string) => void
}

/**
 * `exception`: the program threw or did not parse. `timeout`: busy or wall-clock limit. `deadlock`: the program awaits what nothing
 * pending, no call and no timer, can settle. `abort`: the caller's signal. `invalid-output`: the result is not lossless JSON.
 * `output-limit`: logs and result together exceed the limit. `memory`: out of memory. `runtime-exit`: the runtime itself died.
 */
export type CodeFailureKind =
  | 'exception'
  | 'timeout'
  | 'deadlock'
  | 'abort'
  | 'invalid-output'
  | 'output-limit'
  | 'memory'
  | 'runtime-exit'

export interface CodeRunResult {
  /** What the program returned; absent for `undefined` and after a failure. */
  readonly value?: Json
  /** Console lines in order, those before a failure or a kill included. */
  readonly logs: readonly string[]
  readonly error?: { readonly kind: CodeFailureKind; readonly message: string }
}
