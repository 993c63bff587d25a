// The parameters with which a model asks to let one write pass the sandbox: shown only where somebody can be asked.
import { ESCALATION_PARAMETERS } from '@deepseek-ai/dsh-approval'
import type { ParameterSchemaSpec } from '@deepseek-ai/dsh-tools'
import { canEscalate } from './permission.ts'
import type { FsToolServices } from './services.ts'

interface Escalatable<P> {
  /** Typed with all of them: the optional ones simply never arrive. */
  readonly parameters: P & typeof ESCALATION_PARAMETERS
  /** A paragraph for the description. */
  readonly note: string
}

const NOTE = `\n\nWrites are fenced by a sandbox. Try first; only after FS_SANDBOX_DENIED repeat the same call with sandbox_permissions and a \
justification. A refusal by the person is final for that change.`

export function withEscalation<P extends ParameterSchemaSpec>(services: FsToolServices, own: P): Escalatable<P> {
  const can = canEscalate(services)
  const parameters = (can ? { ...own, ...ESCALATION_PARAMETERS } : own) as P & typeof ESCALATION_PARAMETERS
  return { parameters, note: can ? NOTE : '' }
}
