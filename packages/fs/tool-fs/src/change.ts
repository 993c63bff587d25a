// What write, edit and multi_edit have in common: a file is looked at, policies are asked, it is changed under that very version, and told.
import { FsError, type FsEdit, type FsObservation, type FsTarget, type FsWriteResult } from '@deepseek-ai/dsh-fs'
import type { SandboxPolicy } from '@deepseek-ai/dsh-sandbox'
import type { ToolExecution } from '@deepseek-ai/dsh-tools'
import { advising, advised } from './errors.ts'
import { observationOf, sameObservation } from './events.ts'
import { denialAdvice, permission, refuseUnknownAbilities, type EscalationArgs } from './permission.ts'
import { changeValue, type ChangeValue } from './schema.ts'
import { policyOf, targetOf, type FsToolSetup } from './services.ts'

/** What is to become of a file. */
export type Change =
  | { readonly operation: 'write'; readonly content: string }
  | { readonly operation: 'edit'; readonly edits: readonly FsEdit[] }

export interface ChangeArgs extends EscalationArgs {
  readonly path: string
}

export async function changeFile(
  setup: FsToolSetup,
  args: ChangeArgs,
  change: Change,
  exec: ToolExecution,
): Promise<ChangeValue> {
  refuseUnknownAbilities(setup.services, args)
  return advising(change.operation, async () => {
    const target = await targetOf(setup.services, args.path, exec)
    const call: ChangeCall = { setup, target, change, exec }
    const { policy, shown } = await allowedPolicy(call, args)
    return setup.queue.run(target.key, exec.signal, () => changeNow(call, policy, shown))
  })
}

interface ChangeCall {
  readonly setup: FsToolSetup
  readonly target: FsTarget
  readonly change: Change
  readonly exec: ToolExecution
}

interface Allowed {
  readonly policy: SandboxPolicy | undefined
  /** What a person was shown, when one was asked: nothing else may be changed then. */
  readonly shown?: FsObservation
}

async function allowedPolicy(call: ChangeCall, args: ChangeArgs): Promise<Allowed> {
  const { services } = call.setup
  const { target, exec, change } = call
  if (args.sandbox_permissions === undefined && args.justification === undefined) {
    return { policy: await policyOf(services, exec) }
  }
  const shown = observationOf(await services.fs.stat(target, { signal: exec.signal }))
  // Nobody is asked about a call that policy refuses anyway.
  await askPolicies(call, shown)
  return { policy: await permission(services, args, { target, change, exec }), shown }
}

async function changeNow(
  call: ChangeCall,
  policy: SandboxPolicy | undefined,
  shown: FsObservation | undefined,
): Promise<ChangeValue> {
  const { setup, target, change, exec } = call
  const { fs, events } = setup.services
  try {
    const existing = observationOf(await fs.stat(target, { signal: exec.signal, policy }))
    if (shown !== undefined && !sameObservation(shown, existing)) {
      throw new FsError(
        `${JSON.stringify(target.path)} was changed while the person was asked, so it is not what they agreed to; nothing was written`,
        'FS_STALE_VERSION',
      )
    }
    await askPolicies(call, existing)
    const result = await applied(call, existing, policy)
    const observation: FsObservation = { kind: 'present', version: result.version }
    events?.observed({ key: target.key, observation, agent: exec.agent })
    return changeValue(target, result, change.operation === 'write' ? change.content : undefined)
  } catch (error) {
    throw advised(error, await denialAdvice(setup.services, error, target, exec))
  }
}

/** A file that is not there cannot be edited, whoever has seen it. */
async function askPolicies({ setup, target, change, exec }: ChangeCall, existing: FsObservation): Promise<void> {
  const { operation } = change
  if (operation === 'edit' && existing.kind === 'absent') {
    throw new FsError(`cannot edit ${JSON.stringify(target.path)}: there is nothing at this path`, 'FS_NOT_FOUND')
  }
  const { key, path } = target
  await setup.services.events?.intent({ key, path, operation, observation: existing, agent: exec.agent })
}

function applied(
  { setup, target, change, exec }: ChangeCall,
  existing: FsObservation,
  policy: SandboxPolicy | undefined,
): Promise<FsWriteResult> {
  const { fs } = setup.services
  // The version that policies have judged is the one that is replaced.
  const options = {
    signal: exec.signal,
    policy,
    expected:
      existing.kind === 'present'
        ? ({ kind: 'version', version: existing.version } as const)
        : ({ kind: 'absent' } as const),
  }
  return change.operation === 'write'
    ? fs.write(target, change.content, options)
    : fs.edit(target, change.edits, options)
}
