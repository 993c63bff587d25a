// What host and worker say to each other, and the shared words they wake and stop each other with. Types, constants and formats only.
import type { MessagePort } from 'node:worker_threads'
import type { Json } from '@deepseek-ai/dsh-tools'
import { CHANNEL_BYTES } from './channel.ts'
import type { CompiledModule } from './web-assembly.ts'

export interface BindingShape {
  global: string
  names: readonly string[]
  errorClass?: { name: string; memberNameProperty: string }
}

export interface WorkerBoot {
  port: MessagePort
  shared: SharedArrayBuffer
  wasm: CompiledModule
  maxMemoryMb: number
}

/** Words of the control block: a counter that the worker sleeps on, and the number of the run that must stop. */
export const WAKE = 0
export const STOP = 1
/** A counter that the host sleeps on; and whether it looks by itself, so that nobody needs to wake it. */
export const RING = 2
export const LOOKING = 3
const CONTROL_BYTES = 16

/** Where the channels lie in the shared memory. */
export const TO_WORKER_AT = CONTROL_BYTES
export const TO_HOST_AT = CONTROL_BYTES + CHANNEL_BYTES
export const SHARED_BYTES = CONTROL_BYTES + 2 * CHANNEL_BYTES

/** To the host: JSON of console lines and of calls, each `[id, index of the binding, index of the name, argument]`. */
export type Batch = [logs: string[], calls: [id: number, binding: number, name: number, argument: Json][]]

/** To the worker: the ids that it lists, a semicolon, and JSON for the guest: a list of `[id, resolved, value or message]`. */
export const settlementText = (ids: readonly number[], settlements: readonly string[]): string =>
  `${ids.join(',')};[${settlements.join(',')}]`

/** `large`: a text that does not fit into its channel, under its number there. */
type Large = { type: 'large'; number: number; text: string }

/** `received`: texts of the channel that belong to earlier runs. */
export type ToWorker =
  | {
      type: 'run'
      run: number
      received: number
      code: string
      bindings: string
      computeMs: number
      maxOutputBytes: number
    }
  | Large

/** `text`: JSON of `[id, index of the binding, index of the name, argument]`. */
export interface Call {
  id: number
  text: string
}

export type GuestFailureKind =
  | 'exception'
  | 'timeout'
  | 'deadlock'
  | 'invalid-output'
  | 'output-limit'
  | 'memory'
  | 'stopped'

export interface GuestFailure {
  kind: GuestFailureKind
  message: string
  /** Stack in positions of the erased code. */
  stack?: string
}

export type FromWorker =
  | { type: 'ready' }
  | Large
  /** `value`: JSON, absent for `undefined`. `spent`: the worker has grown and should not serve another run. */
  | { type: 'done'; run: number; logs: string[]; value?: string; failure?: GuestFailure; spent: boolean }
  /** The engine itself broke; the worker exits. `run`: the last that had started. */
  | { type: 'fatal'; run: number; message: string; outOfMemory: boolean }

/** Name that frames of the program carry in stacks. */
export const PROGRAM_FILE = 'program.ts'
