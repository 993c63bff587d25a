// What bash really runs, against what was read: every program on the PATH only notes how it was called.
import { spawn, type StdioOptions } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { commandsOf, coversLine } from '@deepseek-ai/dsh-approval'

const BASH = ['/bin/bash', '/usr/bin/bash'].find((path) => existsSync(path))
const root = mkdtempSync(join(tmpdir(), 'dsh-real-bash-'))
const bin = join(root, 'bin')
afterAll(() => rmSync(root, { recursive: true, force: true }))

const RUNS = 1500
const NOTED = ['git', 'evil', 'rm', 'npm']
const REAL = ['bash', 'sh', 'env', 'timeout', 'nohup', 'nice', 'xargs', 'setsid']

mkdirSync(bin)
for (const name of NOTED) {
  const path = join(bin, name)
  writeFileSync(
    path,
    `#!${BASH}\n[ -p /dev/stdin ] && while IFS= read -r -t 0.2 line; do :; done\nprintf -v note ' %q' "$@"\nprintf '${name}%s\\n' "$note" >> .notes\necho evil\n`,
  )
  chmodSync(path, 0o755)
}
for (const name of REAL) {
  const real = ['/bin', '/usr/bin'].map((dir) => join(dir, name)).find((path) => existsSync(path))
  if (real !== undefined) symlinkSync(real, join(bin, name))
}

/** How each program was called, once the command and everything that it left behind has ended. */
async function ran(line: string): Promise<string[]> {
  // Of its own, so that nobody reads the notes of a neighbour.
  const cwd = mkdtempSync(join(root, 'work-'))
  // Descriptor 3 stays open as long as anything runs, wherever the output goes.
  const stdio: StdioOptions = ['ignore', 'ignore', 'ignore', 'pipe']
  const child = spawn(BASH ?? '', ['-c', line], { cwd, env: { PATH: bin }, stdio, detached: true })
  const late = setTimeout(() => process.kill(-(child.pid as number), 'SIGKILL'), 5000)
  await new Promise((resolve) => child.on('close', resolve))
  clearTimeout(late)
  const notes = join(cwd, '.notes')
  const noted = existsSync(notes) ? readFileSync(notes, 'utf8').split('\n') : []
  rmSync(cwd, { recursive: true, force: true })
  return noted.filter((note) => note !== '')
}

const COMMANDS = [
  'git status',
  'npm test',
  'evil',
  'rm x',
  '$(evil)',
  '`evil`',
  '"$(evil)"',
  "'evil'",
  'e\\vil',
  '$x',
  '"$x"',
]
const JOINTS = [
  '; ',
  ' && ',
  ' || ',
  ' | ',
  ' & ',
  '\n',
  ' ',
  '(',
  ')',
  '{ ',
  '; }',
  '! ',
  ' #',
  '\\\n',
  '"',
  "'",
  '\\',
  '',
]
const WRAPPERS = [
  'bash -c ',
  'eval ',
  'env ',
  'env A=1 ',
  'xargs ',
  'xargs -I% ',
  'timeout 2 ',
  'command ',
  'exec ',
  'nohup ',
]
const DATA = [
  '<<E\n',
  "<<'E'\n",
  '\nE\n',
  '<<< ',
  '<(',
  '>(',
  '$(',
  '`',
  '$((',
  '))',
  '[[ ',
  ' ]]',
  ' == ',
  ' -eq ',
  '%',
  ')',
]
const VARIABLES = [
  'x=evil ',
  'x=evil; ',
  "x='a[$(evil)]'; ",
  '${x:-',
  '${x@P}',
  '${!x}',
  '}',
  '$((x))',
  'a[x]=1 ',
  '$1',
  '${x/y/',
]
const KEYWORDS = [
  'if ',
  '; then ',
  '; fi',
  'for i in 1; do ',
  '; done',
  'while ',
  '; do ',
  'case x in x) ',
  ';; esac',
  'f() ',
  'git() ',
]
const REDIRECTS = [
  ' 2>&1',
  ' >&',
  ' <&',
  ' &>',
  ' < ',
  ' >/dev/null',
  ' > out',
  "'$(evil)'",
  '@(',
  '!(',
  '?',
  '*',
  '{evil,}',
  '{x}',
]
const BUILTINS = [
  'alias git=evil; ',
  'trap evil EXIT; ',
  'set -- evil; ',
  'printf -v ',
  'test -v ',
  'read x ',
  'cd . ',
  'time ',
  ': ',
]

const odd = fc.constantFrom(...JOINTS, ...WRAPPERS, ...DATA, ...VARIABLES, ...KEYWORDS, ...REDIRECTS, ...BUILTINS)
const piece = fc.oneof({ weight: 2, arbitrary: fc.constantFrom(...COMMANDS) }, { weight: 3, arbitrary: odd })
const line = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(''))
const around = fc
  .tuple(fc.array(piece, { maxLength: 2 }), line)
  .map(([before, after]) => `${before.join('')}git status${after}`)
const joined = fc
  .array(fc.tuple(fc.constantFrom(...COMMANDS), odd), { minLength: 1, maxLength: 3 })
  .map((pieces) => `${pieces.flat().join('')}evil`)

describe.skipIf(BASH === undefined)('against bash itself', () => {
  it('nothing runs that was not read', async () => {
    let started = 0
    await fc.assert(
      fc.asyncProperty(fc.oneof(line, around, joined), async (text) => {
        const read = commandsOf(text)
        if ('unparsable' in read) return
        const programs = new Set(read.commands.map(([program]) => program))
        const noted = await ran(text)
        started += noted.length
        for (const note of noted) expect(programs).toContain(note.split(' ')[0])
      }),
      { numRuns: RUNS },
    )
    // Otherwise it has shown nothing.
    expect(started).toBeGreaterThan(RUNS / 50)
  })

  it('a covered line runs what was granted and nothing else', async () => {
    const gluing = fc.tuple(fc.constantFrom('; ', ' && ', ' || ', ' | ', ' & ', '\n', ' ', ''), line)
    await fc.assert(
      fc.asyncProperty(gluing, async ([glue, text]) => {
        const whole = `git status${glue}${text}`
        if (!coversLine([['git', 'status']], whole)) return
        for (const note of await ran(whole)) expect(note).toMatch(/^git status( |$)/)
      }),
      { numRuns: RUNS },
    )
  })

  it.each([
    "x='a[$(evil)]'; git status $((x))",
    "x='$(evil)'; git status ${x@P}",
    "x='a[$(evil)]'; git status ${y:x}",
    "x='a[$(evil)]'; [[ x -eq 1 ]]; git status",
    "x='a[$(evil)]'; printf -v $x y; git status",
    "x='a[$(evil)]'; test -v $x; git status",
    'git status; git() { evil; }; git status',
    "git status >&'$(evil)'",
    "git status <&'$(evil)'",
    'alias git=evil; git status',
    'trap evil EXIT; git status',
    'for PATH in /tmp; do git status; done',
    "bash -c 'git status; evil'",
    'eval git status \\; evil',
    'echo evil | xargs -I% % ; git status',
  ])('really runs more than its words, or nothing of them, and is not covered: %s', (text) => {
    expect(coversLine([['git', 'status'], ['echo']], text)).toBe(false)
  })
})
