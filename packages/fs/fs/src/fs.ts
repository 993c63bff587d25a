// The abstract file service: what every provider promises.
import { Service, type Context } from '@deepseek-ai/cordis'
import type { SandboxPolicy } from '@deepseek-ai/dsh-sandbox'
import type {
  FsEdit,
  FsEntry,
  FsInfo,
  FsLines,
  FsTarget,
  FsText,
  FsWriteOptions,
  FsWriteResult,
  LineRange,
} from './types.ts'

declare module '@deepseek-ai/cordis' {
  interface Context {
    fs: Fs
  }
}

export interface FsReadOptions {
  readonly signal?: AbortSignal | undefined
  /** Denied reads are refused with `FS_SANDBOX_DENIED`. Omitted: not fenced. */
  readonly policy?: SandboxPolicy | undefined
}

/**
 * `ctx.fs`: files by target, each failure an `FsError`.
 *
 * - Writers of one target take turns, whatever path or link they came by. A write is published whole or not at all: staged beside the
 *   target, flushed, renamed; a kill at any moment leaves the old file or the new one. Links are written through and stay links; permission bits stay.
 * - An edit keeps encoding, byte order mark, each line's ending, the final newline, the mode and every byte outside the match, and checks that it has.
 * - Under a policy writes are fenced by the real path as it is at the moment of the write.
 */
export abstract class Fs extends Service {
  constructor(ctx: Context) {
    super(ctx, 'fs')
    const tracker = Reflect.get(this, Service.tracker) as { noShadow?: boolean }
    tracker.noShadow = true
  }

  /** Absolute, or relative to `cwd` (default: the process's). A file that does not exist has a target too. A name in another Unicode form, or with another kind of space, is found when it is the only one. */
  abstract resolve(
    path: string,
    options?: { readonly cwd?: string | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<FsTarget>

  /** Undefined when there is nothing. Follows links. */
  abstract stat(target: FsTarget, options?: FsReadOptions): Promise<FsInfo | undefined>

  /** The whole text. `FS_TOO_LARGE` above `maxBytes` (default 64 MiB), `FS_NOT_TEXT` for binary files. */
  abstract readText(target: FsTarget, options?: FsReadOptions & { readonly maxBytes?: number }): Promise<FsText>

  /** Some lines, in memory proportional to them. */
  abstract readLines(target: FsTarget, range?: LineRange, options?: FsReadOptions): Promise<FsLines>

  /** The bytes. `FS_TOO_LARGE` above `maxBytes`, never cut. */
  abstract readBytes(target: FsTarget, options: FsReadOptions & { readonly maxBytes: number }): Promise<Uint8Array>

  /** One level, by name. What cannot be looked at is listed as `other`. */
  abstract list(target: FsTarget, options?: FsReadOptions): Promise<FsEntry[]>

  /** Creates or replaces. An existing file keeps its encoding, byte order mark and mode, and its line ending where it has one only. Missing folders are made. */
  abstract write(target: FsTarget, text: string, options?: FsWriteOptions): Promise<FsWriteResult>

  /** All edits or none, each against the text that the ones before it left. */
  abstract edit(target: FsTarget, edits: readonly FsEdit[], options?: FsWriteOptions): Promise<FsWriteResult>
}
