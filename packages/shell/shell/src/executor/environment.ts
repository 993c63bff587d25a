// The environment of a command: the host's own, without secrets, with everything that would prompt, page or colour turned off.

/**
 * Names that look like a secret, `_PWD` and `_AUTH` only as endings so that PWD and SSH_AUTH_SOCK stay; and facts of the
 * harness itself: a command gets those that are meant for it, never those of the process that hosts it.
 */
const SECRET = /KEY|PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|CREDENTIAL|COOKIE|PGPASSFILE|_PAT$|_PWD$|_AUTH$|^DSH_/i

/** What would force colour back on, or point a password prompt at the terminal of the person who runs the host. */
const DROPPED = new Set(['FORCE_COLOR', 'CLICOLOR_FORCE', 'COLORTERM', 'GPG_TTY', 'OLDPWD'])

/**
 * What keeps well-behaved programs from waiting for a person. `CI` is left out on purpose: it changes what package managers
 * and test runners do (frozen lockfiles, warnings as errors), not only whether they ask.
 */
export const QUIET_ENVIRONMENT: Readonly<Record<string, string>> = {
  NO_COLOR: '1',
  TERM: 'dumb',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  SYSTEMD_PAGER: 'cat',
  AWS_PAGER: '',
  EDITOR: 'true',
  VISUAL: 'true',
  GIT_EDITOR: 'true',
  GIT_SEQUENCE_EDITOR: 'true',
  GIT_TERMINAL_PROMPT: '0',
  GCM_INTERACTIVE: 'never',
  SSH_ASKPASS_REQUIRE: 'never',
  DEBIAN_FRONTEND: 'noninteractive',
  PIP_NO_INPUT: '1',
  npm_config_yes: 'true',
  COREPACK_ENABLE_DOWNLOAD_PROMPT: '0',
}

/** The same few names are judged at each call. */
const verdicts = new Map<string, boolean>()

/** True when a variable of the host must not reach a command. */
export function isSecretName(name: string): boolean {
  let verdict = verdicts.get(name)
  if (verdict === undefined) verdicts.set(name, (verdict = SECRET.test(name)))
  return verdict
}

export interface EnvironmentLayers {
  /** The host's environment. */
  ambient: Readonly<Record<string, string | undefined>>
  /** Exact names that pass although they look like a secret. */
  allow: ReadonlySet<string>
  /** What the provider turns off. */
  quiet: Readonly<Record<string, string>>
  /** What the caller names: wins over everything. */
  explicit: Readonly<Record<string, string>> | undefined
}

/** The complete environment of a command, weakest layer first. */
export function commandEnvironment({ ambient, allow, quiet, explicit }: EnvironmentLayers): Record<string, string> {
  const env: Record<string, string> = {}
  // Every access to the live process.env is a system call of sorts: own keys and one read each is the cheapest way through.
  for (const name of Reflect.ownKeys(ambient) as string[]) {
    if (DROPPED.has(name) || (isSecretName(name) && !allow.has(name))) continue
    const value = ambient[name]
    if (value !== undefined) env[name] = value
  }
  return Object.assign(env, quiet, explicit)
}
