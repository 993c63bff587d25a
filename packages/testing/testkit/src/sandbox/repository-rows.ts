// Attempts to leave something that git, an editor or an agent runs later, outside of any sandbox.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import type { SandboxRow } from './suite.ts'
import type { SandboxWorld } from './world.ts'

const CONFIG = '[core]\n\trepositoryformatversion = 0\n'

/** Whatever was tried: no hook and the same configuration, in their place. The rest of `.git` may be damaged, which git itself may do. */
const keptAsItWas = (folder: string): void => {
  assert.deepEqual(readdirSync(join(folder, '.git/hooks')), [])
  assert.equal(readFileSync(join(folder, '.git/config'), 'utf8'), CONFIG)
}

const REBUILD = 'mkdir -p .git/hooks; echo x > .git/hooks/post-commit; echo x > .git/config; true'

const keepsRepository = (title: string, command: string, at = '.', needs: string[] = []): SandboxRow => ({
  title,
  needs,
  body: async (world) => {
    const folder = world.repository(at)
    const ran = await world.run(`${command}; true`)
    assert.equal(ran.exitCode, 0)
    keptAsItWas(folder)
  },
})

const keepsConfiguration = (title: string, command: string): SandboxRow => ({
  title,
  body: async (world) => {
    world.put('.claude/settings.json', '{}')
    world.put('.bashrc', 'echo hi')
    await world.run(`${command}; true`)
    assert.equal(world.read(join(world.ws, '.claude/settings.json')), '{}')
    assert.deepEqual(readdirSync(join(world.ws, '.claude')), ['settings.json'])
    assert.equal(world.read(join(world.ws, '.bashrc')), 'echo hi')
  },
})

