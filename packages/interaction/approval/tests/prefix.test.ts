import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { commandsOf, coversLine, prefixFault, suggestPrefix } from '@deepseek-ai/dsh-approval'

const STATUS = [['git', 'status']]

describe('a prefix covers', () => {
  it.each([
    'git status',
    'git status -s',
    'FOO=1 git status',
    'git status && git status | git status',
    'git status 2>&1 >/dev/null',
    'git status < in',
    "bash -c 'git status'",
    'timeout 5 git status',
    'for i in 1 2; do git status; done',
    'git status "git push; rm x"',
  ])('%s', (command) => {
    expect(coversLine(STATUS, command)).toBe(true)
  })

  it.each([
    '',
    '# nothing',
    'x=1',
    'git',
    'git push',
    'git -c core.pager=evil status',
    'git statusx',
    '/tmp/git status',
    './git status',
    'sudo git status',
    'git status > out',
    'git status >> out',
    'git status &> out',
    'git status <> out',
    'git status < /dev/tcp/host/80',
    '{ git status; } > out',
    'git $x',
    'git "$x" status',
    'git status $(touch /tmp/x)',
    'git status "$x"',
    'git status --output=x',
  ])('not %j', (command) => {
    expect(coversLine(STATUS, command)).toBe(false)
  })

  it('not what an option of the program runs', () => {
    expect(coversLine([['git', 'fetch']], 'git fetch origin')).toBe(true)
    expect(coversLine([['git', 'fetch']], "git fetch --upload-pack='sh -c evil' .")).toBe(false)
    expect(coversLine([['git', 'fetch']], "git fetch --upload-p='sh -c evil' .")).toBe(false)
    expect(coversLine([['find', '.']], 'find . -name x')).toBe(true)
    expect(coversLine([['find', '.']], 'find . -exec evil \\;')).toBe(false)
    expect(coversLine([['find', '.']], 'x=-delete; find . $x')).toBe(false)
    expect(coversLine([['rg', 'x']], 'rg x --pre evil')).toBe(false)
    expect(coversLine([['tar', 'xf']], 'tar xf a --to-command=evil')).toBe(false)
    expect(coversLine([['sed', '-n', '1p']], "sed -n 1p a -e '1e evil'")).toBe(false)
    expect(coversLine([['git', 'add']], 'ls | xargs git add')).toBe(false)
  })
})

describe('a rule is refused with the reason', () => {
  it.each([
    [],
    [''],
    ['git'],
    ['git', '-c', 'alias.x=!evil'],
    ['git', '--exec-path=/tmp'],
    ['git', 'config'],
    ['git', '-C', '.', 'config', 'core.pager'],
    ['git', 'submodule', 'foreach'],
    ['bash'],
    ['sh', '-c'],
    ['/bin/bash'],
    ['env'],
    ['xargs', 'rm'],
    ['nohup'],
    ['timeout', '5'],
    ['eval'],
    ['sudo'],
    ['sudo', 'bash'],
    ['python3.12'],
    ['python', '-c'],
    ['node'],
    ['node', '-e'],
    ['perl', '-e'],
    ['awk'],
    ['sed', '-n'],
    ['npx'],
    ['npx', 'node'],
    ['npm'],
    ['npm', 'exec'],
    ['uv', 'run', 'python'],
    ['docker', 'run'],
    ['kubectl', 'exec'],
    ['ssh', 'host'],
    ['find', '.', '-exec'],
    ['export'],
    ['source'],
  ])('%j', (...words) => {
    expect(prefixFault(words)).toEqual(expect.any(String))
  })

  it.each([
    ['git', 'status'],
    ['git', '-C', 'sub', 'status'],
    ['git', 'config', '--get'],
    ['npm', 'test'],
    ['npm', 'run', 'build'],
    ['npx', 'vitest'],
    ['sudo', 'apt', 'update'],
    ['python', 'manage.py'],
    ['python', '-m', 'pytest'],
    ['bash', 'build.sh'],
    ['ls'],
    ['make', 'test'],
    ['sed', '-n', '1,5p'],
    ['find', '.'],
  ])('but not %j', (...words) => {
    expect(prefixFault(words)).toBeUndefined()
  })
})

