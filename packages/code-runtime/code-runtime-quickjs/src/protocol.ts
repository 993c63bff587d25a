// What host and worker say to each other, and the shared words they wake and stop each other with. Types and constants only.
import type { MessagePort } from 'node:worker_threads'
import type { CompiledModule } from './web-assembly.ts'

export interface BindingShape {
  global: string
  names: readonly string[]
  errorClass?: { name: string; memberNameProperty: string }
}

export interface WorkerBoot {
  port: MessagePort
  control: SharedArrayBuffer
  wasm: CompiledModule
  maxMemoryMb: number
}

/** Words of the control block: a counter that the worker sleeps on, and the number of the run that must stop. */
export const WAKE = 0
export const STOP = 1
export const CONTROL_BYTES = 8

/** `[id, resolved, JSON of the value or of the message]`. */
export type Settlement = [id: number, resolved: boolean, text: string]

export type ToWorker =
  | { type: 'run'; run: number; code: string; bindings: string; computeMs: number; maxOutputBytes: number }
  | { type: 'settle'; run: number; settlements: Settlement[] }

/** `text`: JSON of `[id, index of the binding, index of the name, argument]`. */
export interface Call {
  id: number
  text: string
}

export type GuestFailureKind = 'exception' | 'timeout' | 'invalid-output' | 'output-limit' | 'memory' | 'stopped'

export interface GuestFailure {
  kind: GuestFailureKind
  message: string
  /** Stack in positions of the erased code. */
  stack?: string
}

export type FromWorker =
  | { type: 'ready' }
  | { type: 'batch'; run: number; logs: string[]; calls: string[] }
  /** `value`: JSON, absent for `undefined`. `spent`: the worker has grown and should not serve another run. */
  | { type: 'done'; run: number; logs: string[]; value?: string; failure?: GuestFailure; spent: boolean }
  /** The engine itself broke; the worker exits. `run`: the last that had started. */
  | { type: 'fatal'; run: number; message: string; outOfMemory: boolean }

/** Name that frames of the program carry in stacks. */
export const PROGRAM_FILE = 'program.ts'
