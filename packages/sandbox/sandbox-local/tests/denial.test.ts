// Which failures of a command were refusals of our policy. The texts are what the programs really print in a sandbox, paths aside.
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { judgePath, RepositoryScans, type SandboxPolicy } from '@deepseek-ai/dsh-sandbox'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { confirmDenials } from '../src/denial.ts'

let world = ''
let policy: SandboxPolicy

beforeAll(() => {
  // Not below /tmp, which is another folder inside.
  world = realpathSync(mkdtempSync('/var/tmp/dsh-denial-'))
  for (const folder of ['ws/.git/hooks', 'ws/sub dir', 'out', 'secret', 'temp'])
    mkdirSync(join(world, folder), { recursive: true })
  for (const file of ['ws/a', 'ws/.git/config', 'ws/.git/HEAD', 'out/o', 'secret/key'])
    writeFileSync(join(world, file), 'x')
  policy = {
    mode: 'workspace-write',
    network: 'none',
    allowedHosts: [],
    root: join(world, 'ws'),
    writableRoots: [],
    deniedReads: [join(world, 'secret')],
    tempDir: join(world, 'temp'),
    sessionId: 's',
    nestedNamespaces: false,
  }
})
afterAll(() => rmSync(world, { recursive: true }))

/** `OUT`, `WS` and `SECRET` in the text stand for the folders of this run. */
const denied = (text: string, more: Partial<SandboxPolicy> = {}, exitCode = 1): string[] => {
  const names = { OUT: join(world, 'out'), WS: join(world, 'ws'), SECRET: join(world, 'secret') }
  const stderrTail = text.replaceAll(/\b(?:OUT|WS|SECRET)\b/g, (name) => names[name as keyof typeof names])
  const scans = new RepositoryScans()
  return confirmDenials({
    outcome: { exitCode, signal: null, stderrTail },
    policy: { ...policy, ...more },
    workdir: names.WS,
    judge: (path, access, judged) => judgePath(path, access, judged, scans),
  }).map(({ kind, target, rule, confidence }) => `${confidence} ${kind} ${target.replace(`${world}/`, '')} ${rule}`)
}

const outside = (path: string): string[] => [`confirmed write ${path} outside-writable-roots`]

