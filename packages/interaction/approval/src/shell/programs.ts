// What is known of programs: which need a subcommand or a script before their first words say anything, and which options of theirs run
// another program. A program that is not listed is what its name says.
import { isShell } from './wrappers.ts'
import { baseName, listed, type ShellWord } from './words.ts'

/** Programs whose name says nothing before a subcommand. */
const SUBCOMMANDS = listed(`
  git, npm, pnpm, yarn, bun, deno, cargo, go, dotnet, mvn, gradle, poetry, pip, pip3, uv, rustup, conda, composer,
  bundle, gem, turbo, nx, docker, podman, kubectl, helm, terraform, brew, apt, apt-get, dnf, systemctl,
  gh, glab, aws, gcloud, az
`)

/** Subcommands that say nothing before a further word. */
const DEEPER = listed(`
  npm run, npm run-script, npm explore, npm init, npm create, pnpm run, pnpm create, yarn create, deno run, deno task,
  deno eval, go run, go tool, uv pip, uv tool, cargo run, conda run, dotnet tool, bun create,
  docker run, docker exec, docker compose, docker container, docker image, podman run, podman exec, kubectl exec,
  kubectl run, git config, git submodule, git bisect, git stash, git worktree, git remote,
  gh pr, gh issue, gh repo, gh run, gh api, gh alias, gh extension, aws s3, gcloud compute
`)

/** They start the program that is named next: what is true of that is true of them. */
const LAUNCHERS = listed(`
  npx, pnpx, bunx, uvx, npm exec, npm x, pnpm exec, pnpm dlx, yarn run, yarn exec, yarn dlx, yarn node, bun run, bun x,
  uv run, poetry run, bundle exec, pipx run
`)

/** They run whatever they are given next; nothing that they begin with can be granted. */
const RUN_ANYTHING = listed(`
  ssh, su, runuser, script, watch, parallel, flock, strace, ltrace, gdb, unshare, nsenter, chroot, systemd-run, expect,
  screen, tmux, at, batch, crontab, busybox, toybox, entr, chrt, taskset, setarch, setpriv, bwrap, firejail, pkexec,
  run-parts, vi, vim, nvim, ed, ex, emacs
`)
const GIT_RUNS_ANYTHING = listed('git filter-branch, git submodule foreach, git bisect run')

/** They run the script or the text that they are given; without it the first words say nothing. */
const INTERPRETERS =
  /^(?:python|pypy|node|nodejs|tsx|ts-node|ruby|irb|perl|php|lua|luajit|tclsh|Rscript|julia|java|osascript|awk|gawk|mawk|sed|gsed|corepack)[\d.]*$/

interface Risk {
  /** Long options; any abbreviation counts, as getopt takes it. */
  readonly long: readonly string[]
  readonly short?: RegExp
}

/** Options by which a program runs another one, or text as a program. */
const RISKS: ReadonlyMap<string, Risk> = new Map<string, Risk>([
  [
    'git',
    {
      long: ['upload-pack', 'receive-pack', 'exec', 'exec-path', 'ext-diff', 'extcmd', 'config', 'config-env']
        .concat(['template', 'open-files-in-pager', 'output', 'textconv', 'git-dir', 'work-tree', 'strategy', 'to-cmd'])
        .concat(['cc-cmd', 'smtp-server', 'tool', 'editor', 'gpg-sign']),
      short: /^-[cxO]/,
    },
  ],
  ['find', { long: [], short: /^-(?:exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls)$/ }],
  ['fd', { long: ['exec', 'exec-batch'], short: /^-[a-zA-Z]*[xX]/ }],
  ['fdfind', { long: ['exec', 'exec-batch'], short: /^-[a-zA-Z]*[xX]/ }],
  ['rg', { long: ['pre', 'hostname-bin', 'search-zip'], short: /^-[a-zA-Z]*z/ }],
  ['sort', { long: ['compress-program', 'output'], short: /^-[a-zA-Z]*o/ }],
  [
    'tar',
    {
      long: [
        'to-command',
        'checkpoint-action',
        'use-compress-program',
        'rsh-command',
        'rmt-command',
        'info-script',
      ].concat(['new-volume-script']),
      short: /^-?[a-zA-Z]*[IF]/,
    },
  ],
  ['rsync', { long: ['rsh', 'rsync-path'], short: /^-[a-zA-Z]*e/ }],
  ['make', { long: ['file', 'makefile', 'directory', 'eval', 'include-dir'], short: /=|^-[a-zA-Z]*[fCI]/ }],
  ['sed', { long: ['expression', 'file', 'in-place'], short: /^-[a-zA-Z]*[efi]/ }],
  ['awk', { long: ['file', 'include', 'source', 'exec', 'load'], short: /^-[a-zA-Z]*[efEil]/ }],
  ['gawk', { long: ['file', 'include', 'source', 'exec', 'load'], short: /^-[a-zA-Z]*[efEil]/ }],
  ['go', { long: [], short: /^--?(?:exec|toolexec|vettool)(?:=|$)/ }],
  ['cargo', { long: ['config'] }],
  ['zip', { long: ['unzip-command', 'test-command'], short: /^-[a-zA-Z]*T/ }],
  ['npm', { long: ['script-shell', 'node-options', 'userconfig', 'globalconfig', 'prefix'] }],
  ['pnpm', { long: ['script-shell', 'shell-mode', 'dir'], short: /^-C/ }],
])

