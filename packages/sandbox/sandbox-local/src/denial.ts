// Tells a refusal by our policy from every other failure of a command. The text of the failure only nominates; what counts is that
// the policy refuses the access and that the plain user could have had it. Refusals of the proxy are known exactly and not guessed here.
import type {
  ConfinedOutcome,
  SandboxAccess,
  SandboxDenial,
  SandboxPolicy,
  SandboxRule,
} from '@deepseek-ai/dsh-sandbox'
import { isAbsolute, resolve } from 'node:path'
import { nominate, type Nominee } from './denial/nominees.ts'
import { needsCapability, userMay } from './denial/plain-user.ts'
import { unreachableHosts } from './denial/network-texts.ts'
import { matchesPattern, normalizeHost, parseHostPattern } from './network/hosts.ts'

export interface DenialInput {
  readonly outcome: ConfinedOutcome
  readonly policy: SandboxPolicy
  /** What relative paths are relative to. */
  readonly workdir: string
  readonly judge: (
    path: string,
    access: SandboxAccess,
    policy: SandboxPolicy,
  ) => { readonly allowed: true } | { readonly allowed: false; readonly rule: SandboxRule }
}

const MOST = 20

/** Files first, in the order of the text; each once, at most 20. Empty does not mean that nothing was denied. */
export function confirmDenials(input: DenialInput): SandboxDenial[] {
  const found = new Map<string, SandboxDenial>()
  for (const nominee of nominate(input.outcome.stderrTail)) {
    const denial = confirm(nominee, input)
    if (denial) found.set(`${denial.kind} ${denial.target}`, denial)
    if (found.size === MOST) break
  }
  return [...found.values(), ...likelyNetwork(input)].slice(0, MOST)
}

function confirm({ path, reason }: Nominee, { policy, workdir, judge }: DenialInput): SandboxDenial | undefined {
  const target = isAbsolute(path) ? resolve(path) : resolve(workdir, path)
  // Note: /tmp is the session's own inside, and another file system than the workspace; the host's /tmp says nothing of it.
  if (reason === 'crossing' && process.platform === 'linux' && target.startsWith('/tmp/')) return undefined
  const read = judge(target, 'read', policy)
  if (!read.allowed)
    return userMay(target, 'read') ? { kind: 'read', target, rule: read.rule, confidence: 'confirmed' } : undefined
  const write = judge(target, 'write', policy)
  if (write.allowed || !userMay(target, 'write')) return undefined
  return reason !== 'permission' || isWriteRefusal(target)
    ? { kind: 'write', target, rule: write.rule, confidence: 'confirmed' }
    : undefined
}

/**
 * "Permission denied" may be about reading or running as well. On Linux a read-only mount answers with another error, so that this one
 * comes from the file's own mode: the policy's doing only where the command lacks the capability of its user. Seatbelt says nothing else.
 */
function isWriteRefusal(target: string): boolean {
  return process.platform === 'darwin' || needsCapability(target)
}

function likelyNetwork({ outcome, policy }: DenialInput): SandboxDenial[] {
  if (policy.network === 'open' || outcome.exitCode === 0) return []
  const hosts = unreachableHosts(outcome.stderrTail)
  const likely = (target: string, rule: SandboxRule): SandboxDenial => ({
    kind: 'network',
    target,
    rule,
    confidence: 'likely',
  })
  if (policy.network === 'none') return hosts.map((host) => likely(host, 'network-none'))
  // A program that went past the proxy: without a name it cannot be told whether the host would have been allowed.
  return hosts.filter((host) => host !== '' && !isAllowed(host, policy)).map((host) => likely(host, 'host-not-allowed'))
}

function isAllowed(target: string, { allowedHosts }: SandboxPolicy): boolean {
  const host = normalizeHost(target.replace(/:\d+$/, ''))
  if (host === undefined) return false
  const patterns = allowedHosts.map(parseHostPattern)
  return patterns.some((pattern) => matchesPattern(pattern, host, pattern.port ?? 443))
}
