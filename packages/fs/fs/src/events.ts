// What the session log keeps of files: who has seen which version, so that a session that is opened again still knows.
import type { FsVersion } from './types.ts'
import type { ScopeKey } from '@deepseek-ai/cordis'
import type { ToolAgent } from '@deepseek-ai/dsh-tools'

/** A version, or that there was nothing. */
export type FsObservation = { readonly kind: 'present'; readonly version: FsVersion } | { readonly kind: 'absent' }

export interface FsObserved {
  /** The target's key. */
  readonly key: string
  readonly observation: FsObservation
  readonly agent: (ToolAgent & ScopeKey) | undefined
}

/** A tool is about to write. `existing` is what is there now. */
export interface FsIntent extends FsObserved {
  readonly path: string
  readonly operation: 'write' | 'edit'
}

declare module '@deepseek-ai/cordis' {
  interface Events {
    /** A tool has seen a file as it is, by reading or by writing it. */
    'fs/observed'(observed: FsObserved): void
    /** Policy before a tool's write: throw an `FsError` to refuse, return `next()` to pass. Around-middleware. */
    'fs/intent'(intent: FsIntent, next: () => Promise<void>): Promise<void>
  }
}
