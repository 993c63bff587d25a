import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  RepositoryScans,
  judgePath,
  linkedWorktreeFolders,
  protectedPaths,
  realPathOf,
  scanRepositories,
  type SandboxAccess,
  type SandboxPolicy,
} from '@deepseek-ai/dsh-sandbox'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let folder: string
let policy: SandboxPolicy

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-judge-')))
  for (const name of ['ws', 'more', 'temp', 'secret', 'outside']) mkdirSync(join(folder, name))
  policy = {
    mode: 'workspace-write',
    network: 'none',
    allowedHosts: [],
    root: join(folder, 'ws'),
    writableRoots: [join(folder, 'more')],
    deniedReads: [join(folder, 'secret')],
    tempDir: join(folder, 'temp'),
    sessionId: 'one',
    nestedNamespaces: false,
  }
})

afterEach(() => rmSync(folder, { recursive: true }))

const judge = (path: string, access: SandboxAccess = 'write', more: Partial<SandboxPolicy> = {}): string => {
  const verdict = judgePath(join(folder, path), access, { ...policy, ...more }, new RepositoryScans())
  return verdict.allowed ? 'allowed' : verdict.rule
}

const put = (path: string, text = ''): void => {
  mkdirSync(join(folder, path, '..'), { recursive: true })
  writeFileSync(join(folder, path), text)
}

describe('a verdict on a path', () => {
  it('allows the workspace, further roots and the temp folder, existing or not', () => {
    for (const path of ['ws/a', 'ws/a/b/c', 'more/x', 'temp/x', 'ws/.github/workflows/ci.yml', 'ws/.git/index']) {
      expect(judge(path), path).toBe('allowed')
    }
  })

  it('names the rule that refuses', () => {
    expect(judge('outside/a')).toBe('outside-writable-roots')
    expect(judge('wsx')).toBe('outside-writable-roots')
    expect(judge('ws/a', 'write', { mode: 'read-only' })).toBe('read-only-mode')
    expect(judge('temp/a', 'write', { mode: 'read-only' })).toBe('allowed')
    expect(judge('secret/a', 'read')).toBe('denied-read')
    expect(judge('secret/a', 'write')).toBe('denied-read')
    expect(judge('secret/a', 'read', { mode: 'danger-full-access' })).toBe('allowed')
    expect(judge('outside/a', 'write', { mode: 'danger-full-access' })).toBe('allowed')
    expect(judge('outside/a', 'read')).toBe('allowed')
  })

  it('follows links, dangling ones and circles too', () => {
    symlinkSync(join(folder, 'outside'), join(folder, 'ws/link'))
    symlinkSync(join(folder, 'outside/new'), join(folder, 'ws/dangling'))
    symlinkSync('../secret', join(folder, 'ws/hidden'))
    symlinkSync('circle', join(folder, 'ws/circle'))
    expect(judge('ws/link/a')).toBe('outside-writable-roots')
    expect(judge('ws/dangling')).toBe('outside-writable-roots')
    expect(judge('ws/hidden/key', 'read')).toBe('denied-read')
    expect(judge('ws/circle')).toBe('allowed')
    expect(judge('ws/link/../../ws/a')).toBe('allowed')
  })

  it('protects what git, agents and editors run later, also before it exists', () => {
    for (const path of [
      '.git',
      '.git/hooks/x',
      '.git/config',
      'sub/.git',
      'a/b/.git/hooks/x',
      '.git/modules/m/config',
      '.git/info/attributes',
    ]) {
      expect(judge(`ws/${path}`), path).toBe('protected-path')
    }
    for (const path of [
      '.dsh/x',
      '.claude',
      '.codex/a',
      '.agents/a',
      '.vscode/tasks.json',
      '.idea/x',
      '.bashrc',
      '.mcp.json',
    ]) {
      expect(judge(`ws/${path}`), path).toBe('protected-path')
      expect(judge(`more/${path}`), path).toBe('protected-path')
    }
  })

  it('protects the folder of core.hooksPath, and configuration beside nested repositories', () => {
    put('ws/.git/HEAD', 'ref: x')
    put('ws/.git/config', '[core]\nhooksPath = tools/hooks\n')
    put('ws/sub/.git/HEAD', 'ref: x')
    put('ws/sub/.claude/settings.json', '{}')
    expect(judge('ws/tools/hooks/x')).toBe('allowed')
    mkdirSync(join(folder, 'ws/tools'))
    expect(judge('ws/tools/hooks/x')).toBe('protected-path')
    expect(judge('ws/sub/.claude/settings.json')).toBe('protected-path')
  })
})

describe('protected paths of a root', () => {
  const listed = (): string[] => {
    const root = join(folder, 'ws')
    return protectedPaths(root, scanRepositories(root)).map(({ path }) => path.slice(root.length + 1))
  }

  it('hold bare repositories, and nothing of a .git that is only a name', () => {
    mkdirSync(join(folder, 'ws/empty/.git'), { recursive: true })
    for (const name of ['HEAD', 'config']) put(`ws/bare/${name}`)
    for (const name of ['objects', 'refs', 'hooks']) mkdirSync(join(folder, 'ws/bare', name))
    expect(listed().filter((path) => !path.startsWith('.'))).toEqual(['bare/config', 'bare/hooks'])
  })

  it('stay when a command has removed HEAD', () => {
    put('ws/.git/config')
    expect(listed()).toEqual(expect.arrayContaining(['.git/config', '.git/hooks']))
  })

  it('do not look into node_modules, nor deeper than the search goes', () => {
    put('ws/node_modules/a/.git/HEAD')
    put('ws/1/2/3/4/5/.git/HEAD')
    put('ws/1/2/3/4/5/6/.git/HEAD')
    expect(listed().filter((path) => /^[1n]/.test(path))).toEqual(['1/2/3/4/5/.git/config', '1/2/3/4/5/.git/hooks'])
  })

  it('never lie outside the root, and never within each other', () => {
    symlinkSync(join(folder, 'outside'), join(folder, 'ws/.vscode'))
    symlinkSync('.codex', join(folder, 'ws/.claude'))
    const found = listed()
    expect(found).not.toContain('.vscode')
    expect(found.filter((path) => path === '.codex')).toEqual(['.codex'])
  })
})

describe('a linked worktree', () => {
  it('gets its own folders of the repository only when the repository knows it', () => {
    for (const name of ['objects', 'refs', 'logs', 'hooks'])
      mkdirSync(join(folder, 'outside/.git', name), { recursive: true })
    put('ws/.git', `gitdir: ${folder}/outside/.git/worktrees/ws\n`)
    put('outside/.git/worktrees/ws/commondir', '../..\n')
    expect(linkedWorktreeFolders(join(folder, 'ws'))).toEqual([])
    put('outside/.git/worktrees/ws/gitdir', `${folder}/ws/.git\n`)
    const git = join(folder, 'outside/.git')
    expect(linkedWorktreeFolders(join(folder, 'ws'))).toEqual([
      join(git, 'worktrees/ws'),
      join(git, 'objects'),
      join(git, 'refs'),
      join(git, 'logs'),
    ])
  })
})

describe('the real path', () => {
  it('of what does not exist keeps the rest of it, for any names', () => {
    const name = fc
      .string({ minLength: 1, maxLength: 20, unit: 'grapheme' })
      .filter((text) => !/[/\0]|^\.{1,2}$/.test(text))
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), (names) => {
        expect(realPathOf(join(folder, 'missing', ...names))).toBe(join(folder, 'missing', ...names))
      }),
    )
  })
})
