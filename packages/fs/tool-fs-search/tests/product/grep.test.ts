// grep on real trees with the real ripgrep.
import { describe, expect, it } from 'vitest'
import { pathsOf, startWorld } from './world.ts'

describe('grep', () => {
  it('shows every line that matches, by file, in path order', async () => {
    const world = await startWorld()
    world.write('b.txt', 'one foo\ntwo\nfoo foo\n')
    world.write('a/z.txt', 'foo\n')
    world.write('a.txt', 'foo\n')
    const value = await world.grep({ pattern: 'foo' })
    expect(pathsOf(value)).toEqual(['a/z.txt', 'a.txt', 'b.txt'])
    expect(value.files[2]?.matches).toEqual([
      { line: 1, text: 'one foo', ranges: [[4, 7]] },
      {
        line: 3,
        text: 'foo foo',
        ranges: [
          [0, 3],
          [4, 7],
        ],
      },
    ])
    expect(value).toMatchObject({ mode: 'matches', path: '.', total: 4, completeness: { complete: true, searched: 3 } })
    expect(value.text).toBe(
      'a/z.txt\n1: foo\n\na.txt\n1: foo\n\nb.txt\n1: one foo\n3: foo foo\n[searched 3 files in .]',
    )
  })

  it.each([
    ['a pattern that begins with a dash', { pattern: '--files' }, ['--files here']],
    ['a pattern that is an option with a value', { pattern: '-e' }, ['-e here']],
    ['plain text', { pattern: 'a.b(', literal: true }, ['a.b( here']],
    ['any case', { pattern: 'HERE$', ignore_case: true, path: 'f.txt', limit: 1 }, ['--files here']],
    ['look-around', { pattern: '(?<=x)y' }, ['xy']],
    ['back-references', { pattern: String.raw`(\w)\1z` }, ['aaz']],
    ['the end of a line in a CRLF file', { pattern: 'crlf$' }, ['crlf']],
    ['a line of a UTF-16 file', { pattern: 'wide' }, ['wide é']],
    ['bytes that are no UTF-8', { pattern: 'latin' }, ['latin \uFFFD']],
    ['a line without an end', { pattern: 'endless' }, ['endless']],
    ['a lone carriage return within a line', { pattern: 'r1' }, ['r1\rr2']],
  ])('finds %s', async (_what, args, lines) => {
    const world = await startWorld()
    world.write('f.txt', '--files here\n-e here\na.b( here\nxy\naaz\n')
    world.write('crlf.txt', 'crlf\r\nnext\r\n')
    world.write('wide.txt', Buffer.from('\uFEFFwide é\r\n', 'utf16le'))
    world.write('latin.txt', Buffer.from('latin \xe9\n', 'latin1'))
    world.write('end.txt', 'endless')
    world.write('cr.txt', 'r1\rr2\n')
    const { files } = await world.grep(args)
    expect(files.flatMap(({ matches = [] }) => matches.map(({ text }) => text))).toEqual(lines)
  })

  it('shows matches that span lines, as one', async () => {
    const world = await startWorld()
    world.write('a.txt', 'x\nstart\nmiddle\nend\ny\n')
    const value = await world.grep({ pattern: 'start.*end', multiline: true })
    expect(value.files).toEqual([
      { path: 'a.txt', matches: [{ line: 2, text: 'start\nmiddle\nend', ranges: [[0, 16]] }] },
    ])
    expect(value.text).toContain('2: start\n3: middle\n4: end\n')
    expect((await world.grep({ pattern: 'start\nmiddle', multiline: true })).total).toBe(1)
  })

  it('shows the lines around, and where lines are missing between', async () => {
    const world = await startWorld()
    world.write('a.txt', Array.from({ length: 20 }, (_, at) => (at % 10 === 4 ? 'hit' : `line ${at + 1}`)).join('\n'))
    const value = await world.grep({ pattern: 'hit', context: 1 })
    expect(value.text).toMatch(/^a\.txt\n4- line 4\n5: hit\n6- line 6\n--\n14- line 14\n15: hit\n16- line 16\n/)
    expect(value.total).toBe(2)
    expect((await world.grep({ pattern: 'hit', after: 1, limit: 1 })).files[0]?.matches).toMatchObject([
      { line: 5 },
      { line: 6, context: true },
    ])
  })

  it('filters by globs, exclusions and type, each within the one rule about what is ignored', async () => {
    const world = await startWorld()
    for (const path of [
      'a.ts',
      'src/b.ts',
      'src/c.test.ts',
      'src/deep/d.tsx',
      'lib/e.js',
      '.eslintrc.js',
      '.github/w.yml',
    ]) {
      world.write(path, 'foo\n')
    }
    world.write('.git/config', 'foo\n')
    world.write('.gitignore', 'src/ignored.ts\nbuilt/\n')
    world.write('src/ignored.ts', 'foo\n')
    world.write('built/f.ts', 'foo\n')
    const found = async (args: object): Promise<string[]> => pathsOf(await world.grep({ pattern: 'foo', ...args }))
    expect(await found({ glob: '*.ts' })).toEqual(['a.ts', 'src/b.ts', 'src/c.test.ts'])
    expect(await found({ glob: 'src/**/*.{ts,tsx}' })).toEqual(['src/b.ts', 'src/c.test.ts', 'src/deep/d.tsx'])
    expect(await found({ glob: ['src/**', '!*.test.ts'] })).toEqual(['src/b.ts', 'src/deep/d.tsx'])
    expect(await found({ glob: ['!src', '!*.yml'] })).toEqual(['a.ts', 'lib/e.js'])
    expect(await found({ glob: '*.js' })).toEqual(['lib/e.js'])
    expect(await found({ type: 'js' })).toEqual(['lib/e.js'])
    expect(await found({ type: 'ts', glob: 'src/*' })).toEqual(['src/b.ts', 'src/c.test.ts'])
    expect(await found({ glob: '.github/**' })).toEqual(['.github/w.yml'])
    expect(await found({ glob: '.eslintrc.js' })).toEqual(['.eslintrc.js'])
    expect(await found({ glob: 'built/**' })).toEqual([])
    expect(await found({ include_ignored: true, glob: ['*.ts', '*.yml', 'config'] })).toEqual([
      '.github/w.yml',
      'a.ts',
      'built/f.ts',
      'src/b.ts',
      'src/c.test.ts',
      'src/ignored.ts',
    ])
    expect(await found({ include_ignored: true, path: '.git' })).toEqual(['.git/config'])
  })

  it('lists files, and counts, with exact totals', async () => {
    const world = await startWorld({ countUpTo: 5 })
    for (let file = 0; file < 12; file++) world.write(`f${String(file).padStart(2, '0')}`, 'foo\n'.repeat(file + 1))
    world.write('new\nline', 'foo\n')
    const files = await world.grep({ pattern: 'foo', mode: 'files', limit: 2, offset: 1 })
    expect(files).toMatchObject({ files: [{ path: 'f01' }, { path: 'f02' }], total: 13 })
    expect(files.completeness.truncated).toEqual({ shown: 2, total: 13, exact: true, next: 3 })
    const counts = await world.grep({ pattern: 'foo', mode: 'count', limit: 2 })
    expect(counts).toMatchObject({
      files: [
        { path: 'f00', count: 1 },
        { path: 'f01', count: 2 },
      ],
      total: 79,
    })
    expect(counts.completeness).toMatchObject({ searched: 13, truncated: { total: 13, exact: true, next: 2 } })
    expect(counts.text).toMatch(
      /^f00: 1\nf01: 2\n79 lines match in all\.\n\[2 of 13 files, in path order; next page: offset 2\]/,
    )
    expect((await world.grep({ pattern: 'foo', mode: 'count', path: 'new\nline' })).files).toEqual([
      { path: 'new\nline', count: 1 },
    ])
    expect((await world.grep({ pattern: 'foo', mode: 'count', offset: 12 })).text).toMatch(/^"new\\nline": 1\n/)
  })

  it('gives the same pages whether the total was counted or not', async () => {
    const write = (world: Awaited<ReturnType<typeof startWorld>>): void => {
      for (let file = 0; file < 40; file++) world.write(`d${file % 7}/f${file}`, `x\n${'hit\ny\n'.repeat(file % 5)}`)
      world.write('d3/binary', 'hit\n\0hit\nhit\n')
    }
    const [counted, stopped] = [await startWorld(), await startWorld({ countUpTo: 3 })]
    write(counted)
    write(stopped)
    for (let offset = 0; offset < 85; offset += 9) {
      const args = { pattern: 'hit', limit: 9, offset, context: 1 }
      const [whole, part] = [await counted.grep(args), await stopped.grep(args)]
      expect(part.files).toEqual(whole.files)
      expect(whole.total).toBe(80)
      expect(part.total).toBeLessThanOrEqual(80)
    }
    expect((await stopped.grep({ pattern: 'hit', limit: 9 })).completeness.truncated).toMatchObject({
      exact: false,
      total: 10,
      next: 9,
    })
  })

  it('says that there are no more behind the last page', async () => {
    const world = await startWorld()
    world.write('a', 'foo\n')
    const { text, files } = await world.grep({ pattern: 'foo', offset: 5 })
    expect(files).toEqual([])
    expect(text).toMatch(/^No more matches: the offset is past the last one\.\n\[0 of 1 matches, in path order\]/)
  })

  it.each([
    [{ pattern: 'foo(' }, 'SEARCH_INVALID_PATTERN', /unclosed group[^]*literal/],
    [{ pattern: 'a{99999}{99999}' }, 'SEARCH_INVALID_PATTERN', /size limit|too big/],
    [{ pattern: 'a\nb' }, 'SEARCH_INVALID_PATTERN', /multiline/],
    [{ pattern: String.raw`a\nb` }, 'SEARCH_INVALID_PATTERN', /multiline/],
    [{ pattern: 'a\0b' }, 'SEARCH_INVALID_PATTERN', /NUL/],
    [{ pattern: 'a', type: 'nope' }, 'SEARCH_INVALID_PATTERN', /nope/],
    [{ pattern: 'a', glob: '[a' }, 'SEARCH_INVALID_PATTERN', /not closed/],
    [{ pattern: 'a', glob: '!{a' }, 'SEARCH_INVALID_PATTERN', /not closed/],
    [{ pattern: 'a', glob: '../x' }, 'SEARCH_INVALID_PATTERN', /"path"/],
    [{ pattern: 'a', path: 'nowhere' }, 'SEARCH_PATH_NOT_FOUND', /nothing is at/],
    [{ pattern: 'a', path: 'file/below' }, 'SEARCH_PATH_NOT_FOUND', /nothing is at/],
    [{ pattern: 'a', path: 'a\0b' }, 'SEARCH_PATH_NOT_FOUND', /NUL/],
    [{ pattern: 'a', path: '/dev/null' }, 'SEARCH_PATH_UNREADABLE', /neither/],
    [{ pattern: '' }, 'INVALID_ARGS', /pattern/],
    [{ pattern: 'a', limit: 0 }, 'INVALID_ARGS', /limit/],
  ])('refuses %j with %s', async (args, code, message) => {
    const world = await startWorld()
    world.write('file', 'a\n')
    const result = await world.call('grep', args)
    expect(result).toMatchObject({ isError: true, error: { code, message: expect.stringMatching(message) as unknown } })
  })

  it('cuts long lines around the match before it fills a page with one of them', async () => {
    const world = await startWorld()
    world.write('bundle.js', `${'x'.repeat(119_000)}NEEDLE${'y'.repeat(3_000_000)}\n`)
    world.write('src.js', 'NEEDLE\n')
    const value = await world.grep({ pattern: 'NEEDLE' })
    const [match] = value.files[0]?.matches ?? []
    const [[start = 0, end = 0] = []] = match?.ranges ?? []
    expect(match?.text.slice(start, end)).toBe('NEEDLE')
    expect(match?.text).toMatch(/^\[\d+ bytes before\] x+NEEDLEy+ \[(?:more than )?\d+ bytes after\]$/)
    expect(value.text.length).toBeLessThan(1000)
    expect(pathsOf(value)).toEqual(['bundle.js', 'src.js'])
  })
})
