// The contract of files: what a target is, what is known of one, what a write or an edit proves. No behaviour lives here.
import type { SandboxPolicy } from '@deepseek-ai/dsh-sandbox'

/** A file or a place for one. Compare `key`, show `path`. */
export interface FsTarget {
  /** The real path: the same for every spelling and link of it, stable across its creation. */
  readonly key: string
  /** Absolute, as it was asked for. */
  readonly path: string
}

/** Opaque: equal as long as nobody has changed the file. */
export type FsVersion = string & { readonly __brand?: 'FsVersion' }

export interface FsInfo {
  readonly version: FsVersion
  readonly type: 'file' | 'directory' | 'other'
  readonly size: number
  /** Permission bits, e.g. 0o644. */
  readonly mode: number
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number
}

export interface FsEntry {
  /** Not necessarily UTF-8 on disk; bytes that are none show as U+FFFD. */
  readonly name: string
  readonly type: 'file' | 'directory' | 'symlink' | 'other'
  /** Of files. */
  readonly size?: number
  /** Of links: where it leads, and whether anything is there. */
  readonly link?: { readonly to: string; readonly dangling: boolean }
}

/** How text is put into bytes. `bytes`: no Unicode encoding; each byte above 0x7f is kept as it is and shown as Latin-1. */
export type FsEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'bytes'

/** What must not change when a part of a file does. */
export interface FsFingerprint {
  /** Size of the whole file. */
  readonly bytes: number
  readonly encoding: FsEncoding
  readonly bom: boolean
  /** The line ending in use; `mixed` keeps each line's own. `none`: one line. */
  readonly eol: 'lf' | 'crlf' | 'cr' | 'mixed' | 'none'
  readonly finalNewline: boolean
  readonly mode: number
}

export interface FsText {
  readonly text: string
  readonly version: FsVersion
  readonly fingerprint: FsFingerprint
}

/** Some lines of a file, without holding it whole. */
export interface FsLines {
  /** Without line endings; a line over the limit is cut and ends with a mark that says so. */
  readonly lines: readonly { readonly number: number; readonly text: string }[]
  /** Exact when `complete`; otherwise as many as were counted. */
  readonly totalLines: number
  /** The whole file was looked at: `totalLines` is exact. */
  readonly complete: boolean
  /** A limit ended the lines before `count`. */
  readonly cut: boolean
  readonly version: FsVersion
  /** Of the part that was looked at; exact when `complete`. */
  readonly fingerprint: FsFingerprint
}

export interface LineRange {
  /** 1-based. Default 1. */
  readonly offset?: number
  /** Default 2000. */
  readonly count?: number
  /** Of all lines together. Default 65,536. */
  readonly maxBytes?: number
  /** Of one line, in UTF-16 units. Default 2000. */
  readonly maxLineLength?: number
  /** Count the lines of the whole file, however large. Default: files up to 10 MiB. */
  readonly countAll?: boolean
}

/** What must be true of the target for a write to go ahead. */
export type FsExpectation =
  | { readonly kind: 'absent' }
  | { readonly kind: 'version'; readonly version: FsVersion }
  /** Whatever is there is replaced. */
  | { readonly kind: 'any' }

export interface FsRange {
  /** Bytes, end exclusive. */
  readonly start: number
  readonly end: number
}

/** How an old text was found. Matching may be lenient; what is written is exact. */
export type FsStrategy = 'exact' | 'line-endings' | 'whitespace'

/** Proof of what a write touched. */
export interface FsReceipt {
  readonly strategy: FsStrategy | 'whole'
  /** In the new file: what is new. Everything else is byte for byte what it was, which has been checked. At most 1000; more are told in neighbouring groups. */
  readonly ranges: readonly FsRange[]
  readonly lines: { readonly added: number; readonly removed: number }
  /** Null for a new file. */
  readonly before: FsFingerprint | null
  readonly after: FsFingerprint
}

export interface FsHunk {
  /** 1-based line of the first line of each side, context included. */
  readonly oldStart: number
  readonly newStart: number
  readonly oldText: string
  readonly newText: string
}

export interface FsWriteResult {
  readonly operation: 'created' | 'replaced' | 'edited'
  readonly version: FsVersion
  readonly receipt: FsReceipt
  /**
   * With three lines around each. Minimal up to some 14,000 changed lines on both sides; beyond, no line stands on both sides of one change.
   * At most 256 Ki UTF-16 units together.
   */
  readonly hunks: readonly FsHunk[]
  /** Some changed lines are not in `hunks`: the last hunk may end early. */
  readonly hunksCut: boolean
}

export interface FsEdit {
  readonly oldText: string
  readonly newText: string
  /** Replace every occurrence. Default: exactly one must exist. */
  readonly all?: boolean
}

export interface FsWriteOptions {
  readonly signal?: AbortSignal | undefined
  /** Fences the write: `FS_SANDBOX_DENIED` with the rule. Omitted: not fenced. */
  readonly policy?: SandboxPolicy | undefined
  /** Default `any` for a write; for an edit the version it must have. */
  readonly expected?: FsExpectation
}
