// Turns what a runner said when it failed into what a person can do about it.
import { readFileSync, readdirSync } from 'node:fs'

/** What of the machine decides. Read when something failed, never before. */
export interface MachineFacts {
  /** `kernel.apparmor_restrict_unprivileged_userns` is on: Ubuntu 23.10 and later. */
  readonly appArmorRestricts: boolean
  /** Files of AppArmor profiles that name the runner already. */
  readonly appArmorProfiles: readonly string[]
  readonly maxUserNamespaces: number | undefined
  /** `kernel.unprivileged_userns_clone` of older Debians is off. */
  readonly cloneForbidden: boolean
  readonly inContainer: boolean
  readonly isRoot: boolean
}

export const INSTALL_BUBBLEWRAP =
  'install bubblewrap: apt-get install bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora, RHEL), pacman -S bubblewrap (Arch), ' +
  'apk add bubblewrap (Alpine)'

export function remedyFor(said: string, facts: MachineFacts): string {
  if (/max_\w*_namespaces|ENOSPC|No space left/i.test(said) || facts.maxUserNamespaces === 0) {
    return 'allow user namespaces: sysctl -w user.max_user_namespaces=15000 (and in /etc/sysctl.d to keep it)'
  }
  if (facts.cloneForbidden) return 'allow user namespaces: sysctl -w kernel.unprivileged_userns_clone=1'
  if (facts.appArmorRestricts && /uid map|loopback|RTM_NEWADDR|namespace|Permission denied/i.test(said)) {
    return appArmorRemedy(facts.appArmorProfiles)
  }
  if ((facts.inContainer || facts.isRoot) && /uid map|not permitted|Permission denied|namespace/i.test(said)) {
    return (
      'this looks like a container without the right to make namespaces: start it with --cap-add SYS_ADMIN --security-opt seccomp=unconfined ' +
      '--security-opt apparmor=unconfined --security-opt systempaths=unconfined, or run the harness outside'
    )
  }
  return 'try it by hand: bwrap --unshare-user --ro-bind / / --proc /proc --dev /dev true; it says what the kernel refuses'
}

function appArmorRemedy(profiles: readonly string[]): string {
  if (profiles.length > 0) {
    return (
      `AppArmor keeps bwrap from making user namespaces although ${profiles.join(', ')} names it: look there first (it must say "userns,"), since a ` +
      'second profile for the same program breaks the one that is there'
    )
  }
  return (
    'AppArmor keeps programs from making user namespaces: install the package apparmor-profiles and enable its bwrap-userns-restrict profile, or write ' +
    '/etc/apparmor.d/bwrap with "profile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }" and run apparmor_parser -r on it'
  )
}

export function machineFacts(): MachineFacts {
  const limit = textOf('/proc/sys/user/max_user_namespaces')
  return {
    appArmorRestricts: textOf('/proc/sys/kernel/apparmor_restrict_unprivileged_userns') === '1',
    appArmorProfiles: profilesNaming('bwrap'),
    maxUserNamespaces: limit === undefined ? undefined : Number(limit),
    cloneForbidden: textOf('/proc/sys/kernel/unprivileged_userns_clone') === '0',
    inContainer: textOf('/.dockerenv') !== undefined || textOf('/run/.containerenv') !== undefined,
    isRoot: process.geteuid?.() === 0,
  }
}

function profilesNaming(program: string): string[] {
  try {
    return readdirSync('/etc/apparmor.d', { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => `/etc/apparmor.d/${entry.name}`)
      .filter((file) => new RegExp(`/${program}\\b`).test(textOf(file) ?? ''))
  } catch {
    return [] // no AppArmor here
  }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return undefined
  }
}
