// The tools that look, on a real disk: lines with numbers, what is left out, and what each refusal says.
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { beforeEach, describe, expect, it } from 'vitest'
import { errorOf, listOf, readOf, startWorld, told, type World } from '../support.ts'

let world: World

beforeEach(async () => {
  world = await startWorld()
})

const read = (args: object) => world.call('read', args)
const lines = (count: number): string => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('')

describe('read', () => {
  it('gives numbered lines and says that it is all', async () => {
    world.put('a.txt', 'one\ntwo\n')
    const result = await read({ path: 'a.txt' })
    expect(told(result)).toBe('1\tone\n2\ttwo\n[end of file: 2 lines]')
    expect(readOf(result)).toMatchObject({
      path: world.at('a.txt'),
      offset: 1,
      lines: [
        { number: 1, text: 'one' },
        { number: 2, text: 'two' },
      ],
      totalLines: 2,
      complete: true,
      fingerprint: { encoding: 'utf-8', eol: 'lf', finalNewline: true },
    })
  })

  it('says how to go on, until there is nothing left', async () => {
    world.put('a.txt', lines(25))
    const first = await read({ path: 'a.txt', limit: 10 })
    expect(told(first)).toMatch(/^1\tline 1\n[^]*\n10\tline 10\n\[lines 1-10 of 25; go on with offset: 11\]$/)
    expect(readOf(first).next).toBe(11)
    expect(told(await read({ path: 'a.txt', offset: 11, limit: 10 }))).toContain('go on with offset: 21')
    const last = await read({ path: 'a.txt', offset: 21, limit: 10 })
    expect(told(last)).toMatch(/\n25\tline 25\n\[lines 21-25, to the end of file\]$/)
    expect(readOf(last).next).toBeUndefined()
  })

  it('says that there is nothing from a line beyond the end on', async () => {
    world.put('a.txt', lines(3))
    expect(told(await read({ path: 'a.txt', offset: 10 }))).toBe(
      '[the file has 3 lines; there is nothing from line 10 on]',
    )
    world.put('b.txt', '')
    expect(told(await read({ path: 'b.txt' }))).toBe('[the file is empty]')
  })

  it('cuts by bytes as a model gets them and loses no line on the way', async () => {
    world = await startWorld({ config: { readMaxBytes: 1024 } })
    world.put('a.txt', lines(400))
    const seen: number[] = []
    let next: number | undefined = 1
    while (next !== undefined) {
      const result = await read({ path: 'a.txt', offset: next })
      expect(Buffer.byteLength(told(result))).toBeLessThan(1024 + 100)
      const value = readOf(result)
      seen.push(...value.lines.map(({ number }) => number))
      next = value.next
    }
    expect(seen).toEqual(Array.from({ length: 400 }, (_, index) => index + 1))
  })

  it('cuts a long line on whole characters, with a mark', async () => {
    world.put('a.txt', `${'😀'.repeat(3000)}\nnext\n`)
    const text = told(await read({ path: 'a.txt' }))
    expect(text).toContain('[line has 6000 characters]')
    expect(text).toContain('2\tnext')
    expect(text).not.toMatch(/\p{Surrogate}/u)
  })

  it('gives some lines of a large file, and does not say how many there are when it did not look', async () => {
    world.put('big.txt', lines(1_200_000))
    const result = await read({ path: 'big.txt', offset: 1000, limit: 3 })
    expect(told(result)).toMatch(
      /^1000\tline 1000\n1001\tline 1001\n1002\tline 1002\n\[lines 1000-1002 of more than \d+; go on/,
    )
    expect(readOf(result).complete).toBe(false)
  })

  it.each([
    ['CRLF', 'one\r\ntwo\r\n', 'UTF-8, CRLF line endings'],
    ['a byte order mark', '\u{feff}one\ntwo\n', 'UTF-8 with BOM, LF line endings'],
    ['UTF-16', Buffer.from('\u{feff}one\ntwo\n', 'utf16le'), 'UTF-16LE with BOM, LF line endings'],
    ['Latin-1', Buffer.from('one\ntwo\n\xfc', 'latin1'), 'no Unicode encoding, LF line endings'],
  ])('shows a file with %s as text and says what it is', async (_what, bytes, form) => {
    world.put('a.txt', bytes)
    const text = told(await read({ path: 'a.txt', limit: 2 }))
    expect(text).toMatch(/^1\tone\n2\ttwo\n/)
    expect(text).toContain(`[${form}: kept by edit and write]`)
  })

  it('reads a file that contains a replacement character as text', async () => {
    world.put('a.txt', 'a \u{fffd} b\n')
    expect(told(await read({ path: 'a.txt' }))).toContain('1\ta \u{fffd} b')
  })

  it('keeps U+2028 within a line', async () => {
    world.put('a.txt', 'a\u{2028}b\nc\n')
    expect(readOf(await read({ path: 'a.txt' })).lines).toEqual([
      { number: 1, text: 'a\u{2028}b' },
      { number: 2, text: 'c' },
    ])
  })

  it('suggests names that are nearly the one that was asked for', async () => {
    world.put('src/parser.ts', 'x')
    const error = errorOf(await read({ path: 'src/praser.ts' }))
    expect(error.code).toBe('FS_NOT_FOUND')
    expect(error.message).toContain('There is "parser.ts" in the same folder.')
    expect(errorOf(await read({ path: 'lib/nothing.ts' })).message).toContain('list_dir')
  })

  it.each([
    ['a folder', 'FS_NOT_REGULAR_FILE', /use list_dir/, () => mkdirSync(world.at('x'))],
    ['a binary file', 'FS_NOT_TEXT', /strings or xxd/, () => world.put('x', Buffer.from([0x89, 0x50, 0, 0, 1]))],
    ['links that lead in a circle', 'FS_LINK_LOOP', /instead of a link/, () => symlinkSync('x', world.at('x'))],
  ])('refuses %s and says what to do instead', async (_what, code, advice, make) => {
    make()
    const error = errorOf(await read({ path: 'x' }))
    expect(error.code).toBe(code)
    expect(error.message).toMatch(advice)
  })

  it.skipIf(process.getuid?.() === 0)('says that the system does not allow it', async () => {
    world.put('a.txt', 'x')
    chmodSync(world.at('a.txt'), 0)
    const error = errorOf(await read({ path: 'a.txt' }))
    expect(error.code).toBe('FS_PERMISSION_DENIED')
    expect(error.message).toContain('ask the person')
  })

  it('finds a name in another Unicode form or with another space', async () => {
    world.put('Screenshot 9.41\u{202f}PM.txt', 'shot\n')
    world.put('cafe\u{301}.txt', 'coffee\n')
    expect(told(await read({ path: 'Screenshot 9.41 PM.txt' }))).toContain('shot')
    expect(told(await read({ path: 'caf\u{e9}.txt' }))).toContain('coffee')
  })

  it.each([
    { path: 'a.txt', offset: 0 },
    { path: 'a.txt', limit: 1.5 },
    { path: ' ' },
    { offset: 1 },
    { path: { a: 1 } },
  ])('refuses %j', async (args) => {
    world.put('a.txt', 'x')
    expect(errorOf(await read(args)).code).toBe('INVALID_ARGS')
  })
})

describe('list_dir', () => {
  const list = (args: object = {}) => world.call('list_dir', args)

  it('lists one level by name: folders, sizes, links and where they lead', async () => {
    mkdirSync(world.at('src'))
    world.put('.hidden', '')
    world.put('a.txt', 'x'.repeat(1234))
    symlinkSync('a.txt', world.at('good'))
    symlinkSync('nowhere', world.at('lost'))
    symlinkSync('loop', world.at('loop'))
    expect(told(await list())).toBe(
      [
        '.hidden (0 B)',
        'a.txt (1.2 kB)',
        'good -> a.txt',
        'loop -> loop (nothing there)',
        'lost -> nowhere (nothing there)',
        'src/',
        '[6 entries]',
      ].join('\n'),
    )
  })

  it('gives a long list in parts', async () => {
    for (let index = 0; index < 25; index++) writeFileSync(world.at(`f${String(index).padStart(2, '0')}`), '')
    const first = await list({ limit: 10 })
    expect(told(first)).toContain('[entries 1-10 of 25; go on with offset: 11]')
    const last = await list({ offset: 21, limit: 10 })
    expect(told(last)).toContain('[entries 21-25, to the end]')
    expect(listOf(last).next).toBeUndefined()
    expect(told(await list({ offset: 99 }))).toBe('[the folder has 25 entries; there is nothing from entry 99 on]')
  })

  it('quotes names that would look like two', async () => {
    world.put('a\nb', '')
    expect(told(await list())).toBe('"a\\nb" (0 B)\n[1 entry]')
  })

  it('lists names that are no UTF-8', async () => {
    writeFileSync(Buffer.concat([Buffer.from(`${world.dir}/`), Buffer.from([0xff, 0x61])]), 'x')
    expect(listOf(await list()).entries).toHaveLength(1)
  })

  it('says what to do about a file and about nothing', async () => {
    world.put('f', 'x')
    expect(errorOf(await list({ path: 'f' }))).toMatchObject({
      code: 'FS_NOT_DIRECTORY',
      message: expect.stringContaining('use read') as string,
    })
    expect(errorOf(await list({ path: 'nowhere' })).code).toBe('FS_NOT_FOUND')
    mkdirSync(world.at('empty'))
    expect(told(await list({ path: 'empty' }))).toBe('[the folder is empty]')
  })
})
