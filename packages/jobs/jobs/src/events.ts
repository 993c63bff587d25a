// What the session log holds of jobs, so that a session that is opened again shows what ran and tells its model what became of it.
import type { JobEnd } from './types.ts'

export interface JobStarted {
  readonly id: string
  readonly kind: string
  readonly label: string
  /** The call that started it, or that it was promoted from. */
  readonly callId?: string
}

export interface JobEnded extends JobStarted {
  /** `lost`: how it ended is not known. */
  readonly status: JobEnd['status'] | 'lost'
  readonly detail?: string
  readonly survivors?: JobEnd['survivors']
}

/** The model knows of these ends: by a message, by having read them, or because it killed the jobs itself. */
export interface JobsTold {
  readonly ids: readonly string[]
  readonly by: 'notice' | 'read' | 'kill'
}

declare module '@deepseek-ai/dsh-session' {
  interface SessionEventMap {
    'job/started': JobStarted
    'job/ended': JobEnded
    'job/told': JobsTold
  }
}