/** An option of the command that runs something else, or an argument that may turn out to be one; undefined when there is none. */
export function riskOf(words: readonly ShellWord[]): string | undefined {
  const [program, ...args] = words
  const risk = RISKS.get(baseName(program?.text ?? ''))
  if (risk === undefined) return undefined
  const found = args.find(({ text, literal }) => !literal || isRisky(text, risk))
  return found?.text
}

function isRisky(text: string, { long, short }: Risk): boolean {
  if (short?.test(text) === true) return true
  const [, name] = /^--([^=]+)/.exec(text) ?? []
  return name !== undefined && long.some((option) => option.startsWith(name))
}

/** How many words say what the command is; undefined when they do not. */
export function tellingWords(words: readonly string[]): number | undefined {
  const program = baseName(words[0] ?? '')
  if (!SUBCOMMANDS.has(program)) return 1
  const at = subcommandAt(program, words)
  const subcommand = words[at]
  if (subcommand === undefined || subcommand.startsWith('-')) return undefined
  return DEEPER.has(`${program} ${subcommand}`) ? at + 2 : at + 1
}

export const hasSubcommands = (program: string): boolean => SUBCOMMANDS.has(baseName(program))

/** Git takes some harmless options in front of its subcommand. */
function subcommandAt(program: string, words: readonly string[]): number {
  let at = 1
  if (program !== 'git') return at
  for (;;) {
    const word = words[at]
    if (word === '-C') at += 2
    else if (word === '--no-pager' || word === '-P' || word === '--no-optional-locks') at += 1
    else return at
  }
}

/** How many words only start the program named after them: 0, 1 or 2. */
export function launcherWords([first = '', second = '']: readonly string[]): number {
  const program = baseName(first)
  if (LAUNCHERS.has(program)) return 1
  return LAUNCHERS.has(`${program} ${second}`) ? 2 : 0
}

/** Why nothing that begins with these words can be granted in advance, or undefined. */
export function programFault(words: readonly string[]): string | undefined {
  const program = baseName(words[0] ?? '')
  const launched = words.slice(launcherWords(words))
  if (launched.length < words.length) {
    const open = launched[0] === undefined || launched[0].startsWith('-')
    return open ? `${words.join(' ')} leaves open which program it starts` : programFault(launched)
  }
  if (RUN_ANYTHING.has(program)) return `${program} runs whatever it is given`
  if (program === 'git') return gitFault(words.slice(subcommandAt(program, words)))
  if (INTERPRETERS.test(program) || isShell(program)) return interpreterFault(program, words)
  return SUBCOMMANDS.has(program) ? openFault(program, words) : undefined
}

function gitFault([subcommand, argument]: readonly string[]): string | undefined {
  if (GIT_RUNS_ANYTHING.has(`git ${subcommand}`) || GIT_RUNS_ANYTHING.has(`git ${subcommand} ${argument}`)) {
    return `git ${subcommand} runs whatever it is given`
  }
  if (subcommand !== 'config') {
    return openFault(
      'git',
      ['git', subcommand, argument].filter((word) => word !== undefined),
    )
  }
  return /^(?:--get|--list|get|list|-l)/.test(argument ?? '') ? undefined : 'git config decides which programs git runs'
}

function openFault(program: string, words: readonly string[]): string | undefined {
  const telling = tellingWords(words)
  const last = telling === undefined ? undefined : words[telling - 1]
  if (last !== undefined && !last.startsWith('-')) return undefined
  return `${words.join(' ')} leaves open what ${program} does; name what it is to do`
}

function interpreterFault(program: string, words: readonly string[]): string | undefined {
  const [, second, third] = words
  if (/^(?:python|pypy)/.test(program) && second === '-m' && third !== undefined) return undefined
  // `sed -n 1,5p`: the script follows options that take no value.
  const plain = /^g?sed$/.test(program) ? words.slice(1).find((word) => !/^-[nErsuz]+$/.test(word)) : second
  if (plain !== undefined && !plain.startsWith('-')) return undefined
  return `${program} runs whatever it is given; name the script`
}
