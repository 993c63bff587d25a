// The policy: who writes a file has seen it as it is. Knows no tool and no provider; without it tools write what they are told to.
import { fillDefaults, type Context } from '@deepseek-ai/cordis'
import { FsError, type FsIntent, type FsObservation } from '@deepseek-ai/dsh-fs'
import { Config, DEFAULTS, type ReadBeforeWriteConfig } from './config.ts'
import { Observations, isSame } from './observations.ts'

export const name = 'read-before-write'
export { Config }

export function apply(ctx: Context, options: Partial<ReadBeforeWriteConfig> = {}): void {
  const { withoutAgent } = fillDefaults(DEFAULTS, options)
  const observations = new Observations()
  ctx.on('fs/observed', (observed) => observations.record(observed))
  ctx.on('fs/intent', async (intent, next) => {
    if (intent.agent !== undefined || withoutAgent === 'track') {
      judge(intent, await observations.of(intent.agent, intent.key))
    }
    return next()
  })
}

const WHO = 'by a shell command, another agent or the person'

function judge({ path, operation, observation: now }: FsIntent, seen: FsObservation | undefined): void {
  const file = JSON.stringify(path)
  // What nobody has looked at may be created.
  if (now.kind === 'absent' && seen?.kind !== 'present') return
  if (seen !== undefined && isSame(seen, now)) return
  if (seen === undefined) {
    const what = operation === 'edit' ? 'edit' : 'overwrite'
    throw new FsError(
      `cannot ${what} ${file}: it exists, and you have not read it. Read it first, then repeat the call.`,
      'FS_NOT_OBSERVED',
    )
  }
  if (seen.kind === 'absent') {
    throw new FsError(
      `${file} was not there when you looked, and is now: it was created meanwhile, ${WHO}. Read it first, then decide what to do with it.`,
      'FS_NOT_OBSERVED',
    )
  }
  const what = now.kind === 'absent' ? 'removed' : 'changed'
  throw new FsError(
    `${file} was ${what} since you read it, possibly ${WHO}. Read it again, and repeat the change on what is there now.`,
    'FS_STALE_VERSION',
  )
}
