// The seccomp filter of confined commands, as the bytes the kernel takes. Nothing is loaded here: bubblewrap does that.

/** What of the kernel stays closed beside mounts and namespaces. */
export interface SeccompOptions {
  /** Sockets with a path or an abstract name. */
  readonly unixSockets: boolean
  /** The command may make namespaces, and so mount in them. */
  readonly nestedNamespaces: boolean
  /** Refuse new user namespaces here, since the runner is too old to. */
  readonly refuseUserNamespaces: boolean
}

interface Numbers {
  readonly audit: number
  readonly socket: number
  readonly socketpair: number
  readonly ioctl: number
  readonly clone: number
  readonly unshare: number
  readonly setns: number
  /** Keys, bpf, perf, userfaultfd, kexec, file handles. */
  readonly refused: readonly number[]
  readonly mounts: readonly number[]
}

/** Same number on every architecture: io_uring_setup, _enter, _register. */
const IO_URING = [425, 426, 427]
/** open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, mount_setattr, open_tree_attr: the same everywhere. */
const NEW_MOUNT_CALLS = [428, 429, 430, 431, 432, 433, 442, 467]
const CLONE3 = 435

const ARCHITECTURES: Readonly<Record<string, Numbers>> = {
  x64: {
    audit: 0xc000003e,
    socket: 41,
    socketpair: 53,
    ioctl: 16,
    clone: 56,
    unshare: 272,
    setns: 308,
    refused: [248, 249, 250, 321, 298, 323, 246, 320, 303, 304],
    mounts: [165, 166, 155],
  },
  arm64: {
    audit: 0xc00000b7,
    socket: 198,
    socketpair: 199,
    ioctl: 29,
    clone: 220,
    unshare: 97,
    setns: 268,
    refused: [217, 218, 219, 280, 241, 282, 104, 294, 264, 265],
    mounts: [40, 39, 41],
  },
}

const LOAD = 0x20
const JUMP_EQUAL = 0x15
const JUMP_AT_LEAST = 0x35
const JUMP_ANY_BIT = 0x45
const AND = 0x54
const RETURN = 0x06

const ALLOW = 0x7fff0000
const errno = (code: number): number => 0x00050000 | code
const EPERM = errno(1)
const ENOSYS = errno(38)

/** Offsets in `struct seccomp_data`; the low half of each argument on little-endian machines, which both are. */
const NUMBER = 0
const AUDIT = 4
const ARGUMENT = [16, 24]

const AF_UNIX = 1
const AF_INET = 2
const AF_INET6 = 10
const AF_NETLINK = 16
const SOCK_TYPE_MASK = 0xf
const SOCK_DGRAM = 2
/** Both push characters into a terminal as if they were typed. */
const TIOCSTI = 0x5412
const TIOCLINUX = 0x541c
const CLONE_NEWUSER = 0x10000000
const X32_BIT = 0x40000000

type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, value: number]

export const SECCOMP_ARCHITECTURES = Object.keys(ARCHITECTURES)

/** A program of `struct sock_filter`, or undefined for an architecture whose numbers are not known. */
export function seccompFilter(architecture: string, options: SeccompOptions): Buffer | undefined {
  const numbers = ARCHITECTURES[architecture]
  if (numbers === undefined) return undefined
  const program = [
    ...foreignCalls(numbers, architecture),
    ...[...IO_URING].flatMap((number) => refuse(number, ENOSYS)),
    ...numbers.refused.flatMap((number) => refuse(number, EPERM)),
    ...(options.nestedNamespaces
      ? []
      : [...numbers.mounts, ...NEW_MOUNT_CALLS].flatMap((number) => refuse(number, EPERM))),
    ...(options.refuseUserNamespaces && !options.nestedNamespaces ? userNamespaces(numbers) : []),
    ...when(numbers.socket, onlyFamilies(options.unixSockets)),
    ...(options.unixSockets ? [] : when(numbers.socketpair, onlyConnectedPairs())),
    ...when(numbers.ioctl, [
      [LOAD, 0, 0, ARGUMENT[1] as number],
      [JUMP_EQUAL, 1, 0, TIOCSTI],
      [JUMP_EQUAL, 0, 1, TIOCLINUX],
      [RETURN, 0, 0, EPERM],
      [RETURN, 0, 0, ALLOW],
    ]),
    [RETURN, 0, 0, ALLOW] as Instruction,
  ]
  return assemble(program)
}

/** Calls by another architecture's table (`int 0x80`, x32) would slip past the numbers below. */
function foreignCalls(numbers: Numbers, architecture: string): Instruction[] {
  return [
    [LOAD, 0, 0, AUDIT],
    [JUMP_EQUAL, 1, 0, numbers.audit],
    [RETURN, 0, 0, ENOSYS],
    [LOAD, 0, 0, NUMBER],
    ...(architecture === 'x64'
      ? ([
          [JUMP_AT_LEAST, 0, 1, X32_BIT],
          [RETURN, 0, 0, ENOSYS],
        ] as Instruction[])
      : []),
  ]
}

function refuse(number: number, how: number): Instruction[] {
  return when(number, [[RETURN, 0, 0, how]])
}

/** `body` must end in a return: the call's number is no longer loaded after it. */
function when(number: number, body: readonly Instruction[]): Instruction[] {
  return [[JUMP_EQUAL, 0, body.length, number], ...body]
}

function onlyFamilies(unixSockets: boolean): Instruction[] {
  const families = [AF_INET, AF_INET6, AF_NETLINK, ...(unixSockets ? [AF_UNIX] : [])]
  return [
    [LOAD, 0, 0, ARGUMENT[0] as number],
    // Each match jumps over the remaining tests and the refusal.
    ...families.map((family, index): Instruction => [JUMP_EQUAL, families.length - index, 0, family]),
    [RETURN, 0, 0, EPERM],
    [RETURN, 0, 0, ALLOW],
  ]
}

/** An end of a datagram pair can be connected anew, to any socket of the host that has a path. */
function onlyConnectedPairs(): Instruction[] {
  return [
    [LOAD, 0, 0, ARGUMENT[1] as number],
    [AND, 0, 0, SOCK_TYPE_MASK],
    [JUMP_EQUAL, 0, 1, SOCK_DGRAM],
    [RETURN, 0, 0, EPERM],
    [RETURN, 0, 0, ALLOW],
  ]
}

function userNamespaces(numbers: Numbers): Instruction[] {
  const byFlags: Instruction[] = [
    [LOAD, 0, 0, ARGUMENT[0] as number],
    [JUMP_ANY_BIT, 0, 1, CLONE_NEWUSER],
    [RETURN, 0, 0, EPERM],
    [RETURN, 0, 0, ALLOW],
  ]
  return [
    ...when(numbers.clone, byFlags),
    ...when(numbers.unshare, byFlags),
    ...refuse(numbers.setns, EPERM),
    // Its flags lie behind a pointer, which a filter cannot follow; C libraries fall back to clone.
    ...refuse(CLONE3, ENOSYS),
  ]
}

function assemble(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8)
  program.forEach(([code, jumpTrue, jumpFalse, value], index) => {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(jumpTrue, index * 8 + 2)
    bytes.writeUInt8(jumpFalse, index * 8 + 3)
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4)
  })
  return bytes
}