describe('the suggested rule', () => {
  it.each<[string, string[] | undefined]>([
    ['git push origin main', ['git', 'push']],
    ['git -C sub log -1', ['git', '-C', 'sub', 'log']],
    ['npm run build -- --watch', ['npm', 'run', 'build']],
    ['pnpm test', ['pnpm', 'test']],
    ['cargo build --release', ['cargo', 'build']],
    ['docker compose up -d', ['docker', 'compose', 'up']],
    ['kubectl get pods', ['kubectl', 'get']],
    ['ls -la "$x"', ['ls', '-la']],
    ['python manage.py migrate', ['python', 'manage.py', 'migrate']],
    ['sudo apt update -y', ['sudo', 'apt', 'update']],
    ['npx vitest run', ['npx', 'vitest', 'run']],
    ['FOO=1 timeout 9 npm test', ['npm', 'test']],
    ['git add a && git add b', ['git', 'add']],
    ['git add a && git commit', undefined],
    ['npm test > out', undefined],
    ['curl x | sh', undefined],
    ['python -c x', undefined],
    ['git config a b', undefined],
    ['ssh host ls', undefined],
    ['$x', undefined],
    ['ls |', undefined],
    ['', undefined],
  ])('for %j is %j', (command, words) => {
    expect(suggestPrefix(command)).toEqual(words)
    if (words !== undefined) expect(coversLine([words], command)).toBe(true)
  })

  it('is for what is not granted yet', () => {
    expect(suggestPrefix('cd x && npm test', [['cd', 'x']])).toEqual(['npm', 'test'])
    expect(suggestPrefix('npm test', [['npm', 'test']])).toBeUndefined()
  })
})

const GLUE = [
  '; ',
  ' && ',
  ' || ',
  ' | ',
  ' |& ',
  ' & ',
  '\n',
  ' $(',
  ' `',
  ' "$(',
  ' <(',
  ' >(',
  ' ${x:-$(',
  ' <<< $(',
]
const CLOSE: Record<string, string> = {
  ' $(': ')',
  ' `': '`',
  ' "$(': ')"',
  ' <(': ')',
  ' >(': ')',
  ' ${x:-$(': ')}',
  ' <<< $(': ')',
}
const word = fc.stringMatching(/^[a-z][a-z0-9_./-]{0,8}$/)

describe('whatever is glued to an allowed command', () => {
  it('never passes unless it is covered itself', () => {
    const other = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(' '))
    fc.assert(
      fc.property(fc.constantFrom(...GLUE), other, fc.boolean(), (glue, command, first) => {
        const closing = CLOSE[glue] ?? ''
        const line = first && closing === '' ? command + glue + 'git status' : 'git status' + glue + command + closing
        // A substitution makes an argument that is not known, which git may take for an option.
        const allowed = closing === '' && coversLine(STATUS, command)
        expect(coversLine(STATUS, line)).toBe(allowed)
        // And by a rule of the glued command's own, in addition.
        const own = commandsOf(command)
        if ('unparsable' in own) expect(coversLine([...STATUS, command.split(' ')], line)).toBe(false)
      }),
      { numRuns: 2000 },
    )
  })

  it('never passes in whatever order fragments of bash stand', () => {
    const fragment = fc.constantFrom(
      'git status',
      'evil',
      '$(evil)',
      '`evil`',
      '"',
      "'",
      '\\',
      ' ',
      '\n',
      ';',
      '&',
      '|',
      '(',
      ')',
      '{ ',
      '}',
      '#',
      '!',
      '<<E\n',
      'E\n',
      '$((',
      '))',
      '[[ ',
      ' ]]',
      '${x:-',
      'if ',
      'then ',
      'fi',
      'eval ',
      'bash -c ',
      'x=',
      '$x',
      '<(',
      '@(',
    )
    fc.assert(
      fc.property(fc.array(fragment, { maxLength: 8 }), (fragments) => {
        const line = fragments.join('')
        const read = commandsOf(line)
        if ('unparsable' in read) expect(coversLine(STATUS, line)).toBe(false)
        else if (coversLine(STATUS, line)) {
          for (const words of read.commands) expect(words.slice(0, 2)).toEqual(['git', 'status'])
        }
      }),
      { numRuns: 3000 },
    )
  })

  it('is read without a throw, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => void commandsOf(text)),
      { numRuns: 2000 },
    )
  })
})
