// An empty answer is a claim: what was not looked at is said, in the value, the text and the card.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { contentText } from '@deepseek-ai/dsh-tools'
import { describe, expect, it } from 'vitest'
import { pathsOf, skips, startWorld } from './world.ts'

describe('the receipt', () => {
  it('names what was left out by each rule, also when nothing was found', async () => {
    const world = await startWorld()
    world.write('.git/HEAD', 'secret\n')
    world.write('.gitignore', 'node_modules/\n*.log\n')
    world.write('node_modules/x/index.js', 'secret\n')
    world.write('a.log', 'secret\n')
    world.write('.env', 'secret\n')
    world.write('src/.hidden', 'secret\n')
    world.write('src/a.ts', 'nothing\n')
    mkdirSync(join(world.folder, 'links'))
    symlinkSync('../src', join(world.folder, 'links/folder'))
    symlinkSync('../src/a.ts', join(world.folder, 'links/file'))
    symlinkSync('nowhere', join(world.folder, 'dangling'))
    symlinkSync('.', join(world.folder, 'loop'))
    const value = await world.grep({ pattern: 'secret' })
    expect(value.completeness).toEqual({
      complete: true,
      searched: 1,
      skipped: [
        { rule: 'hidden', count: 4, examples: ['.env', '.git', '.gitignore', 'src/.hidden'] },
        { rule: 'ignored', count: 2, examples: ['a.log', 'node_modules'] },
        { rule: 'link', count: 4, examples: ['dangling', 'links/file', 'links/folder', 'loop'] },
      ],
      unreadable: [],
    })
    expect(value.text).toBe(
      'No matches.\n[searched 1 file in .; not searched: 4 hidden (.env, .git, .gitignore, src/.hidden), 2 ignored by ignore files ' +
        '(a.log, node_modules), 4 links, which are not followed (dangling, links/file, links/folder, loop); ' +
        'include_ignored searches hidden and ignored ones too]',
    )
    expect(skips(await world.grep({ pattern: 'secret', glob: '*.ts' }))).toEqual({ hidden: 4, ignored: 2, link: 4 })
    expect(skips(await world.glob({ pattern: '*.md' }))).toEqual({ hidden: 4, ignored: 2, link: 4 })
    const all = await world.grep({ pattern: 'secret', include_ignored: true })
    expect(pathsOf(all)).toEqual(['.env', 'a.log', 'node_modules/x/index.js', 'src/.hidden'])
    expect(skips(all)).toEqual({ 'version-control': 1, link: 4 })
  })

  it('shows the same on the card', async () => {
    const world = await startWorld()
    world.write('.env', 'secret\n')
    world.write('a.txt', 'foo secret\n')
    const result = await world.call('grep', { pattern: 'secret' })
    const { content, isError, meta } = result
    const tool = world.ctx.tools.get('grep')
    expect(
      tool?.presentResult?.({ pattern: 'secret' } as never, {
        content,
        isError,
        ...(meta === undefined ? {} : { meta }),
      }),
    ).toEqual({
      card: 'search',
      shape: 'matches',
      files: [{ path: 'a.txt', matches: [{ lineNumber: 1, line: 'foo secret', ranges: [[4, 10]] }] }],
      total: 1,
      truncated: false,
      remarks: ['Searched 1 file in .; not searched: 1 hidden (.env).'],
    })
    expect(tool?.presentCall?.({ pattern: 'secret', path: 'src' } as never)).toEqual({
      card: 'generic',
      kind: 'search',
      title: 'secret in src',
    })
  })

  it('names binary files that match, and searches them past the first NUL', async () => {
    const world = await startWorld()
    world.write('early.bin', '\0\0\n\n foo \n')
    world.write('late.bin', `foo\n${'x\n'.repeat(50_000)}\0foo\n`)
    world.write('other.bin', '\0nothing\n')
    world.write('text', 'foo\n')
    const value = await world.grep({ pattern: 'foo' })
    expect(pathsOf(value)).toEqual(['text'])
    expect(value.completeness).toMatchObject({
      complete: false,
      searched: 4,
      skipped: [{ rule: 'binary', count: 2, examples: ['early.bin', 'late.bin'] }],
    })
    expect(value.text).toContain('not shown: 2 binary files that match (early.bin, late.bin)')
    expect(pathsOf(await world.grep({ pattern: 'foo', mode: 'files' }))).toEqual(['early.bin', 'late.bin', 'text'])
    const only = await world.grep({ pattern: 'foo', path: 'early.bin' })
    expect(only.text).toMatch(
      /^No matches\.\n\[searched 1 file in early\.bin; not shown: 1 binary file that matches \(early\.bin\)\]/,
    )
  })

  it('names files that are over a size the host has set', async () => {
    const world = await startWorld({ maxFileBytes: 1000 })
    world.write('large', `foo\n${'x'.repeat(2000)}`)
    world.write('small', 'foo\n')
    const value = await world.grep({ pattern: 'foo' })
    expect(pathsOf(value)).toEqual(['small'])
    expect(value.completeness).toMatchObject({
      complete: false,
      skipped: [{ rule: 'too-large', count: 1, examples: ['large'] }],
    })
  })

  it('follows a link that "path" names, and shows what is there under its name', async () => {
    const world = await startWorld()
    world.write('real/a.txt', 'foo\n')
    symlinkSync('real', join(world.folder, 'link'))
    symlinkSync('loop2', join(world.folder, 'loop1'))
    symlinkSync('loop1', join(world.folder, 'loop2'))
    symlinkSync('nowhere', join(world.folder, 'dangling'))
    expect(pathsOf(await world.grep({ pattern: 'foo', path: 'link' }))).toEqual(['link/a.txt'])
    expect(pathsOf(await world.grep({ pattern: 'foo', path: 'link/a.txt' }))).toEqual(['link/a.txt'])
    expect(await world.call('grep', { pattern: 'foo', path: 'loop1' })).toMatchObject({
      error: { code: 'SEARCH_PATH_UNREADABLE', message: expect.stringContaining('circle') as unknown },
    })
    expect(await world.call('grep', { pattern: 'foo', path: 'dangling' })).toMatchObject({
      error: { code: 'SEARCH_PATH_NOT_FOUND', message: expect.stringContaining('link to something') as unknown },
    })
  })

  it('keeps names that are no Unicode, with a line break or in another form, apart and on one line', async () => {
    const world = await startWorld()
    const raw = Buffer.concat([Buffer.from(`${world.folder}/`), Buffer.from('n\xff.txt', 'latin1')])
    writeFileSync(raw, 'foo\n')
    world.write('a\n[searched 9 files].txt', 'foo\n')
    world.write('Screenshot 1\u202fPM.txt', 'foo\n')
    world.write('cafe\u0301.txt', 'foo\n')
    const value = await world.grep({ pattern: 'foo' })
    expect(pathsOf(value)).toEqual([
      'Screenshot 1\u202fPM.txt',
      'a\n[searched 9 files].txt',
      'cafe\u0301.txt',
      'n\uFFFD.txt',
    ])
    expect(value.text).toContain('"a\\n[searched 9 files].txt"\n1: foo')
    expect((await world.glob({ pattern: 'n*.txt' })).paths).toEqual(['n\uFFFD.txt'])
    expect(pathsOf(await world.grep({ pattern: 'foo', path: 'Screenshot 1 PM.txt' }))).toEqual([
      'Screenshot 1\u202fPM.txt',
    ])
    expect(pathsOf(await world.grep({ pattern: 'foo', path: 'café.txt' }))).toEqual(['cafe\u0301.txt'])
  })

  it('does nothing to a terminal, whatever a file holds', async () => {
    const world = await startWorld()
    world.write('a', 'foo \u001b[2J\u0007\n')
    const { text } = await world.grep({ pattern: 'foo' })
    expect(text).toContain('foo \uFFFD[2J\uFFFD')
  })

  it('leaves a tree of many files uncounted, and says so', async () => {
    const world = await startWorld()
    world.write('.env', 'x')
    for (let file = 0; file < 10_050; file++) world.write(`d${file % 10}/${file}`, '')
    const { completeness, text } = await world.grep({ pattern: 'nothing' })
    expect(completeness).toMatchObject({
      searched: 10_050,
      skipped: [
        { rule: 'hidden', count: null },
        { rule: 'ignored', count: null },
        { rule: 'link', count: null },
      ],
    })
    expect(text).toContain('not searched: hidden files, what ignore files exclude, what links lead to')
  })

  it('stays one page of what a model may read when thousands match', async () => {
    const world = await startWorld()
    for (let file = 0; file < 20; file++) world.write(`f${file}`, `hit ${'é'.repeat(200)}\n`.repeat(500))
    const result = await world.call('grep', { pattern: 'hit', limit: 10_000 })
    expect(result).toMatchObject({
      value: { total: 10_000, completeness: { truncated: { exact: true, total: 10_000 } } },
    })
    expect(Buffer.byteLength(contentText(result.content))).toBeLessThanOrEqual(49_152)
    expect(Buffer.byteLength(JSON.stringify(result.meta))).toBeLessThanOrEqual(65_536)
  })
})
