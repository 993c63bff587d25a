// What the session log keeps: which version of a file the session's agent has seen last.
import type { FsObservation } from '@deepseek-ai/dsh-fs'

declare module '@deepseek-ai/dsh-session' {
  interface SessionEventMap {
    /** The agent has read or written the file, or found nothing there. The newest of a `key` counts. */
    'fs/observed': {
      /** Real path of the file. */
      readonly key: string
      readonly observation: FsObservation
    }
  }
}

export type { FsObservation }
