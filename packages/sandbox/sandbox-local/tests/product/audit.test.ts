// What an audit says of a command that made or changed what git runs, with real git.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { RepositoryAudit } from '../../src/audit.ts'

let folder = ''
let root = ''
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-audit-')))
  root = join(folder, 'ws')
  mkdirSync(root)
  git('init', '-q')
  put('a', 'text')
  git('add', '.')
  git('commit', '-qm', 'first')
})
afterEach(() => rmSync(folder, { recursive: true }))

const git = (...args: string[]): string =>
  execFileSync('git', args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'protocol.file.allow',
      GIT_CONFIG_VALUE_0: 'always',
      ...Object.fromEntries(
        ['AUTHOR', 'COMMITTER'].flatMap((who) => [
          [`GIT_${who}_NAME`, 'n'],
          [`GIT_${who}_EMAIL`, 'e'],
        ]),
      ),
    },
  })

const put = (path: string, text: string, mode = 0o644): string => {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  chmodSync(file, mode)
  return file
}

/** The warnings without the folder of this run. */
const audited = async (command: () => void, roots = [root]): Promise<string[]> => {
  const audit = new RepositoryAudit(roots)
  await audit.before()
  command()
  return (await audit.after()).map((warning) => warning.replaceAll(`${folder}/`, ''))
}

describe('hooks', () => {
  it('moves a new hook aside, whole and without the right to run, so that git does not run it', async () => {
    const mark = join(folder, 'mark')
    const script = `#!/bin/sh\ntouch ${mark}\n`
    expect(await audited(() => put('.git/hooks/pre-commit', script, 0o755))).toEqual([
      'the command made the git hook ws/.git/hooks/pre-commit; it was moved aside as pre-commit.quarantined',
    ])
    const moved = join(root, '.git/hooks/pre-commit.quarantined')
    expect([readFileSync(moved, 'utf8'), statSync(moved).mode & 0o777]).toEqual([script, 0o644])
    git('commit', '-q', '--allow-empty', '-m', 'second')
    expect([existsSync(mark), existsSync(join(root, '.git/hooks/pre-commit'))]).toEqual([false, false])
    expect(await audited(() => {})).toEqual([])
  })

  it('keeps what was quarantined before', async () => {
    for (const text of ['one', 'two', 'three']) await audited(() => put('.git/hooks/pre-push', text))
    const names = readdirSync(join(root, '.git/hooks')).filter((name) => name.startsWith('pre-push.q'))
    expect(names.toSorted()).toEqual(['pre-push.quarantined', 'pre-push.quarantined-2', 'pre-push.quarantined-3'])
    expect(readFileSync(join(root, '.git/hooks/pre-push.quarantined'), 'utf8')).toBe('one')
  })

  it('finds those of repositories that were born in the call: plain, bare, nested, submodule', async () => {
    const warnings = await audited(() => {
      git('init', '-q', 'b/c/d/born')
      git('init', '-q', '--bare', 'bare.git')
      git('clone', '-q', '--bare', '.', join(folder, 'origin'))
      git('submodule', '--quiet', 'add', '../origin', 'deep/sub')
      for (const path of ['b/c/d/born/.git', 'bare.git', '.git/modules/deep/sub'])
        put(`${path}/hooks/post-checkout`, 'x')
    })
    expect(warnings).toEqual([
      expect.stringContaining('ws/.git/modules/deep/sub/hooks/post-checkout; it was moved aside'),
      expect.stringContaining('ws/bare.git/hooks/post-checkout; it was moved aside'),
      expect.stringContaining('ws/b/c/d/born/.git/hooks/post-checkout; it was moved aside'),
    ])
  })

  it('leaves alone and tells of a hook that was there and changed; says nothing of one that did not', async () => {
    const [changed, same] = [put('.git/hooks/pre-push', 'one', 0o755), put('.git/hooks/pre-commit', 'one', 0o755)]
    const times = statSync(changed)
    const warnings = await audited(() => {
      writeFileSync(changed, 'two')
      utimesSync(changed, times.atime, times.mtime)
    })
    expect(warnings).toEqual(['the command changed the git hook ws/.git/hooks/pre-push'])
    expect([readFileSync(changed, 'utf8'), statSync(same).mode & 0o777]).toEqual(['two', 0o755])
  })

  it('renames a link and a file with other names, but does not touch what they stand for', async () => {
    const outside = join(folder, 'tool')
    writeFileSync(outside, '#!/bin/sh\n')
    chmodSync(outside, 0o755)
    const warnings = await audited(() => {
      symlinkSync(outside, join(root, '.git/hooks/pre-commit'))
      linkSync(outside, join(root, '.git/hooks/pre-push'))
    })
    expect(warnings).toHaveLength(3)
    expect(warnings).toContain('the command made a hard link: ws/.git/hooks/pre-push has other names, too')
    expect(readdirSync(join(root, '.git/hooks')).filter((name) => name.endsWith('quarantined'))).toHaveLength(2)
    expect(statSync(outside).mode & 0o777).toBe(0o755)
  })

  it('tells of a hooks folder that became a link, and touches nothing behind it', async () => {
    const elsewhere = join(folder, 'elsewhere')
    mkdirSync(elsewhere)
    writeFileSync(join(elsewhere, 'pre-commit'), 'x', { mode: 0o755 })
    const warnings = await audited(() => {
      rmSync(join(root, '.git/hooks'), { recursive: true })
      symlinkSync(elsewhere, join(root, '.git/hooks'))
    })
    expect(warnings).toEqual([
      'the command made the symbolic link ws/.git/hooks to elsewhere where git looks for hooks',
    ])
    expect(readdirSync(elsewhere)).toEqual(['pre-commit'])
  })

  it('does not quarantine outside the roots', async () => {
    const other = join(folder, 'other/.git/hooks')
    mkdirSync(other, { recursive: true })
    symlinkSync(join(folder, 'other/.git'), join(root, 'link.git'))
    mkdirSync(join(root, 'sub'))
    put('sub/.git', `gitdir: ${join(folder, 'other/.git')}\n`)
    expect(await audited(() => writeFileSync(join(other, 'pre-commit'), 'x'))).toEqual([
      'the command made the git hook other/.git/hooks/pre-commit',
    ])
    expect(readdirSync(other)).toEqual(['pre-commit'])
  })
})

