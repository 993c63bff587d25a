import { describe, expect, it } from 'vitest'
import { commandsOf } from '@deepseek-ai/dsh-approval'

const lines = (command: string): string[] => {
  const read = commandsOf(command)
  if ('unparsable' in read) throw new Error(read.unparsable)
  return read.commands.map((words) => words.join(' '))
}
const reason = (command: string): string => {
  const read = commandsOf(command)
  return 'unparsable' in read ? read.unparsable : `read as ${JSON.stringify(read.commands)}`
}

describe('every simple command is found', () => {
  it.each<[string, string, string[]]>([
    ['a list', 'a; b && c || d & e\nf', ['a', 'b', 'c', 'd', 'e', 'f']],
    ['a pipeline', 'a | b |& c', ['a', 'b', 'c']],
    ['a subshell and a group', '(a; b) | { c; }', ['a', 'b', 'c']],
    ['a condition', 'if a; then b; elif c; then d; else e; fi', ['a', 'b', 'c', 'd', 'e']],
    ['loops', 'for i in 1 2; do a; done; while b; do c; done; until d; do e; done', ['a', 'b', 'c', 'd', 'e']],
    ['a case', 'case x in p) a;; $(q)) b;; esac', ['a', 'q', 'b']],
    ['a function', 'f() { a; }; b', ['a', 'b']],
    ['a negation and time', '! a; time -p b', ['a', 'b']],
    ['a substitution', 'a $(b) `c` "$(d $(e))"', ['b', 'c', 'e', 'd $(e)', 'a $(b) `c` "$(d $(e))"']],
    ['a process substitution', 'a <(b) >(c)', ['b', 'c', 'a <(b) >(c)']],
    ['a here-document that expands', 'a <<E\n$(b) `c`\nE', ['b', 'c', 'a']],
    ['a here-document that does not', "a <<'E'\n$(b)\nE", ['a']],
    ['a here-string', 'a <<< "$(b)"', ['b', 'a']],
    ['a parameter default', 'a ${x:-$(b)} ${y/$(c)/$(d)}', ['b', 'c', 'd', 'a ${x:-$(b)} ${y/$(c)/$(d)}']],
    ['an assignment', 'x=$(a) y=1 b', ['a', 'b']],
    ['a test', '[[ $(a) == b ]] && c', ['a', 'c']],
    ['a redirection target', 'a < $(b)', ['b', 'a']],
    ['quotes', 'g\\it "com"mit -m "npm run dev; rm x"', ['git commit -m npm run dev; rm x']],
    ['ANSI-C quotes', "$'\\x67it' status", ['git status']],
    ['a line continuation', 'git sta\\\ntus', ['git status']],
    ['a comment', 'a # ; b', ['a']],
  ])('in %s', (_what, command, expected) => {
    expect(lines(command)).toEqual(expected)
  })
})

describe('wrappers are taken off', () => {
  it.each<[string, string[]]>([
    ['FOO=1 git push', ['git push']],
    ['env -i A=1 B=2 git push', ['git push']],
    ['/usr/bin/env git push', ['git push']],
    ['command -p git push', ['git push']],
    ['exec -a x git push', ['git push']],
    ['nohup nice -n 5 ionice -c2 setsid stdbuf -oL git push', ['git push']],
    ['timeout -s KILL --kill-after=5 60 git push', ['git push']],
    ['builtin cd x', ['cd x']],
    ["bash -c 'a && b'", ['a', 'b']],
    ["bash -euo pipefail -c 'a | b' zero one", ['a', 'b']],
    ["/bin/sh -ec 'a'", ['a']],
    ['bash -c "bash -c \'eval a b\'"', ['a b']],
    ["eval 'a;' b", ['a', 'b']],
    ['x | xargs -0 -n 1 git add', ['x', 'git add …']],
    ['xargs', ['echo …']],
    ['xargs -I{} cp {} /tmp', ['cp {} /tmp …']],
    ['xargs -0 sh -c \'a "$@"\' _', ['a "$@"']],
    ['sudo -n apt update', ['sudo apt update']],
    ["sudo bash -c 'a; b'", ['sudo a', 'sudo b']],
    ['command -v git', ['command -v git']],
    ['bash build.sh', ['bash build.sh']],
  ])('of %s', (command, expected) => {
    expect(lines(command)).toEqual(expected)
  })
})

