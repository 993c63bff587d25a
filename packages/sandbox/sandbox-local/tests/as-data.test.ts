// What runs on other machines, looked at as data: the filter's bytes, the Seatbelt profile, remedies, descriptors.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RepositoryScans, type SandboxPolicy } from '@deepseek-ai/dsh-sandbox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endOf } from '../src/bubblewrap.ts'
import { inheritedDescriptors } from '../src/descriptors.ts'
import { remedyFor, type MachineFacts } from '../src/remedy.ts'
import { seatbeltProfile } from '../src/seatbelt.ts'
import { seccompFilter } from '../src/seccomp.ts'

let folder: string
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-as-data-')))
  mkdirSync(join(folder, 'ws/.git/hooks'), { recursive: true })
  writeFileSync(join(folder, 'ws/.git/HEAD'), 'ref: x')
})
afterAll(() => rmSync(folder, { recursive: true }))

const ALLOW = 0x7fff0000
const ENOSYS = 0x00050026
const EPERM = 0x00050001
const AUDIT: Record<string, number> = { x64: 0xc000003e, arm64: 0xc00000b7 }
const flat = { unixSockets: false, nestedNamespaces: false, refuseUserNamespaces: false }

/** Runs the program as the kernel would. */
function answer(
  architecture: string,
  call: number,
  args: number[] = [],
  options = flat,
  audit = AUDIT[architecture],
): number {
  const filter = seccompFilter(architecture, options)!
  const data = new Map([
    [0, call],
    [4, audit ?? 0],
    [16, args[0] ?? 0],
    [24, args[1] ?? 0],
  ])
  let loaded = 0
  for (let at = 0; at < filter.length / 8; at++) {
    const [code, yes, no] = [filter.readUInt16LE(at * 8), filter.readUInt8(at * 8 + 2), filter.readUInt8(at * 8 + 3)]
    const value = filter.readUInt32LE(at * 8 + 4)
    if (code === 0x06) return value
    if (code === 0x20) loaded = data.get(value) ?? 0
    else if (code === 0x54) loaded = (loaded & value) >>> 0
    else if (code === 0x15) at += loaded === value ? yes : no
    else if (code === 0x35) at += loaded >= value ? yes : no
    else if (code === 0x45) at += (loaded & value) === 0 ? no : yes
  }
  throw new Error('the program has no end')
}

describe('the filter of system calls', () => {
  it.each([
    ['x64', { socket: 41, pair: 53, ioctl: 16, read: 0, mount: 165, unshare: 272 }],
    ['arm64', { socket: 198, pair: 199, ioctl: 29, read: 63, mount: 40, unshare: 97 }],
  ])('answers on %s as it should', (architecture, { socket, pair, ioctl, read, mount, unshare }) => {
    expect(answer(architecture, read)).toBe(ALLOW)
    for (const family of [2, 10, 16]) expect(answer(architecture, socket, [family])).toBe(ALLOW)
    for (const family of [1, 17, 40]) expect(answer(architecture, socket, [family])).toBe(EPERM)
    expect(answer(architecture, socket, [1], { ...flat, unixSockets: true })).toBe(ALLOW)
    expect(answer(architecture, pair, [1, 1 | 0o2000000])).toBe(ALLOW)
    expect(answer(architecture, pair, [1, 2 | 0o2000000])).toBe(EPERM)
    expect(answer(architecture, ioctl, [0, 0x5412])).toBe(EPERM)
    expect(answer(architecture, ioctl, [0, 0x541c])).toBe(EPERM)
    expect(answer(architecture, ioctl, [0, 0x5401])).toBe(ALLOW)
    expect(answer(architecture, mount)).toBe(EPERM)
    expect(answer(architecture, mount, [], { ...flat, nestedNamespaces: true })).toBe(ALLOW)
    expect(answer(architecture, 425)).toBe(ENOSYS)
    expect(answer(architecture, read, [], flat, 0x40000003)).toBe(ENOSYS)
    expect(answer(architecture, unshare, [0x10000000])).toBe(ALLOW)
    const old = { ...flat, refuseUserNamespaces: true }
    expect(answer(architecture, unshare, [0x10000000], old)).toBe(EPERM)
    expect(answer(architecture, unshare, [0x400], old)).toBe(ALLOW)
    expect(answer(architecture, 435, [], old)).toBe(ENOSYS)
  })

  it('is unknown for other architectures', () => expect(seccompFilter('riscv64', flat)).toBeUndefined())
})