describe('a refused write', () => {
  it.each([
    ['bash', '/bin/bash: line 1: OUT/new: Read-only file system', 'out/new'],
    ['bash, a space', '/bin/bash: line 1: OUT/with space: Read-only file system', 'out/with space'],
    ['dash', 'sh: 1: cannot create OUT/new: Read-only file system', 'out/new'],
    ['touch', "touch: cannot touch 'OUT/t': Read-only file system", 'out/t'],
    ['touch, an apostrophe', `touch: cannot touch "OUT/it's": Read-only file system`, "out/it's"],
    ['touch, both quotes', String.raw`touch: cannot touch 'OUT/it'\''s "q"': Read-only file system`, `out/it's "q"`],
    ['mkdir, typographic', 'mkdir: cannot create directory ‘OUT/d’: Read-only file system', 'out/d'],
    ['rm', "rm: cannot remove 'OUT/o': Read-only file system", 'out/o'],
    ['cp', "cp: cannot create regular file 'OUT/b': Read-only file system", 'out/b'],
    ['mv', "mv: inter-device move failed: 'a' to 'OUT/b'; unable to remove target: Read-only file system", 'out/b'],
    ['ln', "ln: failed to create hard link 'OUT/l': Read-only file system", 'out/l'],
    ['ln, over mounts', "ln: failed to create hard link 'l' => 'OUT/o': Invalid cross-device link", 'out/o'],
    ['chmod', "chmod: changing permissions of 'OUT/o': Read-only file system", 'out/o'],
    ['tee', 'tee: OUT/t: Read-only file system', 'out/t'],
    ['dd', "dd: failed to open 'OUT/dd': Read-only file system", 'out/dd'],
    ['sed', "sed: couldn't open temporary file OUT/sedx5HBH3: Read-only file system", 'out/sedx5HBH3'],
    ['truncate', "truncate: cannot open 'OUT/o' for writing: Read-only file system", 'out/o'],
    [
      'tar',
      'tar: OUT/x.tar: Cannot open: Read-only file system\ntar: Error is not recoverable: exiting now',
      'out/x.tar',
    ],
    ['find', 'find: cannot delete ‘OUT/o’: Read-only file system', 'out/o'],
    [
      'mktemp',
      'mktemp: failed to create file via template ‘OUT/tmp.XXXXXXXXXX’: Read-only file system',
      'out/tmp.XXXXXXXXXX',
    ],
    ['sort', 'sort: open failed: OUT/s: Read-only file system', 'out/s'],
    ['awk', 'awk: cannot open "OUT/awk" for output (Read-only file system)', 'out/awk'],
    ['wget', 'OUT/w: Read-only file system', 'out/w'],
    ['perl', 'Cannot open OUT/p: Read-only file system at -e line 1.', 'out/p'],
    [
      'make',
      '/bin/sh: 1: cannot create OUT/mk: Read-only file system\nmake: *** [/dev/stdin:2: all] Error 2',
      'out/mk',
    ],
    [
      'ld',
      '/usr/bin/ld: cannot open output file OUT/m: Read-only file system\ncollect2: error: ld returned 1 exit status',
      'out/m',
    ],
    ['as', "Assembler messages:\nFatal error: can't create OUT/m.o: Read-only file system", 'out/m.o'],
    [
      'curl',
      '  0     0    0     0 --:--:--     0Warning: Failed to open the file OUT/c: Read-only file system\ncurl: (23) Failure',
      'out/c',
    ],
    ['git init', 'fatal: cannot mkdir OUT/r: Read-only file system', 'out/r'],
    ['git clone', "fatal: could not create work tree dir 'OUT/clone': Read-only file system", 'out/clone'],
    ['git -C', 'OUT/.git: Read-only file system', 'out/.git'],
    [
      'git config --global',
      'error: could not lock config file OUT/.gitconfig: Read-only file system',
      'out/.gitconfig',
    ],
    ['python', "OSError: [Errno 30] Read-only file system: 'OUT/p'", 'out/p'],
    ['python, an apostrophe', `OSError: [Errno 30] Read-only file system: "OUT/it's"`, "out/it's"],
    ['python rename', "OSError: [Errno 18] Invalid cross-device link: 'a' -> 'OUT/a'", 'out/a'],
    [
      'node',
      "Error: EROFS: read-only file system, open 'OUT/n'\n    at Object.writeFileSync (node:fs:2380:20) {\n  errno: -30,\n  code: 'EROFS',\n  syscall: 'open',\n  path: 'OUT/n'\n}",
      'out/n',
    ],
    ['node, an apostrophe', "Error: EROFS: read-only file system, open 'OUT/it's'", "out/it's"],
    ['node rename', "Error: EXDEV: cross-device link not permitted, rename 'a' -> 'OUT/n'\n  code: 'EXDEV',", 'out/n'],
    [
      'npm',
      "npm error code EROFS\nnpm error syscall open\nnpm error path OUT/package-lock.json\nnpm error errno -30\nnpm error rofs EROFS: read-only file system, open 'OUT/package-lock.json'\nnpm error rofs Often virtualized file systems, or other file systems that don't support symlinks, give this error.",
      'out/package-lock.json',
    ],
    ['go', 'open OUT/g: read-only file system', 'out/g'],
    ['rust', 'Error: failed to write `OUT/r`: Read-only file system (os error 30)', 'out/r'],
    ['ruby', 'Read-only file system @ rb_sysopen - OUT/rb (Errno::EROFS)', 'out/rb'],
    ['java', 'java.io.FileNotFoundException: OUT/j (Read-only file system)', 'out/j'],
    ['French quotes', 'touch: impossible de faire un touch «\u00a0OUT/f\u00a0»: Read-only file system', 'out/f'],
    ['colours', '\u001b[31mtee: OUT/t: Read-only file system\u001b[0m', 'out/t'],
  ])('is confirmed from the words of %s', (_program, text, path) => {
    expect(denied(text)).toEqual(outside(path))
  })

  it.each([
    ["mv: cannot move '.git' to 'gone': Device or resource busy", 'ws/.git'],
    ['error: could not write config file .git/config: Device or resource busy', 'ws/.git/config'],
    ['/bin/bash: line 1: .git/hooks/pre-commit: Read-only file system', 'ws/.git/hooks/pre-commit'],
  ])('names what is protected in the workspace: %s', (text, path) => {
    expect(denied(text)).toEqual([`confirmed write ${path} protected-path`])
  })

  it('names the mode where nothing may be written, and takes the name of a program for no path', () => {
    const more = { mode: 'read-only' } as const
    expect(denied('tee: new file: Read-only file system', more)).toEqual(['confirmed write ws/new file read-only-mode'])
    for (const text of [
      'tee: Read-only file system',
      'npm error code EROFS',
      "  code: 'EROFS',",
      'Read-only file system',
    ])
      expect(denied(text, more), text).toEqual([])
  })

  it('is not one when the policy allows it, nor when nobody is confined', () => {
    expect(denied("rm: cannot remove 'sub dir': Device or resource busy")).toEqual([])
    expect(denied('tar: a: Cannot open: Read-only file system')).toEqual([])
    expect(denied('tee: OUT/t: Read-only file system', { mode: 'danger-full-access' })).toEqual([])
  })

  it('does not take a link between the workspace and the session’s /tmp for one', () => {
    expect(denied("OSError: [Errno 18] Invalid cross-device link: 'a' -> '/tmp/a'")).toEqual([])
  })

  it('is told once, and of a flood the first twenty', () => {
    const line = (name: string) => `rm: cannot remove 'OUT/${name}': Read-only file system\n`
    expect(denied(line('o').repeat(50))).toEqual(outside('out/o'))
    const flood = denied(Array.from({ length: 500 }, (_, index) => line(`f${index}`)).join(''))
    expect(flood).toEqual(Array.from({ length: 20 }, (_, index) => outside(`out/f${index}`)[0]))
  })

  it('counts although the command succeeded', () => {
    expect(denied('tee: OUT/t: Read-only file system', {}, 0)).toEqual(outside('out/t'))
  })
})

