// The tools that change files, on a real disk: what is written, what is proven, and what each refusal says.
import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, lstatSync } from 'node:fs'
import { beforeEach, describe, expect, it } from 'vitest'
import { changeOf, errorOf, startWorld, told, type World } from '../support.ts'

let world: World

beforeEach(async () => {
  world = await startWorld()
})

const edit = (path: string, old_text: string, new_text: string, more: object = {}) =>
  world.call('edit', { path, old_text, new_text, ...more })

const CODE = 'import a\n\nfunction f() {\n  return 1\n}\n\nfunction g() {\n  return 2\n}\n'

describe('edit', () => {
  it('replaces one piece and proves what it touched', async () => {
    world.put('a.js', CODE)
    chmodSync(world.at('a.js'), 0o755)
    const result = await edit('a.js', 'return 1', 'return 100')
    expect(world.text('a.js')).toBe(CODE.replace('return 1', 'return 100'))
    expect(changeOf(result)).toMatchObject({
      path: world.at('a.js'),
      operation: 'edited',
      receipt: {
        strategy: 'exact',
        ranges: [{ start: 35, end: 37 }],
        outsideUnchanged: true,
        lines: { added: 1, removed: 1 },
        before: { bytes: 67, encoding: 'utf-8', bom: false, eol: 'lf', finalNewline: true, mode: 0o755 },
        after: { bytes: 69, mode: 0o755 },
      },
    })
  })

  it('tells the model the receipt and the changed lines, not the file', async () => {
    world.put('a.js', CODE)
    expect(told(await edit('a.js', 'return 1', 'return 100'))).toBe(
      [
        `Edited ${JSON.stringify(world.at('a.js'))}: +1 -1 lines; new bytes: 35-37; all other bytes are unchanged, which was checked.`,
        '3\tfunction f() {',
        '4\t  return 100',
        '5\t}',
      ].join('\n'),
    )
  })

  it('says where lines were removed', async () => {
    world.put('a.js', CODE)
    const text = told(await edit('a.js', 'function f() {\n  return 1\n}\n\n', ''))
    expect(text.split('\n').slice(1)).toEqual(['2\t', '[4 lines removed here]', '3\tfunction g() {'])
  })

  it('bounds what it tells of a large change', async () => {
    world.put('a.txt', 'start\nend\n')
    const lines = Array.from({ length: 5000 }, (_, index) => `line ${index}`).join('\n')
    const result = await edit('a.txt', 'start', lines)
    expect(told(result).length).toBeLessThan(4000)
    expect(told(result)).toMatch(/further changed lines not shown/)
    expect(world.text('a.txt')).toBe(`${lines}\nend\n`)
  })

  it('replaces every occurrence when asked to, and lists the ranges', async () => {
    world.put('a.txt', 'x = 1\ny = x\nx\n')
    const result = await edit('a.txt', 'x', 'abc', { replace_all: true })
    expect(world.text('a.txt')).toBe('abc = 1\ny = abc\nabc\n')
    expect(changeOf(result).receipt.ranges).toEqual([
      { start: 0, end: 3 },
      { start: 12, end: 15 },
      { start: 16, end: 19 },
    ])
    expect(told(result)).toContain('(3 places)')
  })

  it('names a lenient match', async () => {
    world.put('a.py', 'def f():\n\treturn 1\n')
    const result = await edit('a.py', 'def f():\n    return 1', 'def f():\n    return 2')
    expect(world.text('a.py')).toBe('def f():\n\treturn 2\n')
    expect(changeOf(result).receipt.strategy).toBe('whitespace')
    expect(told(result)).toContain("matched apart from white space; the file's own indentation was kept")
  })

  it('refuses an ambiguous text with the places, and changes nothing', async () => {
    world.put('a.js', '}\n\nreturn x\n}\n\nreturn x\n')
    const error = errorOf(await edit('a.js', '}\n\nreturn x', 'gone'))
    expect(error.code).toBe('FS_AMBIGUOUS_EDIT')
    expect(error.message).toMatch(/2 places: lines 1-3, 4-6/)
    expect(error.message).toContain('replace_all')
    expect(world.text('a.js')).toBe('}\n\nreturn x\n}\n\nreturn x\n')
  })

  it('shows the closest lines of a near miss and how to copy them', async () => {
    world.put('a.js', CODE)
    const error = errorOf(await edit('a.js', 'function ff() {\n  return 11\n}', 'x'))
    expect(error.code).toBe('FS_EDIT_NOT_FOUND')
    expect(error.message).toContain('3: function f() {')
    expect(error.message).toContain('Copy old_text from what read shows')
  })

  it('refuses an old text that is glued together from two places', async () => {
    world.put('a.txt', Array.from({ length: 2400 }, (_, index) => `row ${index + 1}`).join('\n'))
    const before = world.text('a.txt')
    const error = errorOf(await edit('a.txt', 'row 10\nrow 2300', 'gone'))
    expect(error).toMatchObject({ code: 'FS_EDIT_NOT_FOUND' })
    expect(error.message).toMatch(/line 10 .*line 2300/)
    expect(world.text('a.txt')).toBe(before)
  })

  it.each([
    ['an empty old text', '', 'x'],
    ['equal texts', 'a', 'a'],
    ['a placeholder for code', 'one', '// ... rest of the code ...'],
  ])('refuses %s', async (_what, oldText, newText) => {
    world.put('a.js', 'one\na\n')
    expect(errorOf(await edit('a.js', oldText, newText)).code).toBe('FS_INVALID_EDIT')
    expect(world.text('a.js')).toBe('one\na\n')
  })

  it('says what to do about a file that is not there', async () => {
    const error = errorOf(await edit('nowhere.txt', 'a', 'b'))
    expect(error.code).toBe('FS_NOT_FOUND')
    expect(error.message).toContain('To create a file, use write.')
  })

  it.each([
    ['a folder', 'FS_NOT_REGULAR_FILE', () => mkdirSync(world.at('x'))],
    ['a binary file', 'FS_NOT_TEXT', () => world.put('x', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0, 1, 0]))],
  ])('refuses %s', async (_what, code, make) => {
    make()
    const error = errorOf(await edit('x', 'a', 'b'))
    expect(error.code).toBe(code)
    expect(error.message.split('\n').length).toBeGreaterThan(1)
  })

  it('names the shape that was expected when the arguments have another', async () => {
    world.put('a.txt', 'a\n')
    const error = errorOf(await world.call('edit', { path: 'a.txt', edits: [{ old_text: 'a', new_text: 'b' }] }))
    expect(error.code).toBe('INVALID_ARGS')
    expect(error.message).toMatch(/old_text/)
  })

  it('writes through a link and keeps it one', async () => {
    world.put('real.txt', 'a\n')
    symlinkSync('real.txt', world.at('link.txt'))
    await edit('link.txt', 'a', 'b')
    expect(world.text('real.txt')).toBe('b\n')
    expect(lstatSync(world.at('link.txt')).isSymbolicLink()).toBe(true)
  })

  it('keeps data formats as they are written, quotes and all', async () => {
    const notebook = '{\n "cells": [\n  {"source": ["print(\\"hi\\")\\n"]}\n ]\n}\n'
    world.put('n.ipynb', notebook)
    await edit('n.ipynb', 'print(\\"hi\\")', 'print(\\"ho\\")')
    expect(world.text('n.ipynb')).toBe(notebook.replace('hi', 'ho'))
  })

  it('leaves full-width characters of a line that it matches leniently as they are', async () => {
    world.put('a.md', '-  上限（最大３回）を守る\nnext\n')
    await edit('a.md', '- 上限（最大３回）を守る\nnext', '- 上限（最大３回）を守る\nlast')
    expect(world.text('a.md')).toBe('-  上限（最大３回）を守る\nlast\n')
  })

  it('keeps the end of the file as it is', async () => {
    for (const end of ['', '\n', '\n\n\n', '\r\n']) {
      world.put('a.txt', `one\ntwo${end}`)
      await edit('a.txt', 'two', 'three')
      expect(world.text('a.txt')).toBe(`one\nthree${end}`)
    }
  })
})

