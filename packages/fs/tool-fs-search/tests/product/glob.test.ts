// glob on real trees with the real ripgrep.
import { utimesSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startWorld } from './world.ts'

describe('glob', () => {
  it('lists files in path order, and newest first when asked to, equal times by path', async () => {
    const world = await startWorld()
    for (const [path, time] of Object.entries({
      'b.ts': 100,
      'a/x.ts': 300,
      'a/y.ts': 300,
      'a.ts': 200,
      'c.md': 400,
    })) {
      world.write(path, '')
      utimesSync(join(world.folder, path), time, time)
    }
    expect(await world.glob({ pattern: '*.ts' })).toMatchObject({
      order: 'path',
      paths: ['a/x.ts', 'a/y.ts', 'a.ts', 'b.ts'],
      total: 4,
      completeness: { complete: true },
    })
    const newest = await world.glob({ pattern: '*.ts', order: 'newest', limit: 3 })
    expect(newest.paths).toEqual(['a/x.ts', 'a/y.ts', 'a.ts'])
    expect(newest.text).toContain('[3 of 4 files, newest first; next page: offset 3]')
  })

  it('takes folders, absolute patterns, exclusions and dots', async () => {
    const world = await startWorld()
    for (const path of [
      'src/a.ts',
      'src/b/c.ts',
      'src/b/d.test.ts',
      '(g)/[s]/p.ts',
      '.github/w.yml',
      '.env',
      '-x.ts',
    ]) {
      world.write(path, '')
    }
    const found = async (args: object): Promise<readonly string[]> => (await world.glob(args)).paths
    expect(await found({ pattern: 'src/*.ts' })).toEqual(['src/a.ts'])
    expect(await found({ pattern: '*.ts', path: 'src/b' })).toEqual(['src/b/c.ts', 'src/b/d.test.ts'])
    expect(await found({ pattern: `${world.folder}/src/**/*.ts` })).toEqual([
      'src/a.ts',
      'src/b/c.ts',
      'src/b/d.test.ts',
    ])
    expect(await found({ pattern: `${world.folder}/src/a.ts` })).toEqual(['src/a.ts'])
    expect(await found({ pattern: '../*.ts', path: undefined }).catch(() => 'refused')).not.toContain('src/a.ts')
    expect(await found({ pattern: 'src/**', exclude: ['*.test.ts', 'a.ts'] })).toEqual(['src/b/c.ts'])
    expect(await found({ pattern: String.raw`(g)/\[s\]/*` })).toEqual(['(g)/[s]/p.ts'])
    expect(await found({ pattern: '.env' })).toEqual(['.env'])
    expect(await found({ pattern: '.github/**' })).toEqual(['.github/w.yml'])
    expect(await found({ pattern: '-x*' })).toEqual(['-x.ts'])
    expect(await found({ pattern: '*', include_ignored: true, exclude: ['src'] })).toEqual([
      '(g)/[s]/p.ts',
      '-x.ts',
      '.env',
      '.github/w.yml',
    ])
  })

  it('says of a long list how long it is and where the files are, so that a page is not taken for the whole', async () => {
    const world = await startWorld({ globLimit: 3 })
    for (let file = 0; file < 9; file++) world.write(`archive/${file}.txt`, '')
    for (let file = 0; file < 4; file++) world.write(`src/${file}.txt`, '')
    world.write('top.txt', '')
    const { folders, completeness, text } = await world.glob({ pattern: '*' })
    expect(completeness).toMatchObject({ complete: false, truncated: { shown: 3, total: 14, exact: true, next: 3 } })
    expect(folders).toEqual([
      { path: 'archive/', count: 9 },
      { path: 'src/', count: 4 },
      { path: '.', count: 1 },
    ])
    expect(text).toContain('[by folder: archive/ 9, src/ 4, . 1]')
  })

  it('pages through the whole, each path once', async () => {
    const world = await startWorld()
    for (let file = 0; file < 57; file++) world.write(`d${file % 5}/f${file}`, '')
    const seen: string[] = []
    for (let offset: number | null | undefined = 0; typeof offset === 'number';) {
      const page: Awaited<ReturnType<typeof world.glob>> = await world.glob({ pattern: '**', limit: 10, offset })
      seen.push(...page.paths)
      offset = page.completeness.truncated?.next
    }
    expect(seen).toHaveLength(57)
    expect(seen).toEqual((await world.glob({ pattern: '**', limit: 100 })).paths)
    expect((await world.glob({ pattern: '**', offset: 57 })).text).toMatch(/^No more files/)
  })

  it('refuses a file to look in', async () => {
    const world = await startWorld()
    world.write('file', '')
    expect(await world.call('glob', { pattern: '*', path: 'file' })).toMatchObject({
      isError: true,
      error: { code: 'SEARCH_NOT_A_FOLDER' },
    })
  })
})