describe('settings and redirections', () => {
  it('tells of settings that run programs, with their value, once', async () => {
    git('config', 'core.pager', 'less')
    expect(
      await audited(() => {
        git('config', 'core.fsmonitor', 'touch /tmp/x')
        git('config', 'alias.st', '!sh -c x')
        git('config', 'user.name', 'somebody')
        git('config', 'core.pager', 'more')
      }),
    ).toEqual([
      'the command changed the git setting core.pager = "more" in ws/.git/config',
      'the command made the git setting core.fsmonitor = "touch /tmp/x" in ws/.git/config',
      'the command made the git setting alias.st = "!sh -c x" in ws/.git/config',
    ])
    expect(await audited(() => {})).toEqual([])
  })

  it.each([
    ['commondir', () => put('.git/commondir', '../evil\n'), /made ws\/\.git\/commondir, by which .* from \.\.\/evil/],
    [
      'a .git file',
      () => put('sub/.git', 'gitdir: ../evil\n'),
      /made ws\/sub\/\.git, by which .* ws\/evil for the repository/,
    ],
    [
      'a link for .git',
      () => symlinkSync('../evil', join(mkdirSync(join(root, 'l'), { recursive: true }) ?? '', '.git')),
      /symbolic link ws\/l\/\.git to ws\/evil/,
    ],
    [
      'config.worktree',
      () => put('.git/config.worktree', '[core] editor = x'),
      /core\.editor = "x" in ws\/\.git\/config\.worktree/,
    ],
    [
      'a large config',
      () => put('sub/.git/config', `#${'x'.repeat(2 ** 20)}\n`),
      /sub\/\.git\/config, which is too large/,
    ],
  ])('tells of %s', async (_title, command, expected) => {
    expect(await audited(command)).toEqual([expect.stringMatching(expected)])
  })

  it('tells of a config that is a link or has another name', async () => {
    const warnings = await audited(() => {
      renameSync(join(root, '.git/config'), join(root, 'config'))
      symlinkSync('../config', join(root, '.git/config'))
      put('sub/.git/HEAD', '')
      linkSync(join(root, 'config'), join(root, 'sub/.git/config'))
    })
    expect(warnings).toEqual([
      'the command made the symbolic link ws/.git/config to ws/config where git looks for settings',
      'the command made a hard link: ws/sub/.git/config has other names, too',
    ])
  })

  it('says nothing of what git itself makes: repositories, worktrees, submodules, commits, branches', async () => {
    expect(
      await audited(() => {
        git('init', '-q', 'new')
        git('worktree', 'add', '-q', 'tree')
        git('clone', '-q', '--bare', '.', join(folder, 'origin'))
        git('submodule', '--quiet', 'add', '../origin', 'sub')
        git('commit', '-qm', 'second')
        git('checkout', '-qb', 'branch')
        git('clone', '-q', '.', 'clone')
      }),
    ).toEqual([])
  })

  it('is not held up by a pipe where a file is expected', async () => {
    expect(
      await audited(() => {
        mkdirSync(join(root, 'sub/.git/hooks'), { recursive: true })
        for (const path of ['sub/.git/config', 'sub/.git/commondir', 'sub/.git/hooks/pre-push'])
          execFileSync('mkfifo', [join(root, path)])
        mkdirSync(join(root, 'other'))
        execFileSync('mkfifo', [join(root, 'other/.git')])
      }),
    ).toEqual([expect.stringContaining('pre-push; it was moved aside')])
  })

  it('keeps a warning on one line, whatever a name holds', async () => {
    const warnings = await audited(() => put('.git/hooks/pre\ncommit', 'x'))
    expect(warnings.join('')).not.toContain('\n')
    expect(warnings).toHaveLength(1)
  })

  it('says how many more there are', async () => {
    const warnings = await audited(() => {
      for (let index = 0; index < 60; index++) put(`.git/hooks/h${index}`, 'x')
    })
    expect([warnings.length, warnings.at(-1)]).toEqual([51, 'and 10 more of this kind'])
    expect(readdirSync(join(root, '.git/hooks')).filter((name) => name.endsWith('.quarantined'))).toHaveLength(60)
  })
})