describe('multi_edit', () => {
  const multi = (...edits: { old_text: string; new_text: string; replace_all?: boolean }[]) =>
    world.call('multi_edit', { path: 'a.txt', edits })

  it('makes all edits, each in the text that the ones before have left', async () => {
    world.put('a.txt', 'one\ntwo\nthree\n')
    const result = await multi({ old_text: 'one', new_text: '1' }, { old_text: '1\ntwo', new_text: '1\n2' })
    expect(world.text('a.txt')).toBe('1\n2\nthree\n')
    expect(changeOf(result).receipt.lines).toEqual({ added: 2, removed: 2 })
  })

  it('makes none when one cannot be made, and says which', async () => {
    world.put('a.txt', 'one\ntwo\n')
    const error = errorOf(await multi({ old_text: 'one', new_text: '1' }, { old_text: 'nine', new_text: '9' }))
    expect(error).toMatchObject({ code: 'FS_EDIT_NOT_FOUND' })
    expect(error.message).toContain('edit 2 of 2')
    expect(world.text('a.txt')).toBe('one\ntwo\n')
  })

  it('shows each changed place with its numbers', async () => {
    world.put('a.txt', Array.from({ length: 40 }, (_, index) => `row ${index + 1}`).join('\n') + '\n')
    const result = await multi({ old_text: 'row 30', new_text: 'ROW 30' }, { old_text: 'row 5\n', new_text: '' })
    expect(told(result).split('\n').slice(1)).toEqual([
      '4\trow 4',
      '[1 line removed here]',
      '5\trow 6',
      '…',
      '28\trow 29',
      '29\tROW 30',
      '30\trow 31',
    ])
  })
})

