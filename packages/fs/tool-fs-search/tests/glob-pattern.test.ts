import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SearchError } from '../src/errors.ts'
import { compileGlob } from '../src/glob-pattern.ts'

function matches(pattern: string, path: string): boolean {
  return compileGlob(pattern).matches(path)
}

describe('a glob', () => {
  it.each([
    ['*.ts', 'a.ts', true],
    ['*.ts', 'deep/er/a.ts', true],
    ['*.ts', 'a.tsx', false],
    ['*', 'x/y', true],
    ['**', 'x/y', true],
    ['**/*', 'y', true],
    ['src/*.ts', 'src/a.ts', true],
    ['src/*.ts', 'src/deep/a.ts', false],
    ['src/*.ts', 'other/src/a.ts', false],
    ['./src/*.ts', 'src/a.ts', true],
    ['/src/*.ts', 'src/a.ts', true],
    ['src/**/*.ts', 'src/a.ts', true],
    ['src/**/*.ts', 'src/b/c/a.ts', true],
    ['src/**', 'src/b/c/a.ts', true],
    ['src/**', 'src', false],
    ['src/', 'src/a', true],
    ['**/test/**', 'a/test/b/c', true],
    ['a/**/b/**/c', 'a/x/b/y/z/c', true],
    ['a/**/b/**/c', 'a/x/y/c', false],
    ['?.md', 'é.md', true],
    ['?.md', '😀.md', true],
    ['?.md', 'ab.md', false],
    ['a?b', 'a/b', false],
    ['[a-c].txt', 'b.txt', true],
    ['[!a-c].txt', 'b.txt', false],
    ['[^a-c].txt', 'd.txt', true],
    ['[]].txt', '].txt', true],
    ['*.{ts,tsx}', 'a.tsx', true],
    ['*.{ts,tsx}', 'a.js', false],
    ['{src,test}/{a,b}*.ts', 'test/b1.ts', true],
    ['{a,{b,c}}.ts', 'c.ts', true],
    ['{,x}a', 'a', true],
    [String.raw`\*.ts`, '*.ts', true],
    [String.raw`\*.ts`, 'a.ts', false],
    [String.raw`\{a\}`, '{a}', true],
    ['[{]a', '{a', true],
    ['-n', '-n', true],
    ['(group)/[slug]/*', '(group)/s/page', true],
  ])('%s on %s: %s', (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected)
  })

  it.each([
    ['[a', /not closed/],
    ['{a,b', /not closed/],
    ['a}', /no "\{"/],
    ['[z-a]', /empty/],
    ['a\\', /backslash/],
    ['../a', /"path"/],
    ['a\0b', /NUL/],
    ['{a,b}'.repeat(12), /more than 256/],
  ])('refuses %j and says why', (pattern, why) => {
    expect(() => compileGlob(pattern)).toThrow(SearchError)
    expect(() => compileGlob(pattern)).toThrow(why)
  })

  it('takes time in proportion, whatever the stars', () => {
    const started = performance.now()
    expect(matches('*a'.repeat(40), `${'a'.repeat(5000)}b`)).toBe(false)
    expect(matches(`${'**/a/'.repeat(40)}[x]`, `${'a/'.repeat(2000)}y`)).toBe(false)
    expect(performance.now() - started).toBeLessThan(2000)
  })

  it('knows the names that can match, and when it names something hidden', () => {
    expect(compileGlob('src/**/*.{ts,tsx}')).toMatchObject({
      names: ['*.ts', '*.tsx'],
      byName: false,
      namesHidden: false,
    })
    expect(compileGlob('*.ts')).toMatchObject({ names: ['*.ts'], byName: true })
    expect(compileGlob('src/**').names).toBeUndefined()
    for (const all of ['*', '**', '**/*']) expect(compileGlob(all).matchesAll).toBe(true)
    for (const hidden of ['.env', '.github/**', '**/.x*', String.raw`\.env`]) {
      expect(compileGlob(hidden).namesHidden).toBe(true)
    }
    expect(compileGlob('./a/./b').namesHidden).toBe(false)
  })

  const name = fc.string({
    unit: fc.constantFrom('a', 'b', '.', '*', '?', '[', ']', '{', '}', '!', '\\', 'é', '-', ' '),
  })
  const plain = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '.', 'é', '-'), minLength: 1, maxLength: 6 })

  it('compiles or refuses anything, and never throws otherwise', () => {
    fc.assert(
      fc.property(fc.array(name, { maxLength: 5 }), plain, (names, path) => {
        try {
          expect(typeof compileGlob(names.join('/')).matches(path)).toBe('boolean')
        } catch (error) {
          expect(error).toMatchObject({ code: 'SEARCH_INVALID_PATTERN' })
        }
      }),
    )
  })

  it('says the same of plain names, ? and * as a regular expression does', () => {
    const wild = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*', '?'), minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(
        fc.array(wild, { minLength: 2, maxLength: 4 }),
        fc.array(plain, { minLength: 1, maxLength: 4 }),
        (parts, names) => {
          const pattern = parts
            .map((part) => (/^\*\*+$/.test(part) ? '*' : part))
            .filter((part) => !/^\.\.?$/.test(part))
          fc.pre(pattern.length > 1)
          const source = pattern.map((part) =>
            Array.from(part, (char) =>
              char === '*' ? '[^/]*' : char === '?' ? '[^/]' : `\\${char}`.replace(/\\(?=[a-z])/, ''),
            ).join(''),
          )
          const expected = new RegExp(`^${source.join('/')}$`, 'u').test(names.join('/'))
          expect(matches(pattern.join('/'), names.join('/'))).toBe(expected)
        },
      ),
    )
  })
})