describe('the walk', () => {
  it('looks twelve folders deep, at every root, and not into node_modules', async () => {
    const second = join(folder, 'second')
    mkdirSync(second)
    const warnings = await audited(() => {
      for (const path of [
        '1/2/3/4/5/6/7/8/9/10/11/12',
        '1/2/3/4/5/6/7/8/9/10/11/12/13',
        'node_modules/x',
        '../second/x',
      ])
        put(`${path}/.git/hooks/h`, 'x')
    }, [root, second])
    expect(warnings.map((warning) => warning.split('hook ')[1]?.split(';')[0])).toEqual([
      'ws/1/2/3/4/5/6/7/8/9/10/11/12/.git/hooks/h',
      'second/x/.git/hooks/h',
      undefined,
    ])
    expect(warnings.at(-1)).toMatch(/^ws has too many or too deep folders/)
  })

  it('sees a repository that is born right after it looked, and one whose folder had its times set back', async () => {
    for (let index = 0; index < 20; index++) {
      const warnings = await audited(() => {
        const times = statSync(root)
        put(`x${index}/.git/hooks/h`, 'x')
        utimesSync(root, times.atime, times.mtime)
      })
      expect(warnings, `round ${index}`).toHaveLength(1)
    }
  })

  it('does nothing without a root, and outlives a root that is gone', async () => {
    expect(await audited(() => put('.git/hooks/h', 'x'), [])).toEqual([])
    expect(await audited(() => {}, [join(folder, 'gone')])).toEqual([])
  })

  // Some 4 ms where this was written; the ratio holds on a busy machine, too.
  it('costs a stat of each folder and little more, before and after', async () => {
    for (let index = 0; index < 300; index++) {
      for (let file = 0; file < 10; file++) put(`src/m${index % 20}/p${index}/f${file}`, '')
    }
    const folders = 323
    const audit = new RepositoryAudit([root])
    // The first look lists every folder, and does not trust times that are younger than a tick of the file system's clock.
    await vi.waitFor(() => expect(Date.now() - statSync(root).ctimeMs).toBeGreaterThan(100))
    await audit.before()
    const [audits, stats]: [number[], number[]] = [[], []]
    for (let round = 0; round < 31; round++) {
      const started = performance.now()
      await audit.before()
      await audit.after()
      const middle = performance.now()
      for (let index = 0; index < 2 * folders; index++) lstatSync(root)
      audits.push(middle - started)
      stats.push(performance.now() - middle)
    }
    const median = (times: number[]): number => times.toSorted((a, b) => a - b)[15] ?? Number.NaN
    expect(median(audits) / median(stats)).toBeLessThan(4)
  })
})

describe('a workspace that is not looked through whole', () => {
  it('is named, beside what was found', async () => {
    put(`${'d/'.repeat(13)}file`, 'x')
    expect(await audited(() => put('.git/hooks/pre-commit', 'x', 0o755))).toEqual([
      expect.stringContaining('pre-commit.quarantined'),
      expect.stringMatching(/^ws has too many or too deep folders .* may be missing here$/),
    ])
  })

  it('is not named when it is as deep as is looked', async () => {
    put(`${'d/'.repeat(12)}file`, 'x')
    expect(await audited(() => {})).toEqual([])
  })
})
