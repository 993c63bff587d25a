// The configuration of the policy: fields, defaults, checks.
import { configSchema, nonBlankTexts, trueOrFalse, type ConfigCheck } from '@deepseek-ai/cordis'
import type { SandboxPolicyConfig } from './policy-types.ts'
import { SANDBOX_MODES } from './types.ts'

const NETWORKS = ['none', 'allowlist', 'open']

export const POLICY_DEFAULTS: SandboxPolicyConfig = {
  mode: 'workspace-write',
  // Without a network no package manager works; who wants it shut says so.
  network: 'open',
  allowedHosts: [],
  writableRoots: [],
  deniedReads: [],
  nestedNamespaces: false,
  unixSockets: false,
}

const oneOf =
  (names: readonly string[]): ConfigCheck =>
  (value) =>
    names.includes(value as string) ? undefined : `one of ${names.join(', ')}`

const folders: ConfigCheck = (value) =>
  nonBlankTexts(value) ??
  ((value as string[]).every((path) => path.startsWith('/') || path.startsWith('~/') || /^[A-Za-z]:[\\/]/.test(path))
    ? undefined
    : 'a list of absolute paths, or paths that begin with "~/"')

export const sandboxPolicyConfig = configSchema<SandboxPolicyConfig>('sandbox-policy', POLICY_DEFAULTS, {
  mode: oneOf(SANDBOX_MODES),
  network: oneOf(NETWORKS),
  allowedHosts: nonBlankTexts,
  writableRoots: folders,
  deniedReads: folders,
  nestedNamespaces: trueOrFalse,
  unixSockets: trueOrFalse,
})