const git = (cwd: string, ...args: string[]): string => {
  const environment = {
    PATH: process.env['PATH'],
    HOME: cwd,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@b',
  }
  const env = { ...environment, GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b' }
  const { status, stdout, stderr } = spawnSync('git', ['-c', 'init.defaultBranch=main', ...args], {
    cwd,
    env,
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
  return stdout
}

const COMMIT = 'git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x'

export const repositoryRows: readonly SandboxRow[] = [
  keepsRepository(
    'keeps hooks from being written',
    'echo x > .git/hooks/post-commit; cp /bin/sh .git/hooks/pre-commit',
  ),
  keepsRepository(
    'keeps hooks from being replaced',
    'rm -rf .git/hooks; ln -s /tmp .git/hooks; mv .git/hooks .git/old',
  ),
  keepsRepository(
    'keeps the configuration from being written or replaced',
    'echo x > .git/config; mv .git/config .git/c; rm -f .git/config',
  ),
  keepsRepository('keeps git from changing the configuration', 'git config core.fsmonitor evil', '.', ['git']),
  keepsRepository('keeps .git from being moved aside and built anew', `mv .git x; rm -rf .git; ${REBUILD}`),
  keepsRepository('keeps a nested repository', `cd a/b; ${REBUILD}; mv .git x; ${REBUILD}`, 'a/b'),
  keepsRepository(
    'keeps the parents of a nested repository from being moved aside',
    `mv a x; mv a/b a/c; mkdir -p a/b; cd a/b; ${REBUILD}`,
    'a/b',
  ),
  keepsRepository('keeps a repository five levels down', `cd 1/2/3/4/5; ${REBUILD}`, '1/2/3/4/5'),
  {
    title: 'keeps a repository in a further root, with process.cwd() elsewhere',
    body: async (world) => {
      const more = world.repository('../more')
      await world.run(`cd ${more}; ${REBUILD}; mv .git x; ${REBUILD}`, { policy: { writableRoots: [more] } })
      keptAsItWas(more)
    },
  },
  {
    title: 'keeps hooks that do not exist from coming to be',
    body: async (world) => {
      const folder = world.repository('.')
      await world.run('rmdir .git/hooks; true')
      spawnSync('rmdir', [join(folder, '.git/hooks')])
      await world.run(REBUILD)
      assert.ok(!existsSync(join(folder, '.git/hooks/post-commit')))
      await world.sandbox.forget('one')
      assert.ok(!existsSync(join(folder, '.git/hooks')))
    },
  },
  {
    title: 'keeps the folder that core.hooksPath names, and the scripts beside husky’s',
    body: async (world) => {
      const folder = world.repository('.')
      writeFileSync(join(folder, '.git/config'), '[core]\n\thooksPath = ".husky/_" ; theirs\n')
      world.put('.husky/_/h', 'old')
      world.put('.husky/pre-commit', 'old')
      await world.run('echo x > .husky/_/h; echo x > .husky/_/new; echo x > .husky/pre-commit; mv .husky x; true')
      assert.equal(world.read(join(world.ws, '.husky/_/h')), 'old')
      assert.equal(world.read(join(world.ws, '.husky/pre-commit')), 'old')
      assert.deepEqual(readdirSync(join(world.ws, '.husky/_')), ['h'])
    },
  },
  {
    title: 'protects a repository from the call after the one that made it on',
    needs: ['git'],
    body: async (world) => {
      const born = await world.run(
        'git init -q --template= sub && mkdir sub/.git/hooks && echo x > sub/.git/hooks/early',
      )
      assert.equal(born.exitCode, 0, born.stderr)
      // The documented limit: within the call nothing can be mounted over what is not there yet. It is found afterwards.
      assert.deepEqual(readdirSync(join(world.ws, 'sub/.git/hooks')), ['early.quarantined'])
      assert.match(born.report.warnings?.join('\n') ?? '', /sub/)
      await world.run('echo x > sub/.git/hooks/late; echo x >> sub/.git/config; true')
      assert.deepEqual(readdirSync(join(world.ws, 'sub/.git/hooks')), ['early.quarantined'])
    },
  },
  {
    title: 'finds a .git file and a commondir that name folders of the command’s own making',
    body: async (world) => {
      const folder = world.repository('.')
      mkdirSync(join(world.ws, 'sub'))
      const ran = await world.run(
        'cp -r .git evil; mkdir -p evil/hooks; echo x > evil/hooks/post-commit; chmod +x evil/hooks/post-commit; ' +
          'echo "gitdir: ../evil" > sub/.git; echo ../evil > .git/commondir; true',
      )
      assert.ok((ran.report.warnings?.length ?? 0) > 0, 'the audit says nothing')
      assert.deepEqual(readdirSync(join(folder, '.git/hooks')), [])
    },
  },
  {
    title: 'lets a linked worktree commit, and keeps the hooks and configuration of its repository',
    needs: ['git'],
    body: async (world) => {
      const { main, worktree } = linkedWorktree(world)
      const { linkedWorktreeFolders } = await import('@deepseek-ai/dsh-sandbox')
      const policy = { root: worktree, writableRoots: linkedWorktreeFolders(worktree) }
      const config = world.read(join(main, '.git/config'))
      const ran = await world.run(
        `${COMMIT}; echo x > ${main}/.git/hooks/new; git config a.b c; echo x > ${main}/.git/worktrees/tree/commondir; true`,
        {
          policy,
        },
      )
      assert.equal(git(worktree, 'rev-list', '--count', 'HEAD').trim(), '2', ran.stderr)
      assert.ok(!existsSync(join(main, '.git/hooks/new')))
      assert.equal(world.read(join(main, '.git/config')), config)
      assert.equal(world.read(join(main, '.git/worktrees/tree/commondir')), '../..\n')
    },
  },
  {
    title: 'lets git commit, branch and stash in a protected repository',
    needs: ['git'],
    body: async (world) => {
      git(world.ws, 'init', '-q')
      const ran = await world.run(
        `set -e; ${COMMIT}; echo a > f; git add f; ${COMMIT}; git branch other; git gc -q; git log --oneline | wc -l`,
      )
      assert.equal(ran.exitCode, 0, ran.stderr)
      assert.equal(ran.stdout.trim(), '2')
    },
  },
  keepsConfiguration(
    'keeps configuration of agents and shells from being written',
    'echo x > .claude/settings.json; echo x > .claude/new; echo x > .bashrc',
  ),
  keepsConfiguration(
    'keeps it from being moved aside and built anew',
    'mv .claude x; rm -rf .claude; mkdir .claude; echo x > .claude/new; mv .bashrc b',
  ),
  {
    title: 'keeps configuration that does not exist from coming to be, and leaves nothing of it behind',
    body: async (world) => {
      const ran = await world.run(
        'for d in .dsh .agents .claude .codex .vscode .idea; do mkdir -p $d; echo x > $d/x; done; true',
      )
      assert.equal(ran.exitCode, 0)
      for (const name of readdirSync(world.ws)) assert.deepEqual(readdirSync(join(world.ws, name)), [])
      await world.sandbox.forget('one')
      assert.deepEqual(readdirSync(world.ws), [])
    },
  },
  {
    title: 'makes .git folders read-only as a whole where there are very many, and still runs',
    body: async (world) => {
      for (let index = 0; index < 60; index++) world.repository(`r${index}`)
      const ran = await world.run(
        'echo in > file; for r in r*; do (echo x > $r/.git/hooks/x) 2>/dev/null; mv $r/.git $r/y 2>/dev/null; done; true',
      )
      assert.equal(world.read(join(world.ws, 'file')), 'in\n', ran.stderr)
      for (let index = 0; index < 60; index++) keptAsItWas(join(world.ws, `r${index}`))
      assert.match(ran.report.warnings?.join() ?? '', /read-only as a whole/)
    },
  },
  {
    title: 'refuses a workspace with more to protect than can be mounted',
    body: async (world) => {
      for (let index = 0; index < 160; index++) world.repository(`r${index}`)
      await assert.rejects(world.run('true'), { code: 'SANDBOX_POLICY_INVALID' })
    },
  },
]

function linkedWorktree(world: SandboxWorld): { main: string; worktree: string } {
  const main = join(world.folder, 'main')
  mkdirSync(main)
  git(main, 'init', '-q')
  git(main, 'commit', '-q', '--allow-empty', '-m', 'first')
  const worktree = join(world.folder, 'tree')
  git(main, 'worktree', 'add', '-q', worktree)
  return { main, worktree }
}