describe('a refused read', () => {
  it.each([
    ['cat: SECRET/key: Permission denied', 'secret/key'],
    ["ls: cannot open directory 'SECRET': Permission denied", 'secret'],
    ["cp: cannot stat 'SECRET/key': Permission denied", 'secret/key'],
    ['grep: SECRET: Permission denied', 'secret'],
    ["PermissionError: [Errno 13] Permission denied: 'SECRET/key'", 'secret/key'],
    ["Error: EACCES: permission denied, open 'SECRET/key'\n  code: 'EACCES',", 'secret/key'],
    ['/bin/bash: line 1: cd: SECRET: Permission denied', 'secret'],
    ['find: ‘SECRET’: Permission denied', 'secret'],
    ["head: cannot open 'SECRET/key' for reading: Permission denied", 'secret/key'],
  ])('is confirmed: %s', (text, path) => {
    expect(denied(text)).toEqual([`confirmed read ${path} denied-read`])
  })

  it('does not make a refused write of a program that may not be run or a file that is closed to all', () => {
    const file = join(world, 'out', 'tool')
    writeFileSync(file, '#!/bin/sh\n')
    chmodSync(file, 0o644)
    expect(denied('/bin/bash: line 1: OUT/tool: Permission denied')).toEqual([])
    expect(denied('/bin/bash: line 1: .git/hooks: Permission denied')).toEqual([])
    chmodSync(file, 0)
    expect(denied('cat: OUT/tool: Permission denied')).toEqual([])
  })

  it('does not tell of a file that is not there', () => {
    expect(denied('cat: SECRET/missing: Permission denied')).toEqual([])
    expect(denied('cat: missing: No such file or directory')).toEqual([])
  })
})

