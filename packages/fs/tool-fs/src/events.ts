// Tells policies what tools have seen of files, and asks them before a write.
import { dispatchChain, emitContained, errorMessage, hooksOf, type Context } from '@deepseek-ai/cordis'
import type { FsInfo, FsIntent, FsObservation, FsObserved } from '@deepseek-ai/dsh-fs'

export interface FsEvents {
  /** Never throws. */
  observed(observed: FsObserved): void
  /** Rejects with the error of the policy that refuses. */
  intent(intent: FsIntent): Promise<void>
}

/** `fs/observed` and `fs/intent` on a host, for the listeners of the calling agent's scopes and global ones. */
export function hostEvents(ctx: Context): FsEvents {
  const hooks = hooksOf(ctx)
  const logger = ctx.logger('tool-fs')
  const report = (error: unknown): void => logger.warn('a listener of fs/observed failed: %s', errorMessage(error))
  return {
    observed: (observed) => emitContained(hooks['fs/observed'], observed.agent, [observed], report),
    intent: async (intent) => {
      await dispatchChain<void>(hooks['fs/intent'], intent.agent, [intent], () => {}, { promised: true })
    },
  }
}

export const ABSENT: FsObservation = { kind: 'absent' }

export function observationOf(info: FsInfo | undefined): FsObservation {
  return info === undefined ? ABSENT : { kind: 'present', version: info.version }
}

export function sameObservation(a: FsObservation, b: FsObservation): boolean {
  return a.kind === 'present' && b.kind === 'present' ? a.version === b.version : a.kind === b.kind
}