describe('what cannot be told is unparsable, with the reason', () => {
  it.each<[string, string]>([
    // The program itself.
    ['$x', 'which program runs depends on "$x"'],
    ['$(echo rm) x', 'which program runs'],
    ['g{it,} x', 'which program runs'],
    ['/bin/r? x', 'which program runs'],
    ['~/x', 'which program runs'],
    // What a wrapper is given.
    ['bash -c "$x"', 'what bash runs depends on'],
    ['bash -c', 'what bash runs'],
    ['bash --rcfile x -c y', 'what bash runs'],
    ["zsh -c 'a'", 'a script of zsh is not bash'],
    ['eval "$x"', 'what eval runs'],
    ['env $x git push', 'what env runs'],
    ["env -S 'git push'", 'what env runs'],
    ['timeout $x git push', 'what timeout runs'],
    ['xargs -I% % x', 'which program runs'],
    ['xargs sh -c', 'what sh runs'],
    ['xargs env', 'what env runs'],
    ['sudo $x', 'what sudo runs'],
    ['sudo -u root x', 'what sudo runs depends on "-u"'],
    // Not bash.
    ['ls |', 'not valid bash'],
    ["echo 'x", 'not valid bash'],
    ['a $(b; ; c)', 'not valid bash'],
    ['a ;; b', 'not valid bash'],
    // Variables that make later words mean something else.
    ['PATH=/tmp/x git status', 'PATH changes what commands do'],
    ['PATH=/tmp/x; git status', 'PATH changes'],
    ['LD_PRELOAD=x git status', 'LD_PRELOAD changes'],
    ['BASH_ENV=x git status', 'BASH_ENV changes'],
    ['IFS=x git status', 'IFS changes'],
    ['GIT_SSH_COMMAND=x git fetch', 'GIT_SSH_COMMAND changes'],
    ['NODE_OPTIONS=x npm test', 'NODE_OPTIONS changes'],
    ['HOME=/tmp git status', 'HOME changes'],
    ['env LD_PRELOAD=x git status', 'LD_PRELOAD changes'],
    ['git status ${PATH:=/tmp}', 'PATH changes'],
    ['for PATH in /tmp; do git status; done', 'PATH changes'],
    ['exec {PATH}>&1', 'PATH changes'],
    // Builtins that do.
    ['alias ls=rm; ls x', 'alias changes what other commands mean'],
    ['export PATH=/tmp', 'PATH changes'],
    ['export X', 'export changes'],
    ['source x', 'source changes'],
    ['. x', '. changes'],
    ["trap 'rm x' EXIT", 'trap changes'],
    ['read x', 'read changes'],
    ['printf -v x y', 'printf may set a variable'],
    ['hash -p /tmp/x git', 'hash changes'],
    ['set -- x', 'set changes'],
    ['enable -n test', 'enable changes'],
    ['git() { rm x; }; git status', 'a function takes the place of git'],
    ['coproc { a; }', 'a coprocess'],
    // Text that bash evaluates although it looks like data.
    ['echo $((x))', 'may run what a variable holds'],
    ["x='a[$(id)]'; echo $((x))", 'may run what a variable holds'],
    ['((x))', 'may run what a variable holds'],
    ['echo ${a[x]}', 'may run what a variable holds'],
    ['echo ${s:x}', 'may run what a variable holds'],
    ['[[ x -eq 1 ]]', 'may run what a variable holds'],
    ['[[ -v x ]]', 'may run what a variable holds'],
    ["test -v 'a[$(id)]'", 'may evaluate its operands'],
    ['echo ${x@P}', 'may run what x holds'],
    ['echo ${!x}', 'names a variable by another one'],
    ['a=([x]=1)', 'may evaluate a subscript'],
    ['a[x]=1', 'may evaluate a subscript'],
    ["git status >&'$(id)'", 'may run what its target holds'],
    ["git status <&'$(id)'", 'may run what its target holds'],
    ['git status 2>&1$x', 'may run what its target holds'],
    // Shapes.
    ['> x', 'a redirection without a command writes to x'],
    ['git status\r\nrm x', 'characters that cannot be seen'],
    ['git\u00a0status', 'characters that cannot be seen'],
    ['git \u202estatus', 'characters that cannot be seen'],
    ['a\0b', 'characters that cannot be seen'],
    ['a '.repeat(60_000), 'too long'],
  ])('%j', (command, text) => {
    expect(reason(command)).toContain(text)
  })

  it('and so are scripts nested without end, however deep the text goes', () => {
    expect(reason(`${'eval '.repeat(2000)}rm x`)).toMatch(/nested|wrapped/)
    expect(reason(`${'sudo '.repeat(2000)}rm x`)).toMatch(/nested|wrapped/)
    expect('unparsable' in commandsOf(`${'$('.repeat(3000)}rm${')'.repeat(3000)}`)).toBe(true)
    expect('unparsable' in commandsOf(`${'('.repeat(3000)}rm${')'.repeat(3000)}`)).toBe(true)
  })
})
