import type {
  ConfinedOutcome,
  SandboxAccess,
  SandboxDenial,
  SandboxPolicy,
  SandboxVerdict,
} from '@deepseek-ai/dsh-sandbox'
export function confirmDenials(_input: {
  outcome: ConfinedOutcome
  policy: SandboxPolicy
  workdir: string
  judge: (path: string, access: SandboxAccess, policy: SandboxPolicy) => SandboxVerdict
}): SandboxDenial[] {
  return []
}
export class RepositoryAudit {
  constructor(_roots: readonly string[]) {}
  async before(): Promise<void> {}
  async after(): Promise<string[]> {
    return []
  }
}
