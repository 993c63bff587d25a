// Rows: from a path to the one file that is meant, whatever its spelling and links, whether it exists yet or not.
import assert from 'node:assert/strict'
import { lstatSync, mkdirSync, readlinkSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { FsRow } from './suite.ts'
import { refuses } from './world.ts'

export const targetRows: FsRow[] = [
  {
    title: 'gives one key for every spelling and link of a file',
    body: async ({ fs, folder, put, at }) => {
      put('real/file', 'x')
      symlinkSync('real', at('folder-link'))
      symlinkSync('../real/file', at('real/link'))
      const paths = ['real/file', 'real/../real/./file', 'folder-link/file', 'real/link', 'folder-link/link']
      const targets = await Promise.all(paths.map((path) => fs.resolve(path, { cwd: folder })))
      assert.deepEqual(new Set(targets.map(({ key }) => key)), new Set([at('real/file')]))
      assert.equal(targets[2]?.path, at('folder-link/file'))
    },
  },
  {
    title: 'keeps the key of a file across its creation, below links and in folders that are missing',
    body: async ({ fs, folder, at, target }) => {
      mkdirSync(at('real'))
      symlinkSync('real', at('link'))
      const before = await target('link/new/deep/file')
      assert.equal(before.key, at('real/new/deep/file'))
      await fs.write(before, 'x')
      assert.deepEqual(await target('link/new/deep/file'), before)
      assert.equal((await fs.resolve('real/new/deep/file', { cwd: folder })).key, before.key)
    },
  },
  {
    title: 'creates the file that a dangling link leads to, and keeps the link',
    body: async ({ write, at, text }) => {
      mkdirSync(at('there'))
      symlinkSync('there/later', at('link'))
      await write('link', 'made\n')
      assert.equal(readlinkSync(at('link')), 'there/later')
      assert.equal(text('there/later'), 'made\n')
    },
  },
  {
    title: 'follows a dangling link from the folder where it really is',
    body: async ({ target, at }) => {
      mkdirSync(at('deep/inner'), { recursive: true })
      symlinkSync('../sibling', at('deep/inner/link'))
      symlinkSync('deep/inner', at('short'))
      assert.equal((await target('short/link')).key, at('deep/sibling'))
    },
  },
  {
    title: 'writes and edits through links, of files and of folders, and keeps each of them',
    body: async ({ write, edit, put, at, text }) => {
      put('real/file', 'one\n')
      symlinkSync('file', at('real/first'))
      symlinkSync('real/first', at('second'))
      symlinkSync('real', at('folder'))
      await write('second', 'two\n')
      await edit('folder/first', { oldText: 'two', newText: 'three' })
      assert.equal(text('real/file'), 'three\n')
      const links = ['real/first', 'second', 'folder'].map((name) => lstatSync(at(name)).isSymbolicLink())
      assert.deepEqual(links, [true, true, true])
    },
  },
  {
    title: 'ends at links that lead in a circle, whatever is asked',
    body: async ({ fs, at, target, write, edit }) => {
      symlinkSync('loop', at('loop'))
      symlinkSync('b', at('a'))
      symlinkSync('a', at('b'))
      for (const name of ['loop', 'a']) {
        const it = await target(name)
        await refuses(fs.readText(it), 'FS_LINK_LOOP')
        await refuses(fs.readLines(it), 'FS_LINK_LOOP')
        await refuses(fs.stat(it), 'FS_LINK_LOOP')
        await refuses(write(name, 'x'), 'FS_LINK_LOOP')
        await refuses(edit(name, { oldText: 'x', newText: 'y' }), 'FS_LINK_LOOP')
      }
      await refuses(write('loop/below', 'x'), 'FS_LINK_LOOP')
    },
  },
  {
    title: 'finds a name in another Unicode form, with another space or another quote, when it is the only one',
    body: async ({ put, target, at }) => {
      put('Screenshot at 9.41\u202fPM.png', '')
      put('caf\u00e9/it\u2019s', '')
      assert.equal((await target('Screenshot at 9.41 PM.png')).key, at('Screenshot at 9.41\u202fPM.png'))
      assert.equal((await target("cafe\u0301/it's")).key, at('caf\u00e9/it\u2019s'))
      put('two\u00a0words', '')
      put('two\u2009words', '')
      assert.equal((await target('two words')).key, at('two words'))
    },
  },
  {
    title: 'makes folders of any name, again and at the same time',
    body: async ({ write, text, names }) => {
      await Promise.all(['a', 'b', 'c'].map((name) => write(`mö/ä/日本/${name}`, name)))
      await write('mö/ä/日本/d', 'd')
      assert.deepEqual(names('mö/ä/日本'), ['a', 'b', 'c', 'd'])
      assert.equal(text('mö/ä/日本/c'), 'c')
    },
  },
  {
    title: 'writes names as long as the system allows, in bytes and in characters',
    body: async ({ write, edit, text }) => {
      for (const name of ['x'.repeat(255), '語'.repeat(85), `${'😀'.repeat(63)}abc`]) {
        await write(name, 'one')
        await edit(name, { oldText: 'one', newText: 'two' })
        assert.equal(text(name), 'two')
      }
    },
  },
  {
    title: 'takes odd names as they are',
    body: async ({ write, names }) => {
      const odd = [
        ' lead',
        'trail ',
        '-dash',
        'new\nline',
        'tab\t',
        'a\\b',
        '*?[',
        '$HOME',
        '~',
        '%41',
        '...',
        'é\u0301',
      ]
      for (const name of odd) await write(join('odd', name), 'x')
      assert.deepEqual(names('odd'), odd.toSorted())
    },
  },
  {
    title: 'refuses a blank path and one with a NUL, and says which file',
    body: async ({ fs, at }) => {
      await refuses(fs.resolve('  '), 'FS_NOT_FOUND')
      const nul = await fs.resolve(at('a\0b'))
      assert.match(await refuses(fs.readText(nul), 'FS_NOT_FOUND'), /a\\u0000b/)
      await refuses(fs.write(nul, 'x'), 'FS_NOT_FOUND')
    },
  },
]