describe('the Seatbelt profile', () => {
  const policy = (more: Partial<SandboxPolicy> = {}): SandboxPolicy => ({
    mode: 'workspace-write',
    network: 'none',
    allowedHosts: [],
    root: join(folder, 'ws'),
    writableRoots: [],
    deniedReads: ['/Users/me/.ssh'],
    tempDir: '/private/tmp/"odd"',
    sessionId: 'one',
    nestedNamespaces: false,
    ...more,
  })

  it('opens the workspace, then closes what is protected and denied', () => {
    const rules = seatbeltProfile(policy(), new RepositoryScans()).split('\n')
    const at = (part: string): number => rules.findIndex((rule) => rule.includes(part))
    expect(at('(deny network*)')).toBeGreaterThan(0)
    expect(at('(deny file-write*)')).toBeLessThan(
      at(`(allow file-write* (subpath "${folder}/ws") (subpath "/private/tmp/\\"odd\\"")`),
    )
    expect(at(`(allow file-write* (subpath "${folder}/ws")`)).toBeLessThan(
      at(`(deny file-write* (subpath "${folder}/ws/.git/hooks"))`),
    )
    expect(rules).toContain(`(deny file-write-unlink (literal "${folder}/ws/.git"))`)
    expect(rules).toContain('(deny file-read* file-write* (subpath "/Users/me/.ssh"))')
  })

  it('opens nothing in read-only mode but the temp folder, and only cuts the network in full access', () => {
    expect(seatbeltProfile(policy({ mode: 'read-only' }), new RepositoryScans())).not.toContain(
      `(subpath "${folder}/ws")`,
    )
    const full = seatbeltProfile(policy({ mode: 'danger-full-access' }), new RepositoryScans())
    expect(full).toBe('(version 1)\n(allow default)\n(deny network*)\n')
  })
})

describe('a remedy', () => {
  const facts: MachineFacts = {
    appArmorRestricts: false,
    appArmorProfiles: [],
    maxUserNamespaces: 1000,
    cloneForbidden: false,
    inContainer: false,
    isRoot: false,
  }
  it.each([
    [
      'Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)',
      {},
      /user\.max_user_namespaces/,
    ],
    ['No permissions to create new namespace', { cloneForbidden: true }, /kernel\.unprivileged_userns_clone=1/],
    ['setting up uid map: Permission denied', { appArmorRestricts: true }, /apparmor-profiles/],
    [
      'setting up uid map: Permission denied',
      { appArmorRestricts: true, appArmorProfiles: ['/etc/apparmor.d/x'] },
      /\/etc\/apparmor\.d\/x.*first/,
    ],
    ['setting up uid map: Operation not permitted', { isRoot: true, inContainer: true }, /--cap-add SYS_ADMIN/],
    ['something else', {}, /by hand/],
  ])('names what to do about %j', (said, more, wanted) =>
    expect(remedyFor(said, { ...facts, ...more })).toMatch(wanted),
  )
})

describe('descriptors', () => {
  it('that were inherited are those without close-on-exec above 2', () => {
    const view = mkdtempSync(join(folder, 'fdinfo-'))
    for (const fd of [0, 1, 2, 5, 251, 300]) writeFileSync(join(view, String(fd)), 'pos:\t0\nflags:\t0100002\n')
    writeFileSync(join(view, '7'), 'pos:\t0\nflags:\t02100002\n')
    const found = inheritedDescriptors(view)
    expect([found.covered.toSorted((a, b) => a - b), found.beyond]).toEqual([[5, 251], [300]])
    expect(inheritedDescriptors(join(folder, 'none'))).toEqual({ covered: [], beyond: [] })
  })
})

describe('an end', () => {
  it('of 128 + n is the signal n where there is one', () => {
    expect(endOf({ exitCode: 137, signal: null, stderrTail: '' })).toEqual({ exitCode: null, signal: 'SIGKILL' })
    expect(endOf({ exitCode: 143, signal: null, stderrTail: '' })).toEqual({ exitCode: null, signal: 'SIGTERM' })
    expect(endOf({ exitCode: 255, signal: null, stderrTail: '' })).toEqual({ exitCode: 255, signal: null })
    expect(endOf({ exitCode: 128, signal: null, stderrTail: '' })).toEqual({ exitCode: 128, signal: null })
    expect(endOf({ exitCode: null, signal: 'SIGTERM', stderrTail: '' })).toEqual({ exitCode: null, signal: 'SIGTERM' })
  })
})