describe('a network that was out of reach', () => {
  it.each([
    ['curl: (6) Could not resolve host: example.com', 'example.com'],
    ["fatal: unable to access 'https://example.com/x.git/': Could not resolve host: example.com", 'example.com'],
    [
      "TypeError: fetch failed\n  [cause]: Error: getaddrinfo EAI_AGAIN example.com\n    code: 'EAI_AGAIN',",
      'example.com',
    ],
    ['Error: connect ENETUNREACH 1.1.1.1:80 - Local (0.0.0.0:0)', '1.1.1.1:80'],
    [
      'npm error code EAI_AGAIN\nnpm error request to https://registry.npmjs.org/x failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org',
      'registry.npmjs.org',
    ],
    ["curl: (7) Failed to connect to 1.1.1.1 port 80 after 0 ms: Couldn't connect to server", '1.1.1.1:80'],
    ['ssh: Could not resolve hostname github.com: Temporary failure in name resolution', 'github.com'],
    ['wget: unable to resolve host address ‘example.com’', 'example.com'],
    ['urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>', ''],
    ['OSError: [Errno 101] Network is unreachable', ''],
    ['dial unix /var/run/docker.sock: socket: operation not permitted', ''],
  ])('is likely the policy’s doing: %s', (text, host) => {
    expect(denied(text)).toEqual([`likely network ${host} network-none`])
    expect(denied(text, { network: 'open' })).toEqual([])
  })

  it('is not guessed at when the command succeeded or talked to itself', () => {
    expect(denied('curl: (6) Could not resolve host: example.com', {}, 0)).toEqual([])
    expect(denied("curl: (7) Failed to connect to localhost port 80 after 0 ms: Couldn't connect to server")).toEqual(
      [],
    )
  })

  it('names under an allowlist only the hosts that are not on it', () => {
    const more = { network: 'allowlist', allowedHosts: ['*.example.com', 'git.test:22'] } as const
    expect(denied('curl: (6) Could not resolve host: a.example.com', more)).toEqual([])
    expect(denied('ssh: Could not resolve hostname git.test: Temporary failure in name resolution', more)).toEqual([])
    expect(denied('curl: (6) Could not resolve host: other.test', more)).toEqual([
      'likely network other.test host-not-allowed',
    ])
    expect(denied('OSError: [Errno 101] Network is unreachable', more)).toEqual([])
  })
})

describe('any text', () => {
  it('confirms a quoted path whatever is in its name', () => {
    const part = fc
      .stringMatching(/^[\p{L}\p{N} '._-]{0,12}[\p{L}\p{N}]$/u)
      .filter((name) => !/^\.+$|'[. ]/.test(name) && name.trim() === name)
    fc.assert(
      fc.property(part, (name) => {
        expect(denied(`Error: EROFS: read-only file system, open 'OUT/${name}'`)).toEqual(outside(`out/${name}`))
      }),
    )
  })

  it('confirms nothing inside the workspace or the temp folder that is not protected', () => {
    const words = fc.constantFrom(
      'Read-only file system',
      'Permission denied',
      'EBUSY',
      ': ',
      ' ',
      "'",
      '"',
      '/',
      'a',
      '..a',
      '\n',
      '\u0000',
      '‘',
      '(',
    )
    fc.assert(
      fc.property(fc.array(words, { maxLength: 40 }), (parts) => {
        for (const line of denied(parts.join(''))) expect(line).not.toMatch(/ (?:ws|temp)\/(?!\.)/)
      }),
    )
  })

  it('stays quick on one endless line of quotes', () => {
    const started = performance.now()
    denied(`Permission denied ${"'a ".repeat(20_000)}\n${"Permission denied 'x\n".repeat(3_000)}`)
    expect(performance.now() - started).toBeLessThan(1_000)
  })
})