describe('write', () => {
  const write = (path: string, content: string) => world.call('write', { path, content })

  it('creates a file with its folders, under names with marks of any alphabet', async () => {
    const result = await write('mö/ä/new.txt', 'hello\nyou\n')
    expect(world.text('mö/ä/new.txt')).toBe('hello\nyou\n')
    expect(changeOf(result)).toMatchObject({ operation: 'created', receipt: { before: null, strategy: 'whole' } })
    expect(told(result)).toBe(`Created ${JSON.stringify(world.at('mö/ä/new.txt'))}: 2 lines, 10 bytes.`)
    expect((await write('mö/ä/other.txt', 'x')).isError).toBe(false)
  })

  it('replaces a file and keeps its byte order mark, line endings and mode', async () => {
    world.put('page.aspx', '\u{feff}one\r\ntwo\r\n')
    chmodSync(world.at('page.aspx'), 0o640)
    const result = await write('page.aspx', 'one\n2\n')
    expect(world.text('page.aspx')).toBe('\u{feff}one\r\n2\r\n')
    expect(statSync(world.at('page.aspx')).mode & 0o777).toBe(0o640)
    expect(told(result)).toContain('UTF-8 with BOM, CRLF line endings')
  })

  it('says what changed of the form', async () => {
    world.put('a.txt', 'one\ntwo\n')
    expect(told(await write('a.txt', 'one\ntwo\nthree'))).toContain('the final newline is gone')
  })

  it('refuses a placeholder for what was there', async () => {
    world.put('a.js', CODE)
    const error = errorOf(await write('a.js', 'import b\n// ... existing code ...\n'))
    expect(error.code).toBe('FS_INVALID_EDIT')
    expect(world.text('a.js')).toBe(CODE)
  })

  it('refuses a folder and a path through a file', async () => {
    mkdirSync(world.at('d'))
    world.put('f', 'x')
    expect(errorOf(await write('d', 'x')).code).toBe('FS_NOT_REGULAR_FILE')
    expect((await write('f/g', 'x')).isError).toBe(true)
    expect(world.text('f')).toBe('x')
  })

  it('refuses characters that the encoding of the file does not have', async () => {
    world.put('latin.txt', Buffer.from([0x66, 0xfc, 0x72, 0x0a]))
    const error = errorOf(await write('latin.txt', 'für 漢字\n'))
    expect(error.code).toBe('FS_INVALID_EDIT')
    expect(world.bytes('latin.txt')).toEqual(Buffer.from([0x66, 0xfc, 0x72, 0x0a]))
  })

  it('leaves nothing beside the file', async () => {
    await write('a.txt', 'x')
    await write('a.txt', 'y')
    errorOf(await edit('a.txt', 'nothing', 'z'))
    expect(readdirSync(world.dir)).toEqual(['a.txt'])
  })
})
