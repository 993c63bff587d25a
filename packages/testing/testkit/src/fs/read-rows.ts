// Rows: whole texts, some lines, bytes, listings, and what can be known of a file without holding it.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { appendFileSync, closeSync, ftruncateSync, mkdirSync, openSync, symlinkSync } from 'node:fs'
import type { FsRow } from './suite.ts'
import { refuses } from './world.ts'

const numbered = (count: number, eol: string): string =>
  Array.from({ length: count }, (_, index) => `line ${index + 1}${eol}`).join('')

export const readRows: FsRow[] = [
  {
    title: 'gives the lines that were asked for, and counts all of them',
    body: async ({ fs, put, target }) => {
      put('a', numbered(100, '\r\n'))
      const found = await fs.readLines(await target('a'), { offset: 99, count: 5 })
      assert.deepEqual(found.lines, [
        { number: 99, text: 'line 99' },
        { number: 100, text: 'line 100' },
      ])
      assert.deepEqual([found.totalLines, found.complete, found.cut], [100, true, false])
      assert.deepEqual((await fs.readLines(await target('a'), { offset: 101 })).lines, [])
    },
  },
  {
    title: 'counts LF, CRLF and a lone CR alike, across the borders of its reads',
    body: async ({ fs, put, target }) => {
      // A prime period puts every ending on every place of a block sooner or later.
      const piece = ['a', '\r', 'bb', '\n', 'ccc', '\r\n', '\r', '\n\r', 'dddddd\r\n'].join('')
      const text = piece.repeat(60_000)
      put('a', text)
      const lines = text.split(/\r\n|\n|\r/)
      const last = lines.length - 1
      const found = await fs.readLines(await target('a'), { offset: last - 3, countAll: true })
      assert.equal(found.totalLines, last)
      assert.deepEqual(
        found.lines.map((line) => line.text),
        lines.slice(last - 4, last),
      )
      assert.deepEqual([found.fingerprint.eol, found.fingerprint.finalNewline], ['mixed', true])
    },
  },
  {
    title: 'says the same of a file whether it reads lines or all of it',
    body: async ({ fs, put, target }) => {
      const late = Buffer.concat([Buffer.from('x\n'.repeat(300_000)), Buffer.from([0xe9, 0x0d, 0x0a])])
      const files = ['', '\n', 'a', 'a\r', '\ufeffa\n', numbered(50_000, '\n'), `${numbered(50_000, '\n')}a\r\nb`, late]
      for (const [index, bytes] of files.entries()) {
        put(`${index}`, bytes)
        const it = await target(`${index}`)
        const [lines, text] = [await fs.readLines(it, { count: 1 }), await fs.readText(it)]
        assert.equal(lines.complete, true)
        assert.deepEqual(lines.fingerprint, text.fingerprint, `file ${index}`)
        assert.equal(lines.version, text.version)
        const all = text.text.split(/\r\n|\n|\r/)
        assert.equal(lines.totalLines, all.at(-1) === '' ? all.length - 1 : all.length)
      }
    },
  },
  {
    title: 'cuts a line that is too long on whole characters and says how long it is, however long',
    body: async ({ fs, put, target }) => {
      put('a', `${'😀'.repeat(3000)}\nnext\n`)
      const [line, next] = (await fs.readLines(await target('a'), { maxLineLength: 101 })).lines
      assert.match(line?.text ?? '', /^(?:😀){50} … \[line has 6000 characters\]$/u)
      assert.deepEqual(next, { number: 2, text: 'next' })
      put('b', `first\n${'é'.repeat(10_000_000)}\nlast`)
      const { lines, totalLines } = await fs.readLines(await target('b'), { countAll: true })
      assert.deepEqual([totalLines, lines.length, lines[2]?.text], [3, 3, 'last'])
      assert.match(lines[1]?.text ?? '', /^é{2000} … \[line has 20000000 bytes\]$/)
    },
  },
  {
    title: 'ends at the limit of bytes and says so, but gives one line at least',
    body: async ({ fs, put, target }) => {
      put('a', 'x'.repeat(99).concat('\n').repeat(50))
      const found = await fs.readLines(await target('a'), { maxBytes: 1000 })
      assert.deepEqual([found.lines.length, found.cut, found.totalLines], [10, true, 50])
      const one = await fs.readLines(await target('a'), { maxBytes: 10 })
      assert.deepEqual([one.lines.length, one.cut], [1, true])
    },
  },
  {
    title: 'looks at no more of a large file than it must, and says that it has not',
    body: async ({ fs, at, target }) => {
      const file = openSync(at('huge'), 'w')
      appendFileSync(file, numbered(20_000, '\n'))
      ftruncateSync(file, 8 * 2 ** 30) // a hole: whoever reads on would meet its NULs for a long time
      closeSync(file)
      const found = await fs.readLines(await target('huge'), { offset: 100, count: 2 })
      assert.deepEqual(
        found.lines.map(({ text }) => text),
        ['line 100', 'line 101'],
      )
      assert.equal(found.complete, false)
      assert.ok(found.totalLines >= 101)
    },
  },
  {
    title: 'shows U+FFFD and U+2028 that are in a file as the text that they are',
    body: async ({ fs, put, target }) => {
      put('a', 'a \ufffd b\u2028c\u0085d\n')
      const { lines, fingerprint } = await fs.readLines(await target('a'))
      assert.deepEqual(lines, [{ number: 1, text: 'a \ufffd b\u2028c\u0085d' }])
      assert.equal(fingerprint.encoding, 'utf-8')
    },
  },
  {
    title: 'refuses what is too large or binary, and gives bytes of anything',
    body: async ({ fs, put, target }) => {
      put('a', 'x'.repeat(1001))
      put('elf', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0]))
      const [text, elf] = [await target('a'), await target('elf')]
      await refuses(fs.readText(text, { maxBytes: 1000 }), 'FS_TOO_LARGE')
      await refuses(fs.readBytes(text, { maxBytes: 1000 }), 'FS_TOO_LARGE')
      assert.equal((await fs.readBytes(text, { maxBytes: 1001 })).length, 1001)
      await refuses(fs.readText(elf), 'FS_NOT_TEXT')
      await refuses(fs.readLines(elf), 'FS_NOT_TEXT')
      assert.deepEqual([...(await fs.readBytes(elf, { maxBytes: 100 }))].slice(0, 4), [0x7f, 0x45, 0x4c, 0x46])
    },
  },
  {
    title: 'reads what the system makes up on reading',
    skip: () => (process.platform === 'linux' ? undefined : 'Linux only'),
    body: async ({ fs }) => {
      const status = await fs.resolve('/proc/self/status')
      assert.match((await fs.readText(status)).text, /^Pid:\t\d+$/m)
      assert.ok((await fs.readLines(status)).lines.some(({ text }) => text.startsWith('Pid:\t')))
    },
  },
  {
    title: 'refuses pipes, sockets, devices and folders without waiting for anyone',
    skip: () => (process.platform === 'win32' ? 'no pipes in folders' : undefined),
    body: async ({ fs, at, target, write, edit }) => {
      assert.equal(spawnSync('mkfifo', [at('pipe')]).status, 0)
      mkdirSync(at('folder'))
      for (const path of [at('pipe'), '/dev/null', at('folder')]) {
        const it = await fs.resolve(path)
        await refuses(fs.readText(it), 'FS_NOT_REGULAR_FILE')
        await refuses(fs.readLines(it), 'FS_NOT_REGULAR_FILE')
        await refuses(fs.readBytes(it, { maxBytes: 10 }), 'FS_NOT_REGULAR_FILE')
      }
      for (const name of ['pipe', 'folder']) {
        await refuses(write(name, 'x'), 'FS_NOT_REGULAR_FILE')
        await refuses(edit(name, { oldText: 'a', newText: 'b' }), 'FS_NOT_REGULAR_FILE')
      }
      assert.equal((await fs.stat(await target('pipe')))?.type, 'other')
    },
  },
  {
    title: 'lists by name what is there, with links, their ends and what cannot be looked at',
    body: async ({ fs, put, at, target }) => {
      put('d/file', '12345')
      mkdirSync(at('d/folder'))
      symlinkSync('file', at('d/link'))
      symlinkSync('gone', at('d/dangling'))
      assert.deepEqual(await fs.list(await target('d')), [
        { name: 'dangling', type: 'symlink', link: { to: 'gone', dangling: true } },
        { name: 'file', type: 'file', size: 5 },
        { name: 'folder', type: 'directory' },
        { name: 'link', type: 'symlink', link: { to: 'file', dangling: false } },
      ])
      await refuses(fs.list(await target('d/file')), 'FS_NOT_DIRECTORY')
      await refuses(fs.list(await target('missing')), 'FS_NOT_FOUND')
    },
  },
  {
    title: 'tells of a file what is true of it, and nothing of what is not there',
    body: async ({ fs, put, target }) => {
      put('a', '12345')
      const info = await fs.stat(await target('a'))
      assert.deepEqual([info?.type, info?.size], ['file', 5])
      assert.ok(Math.abs((info?.modifiedAt ?? 0) - Date.now()) < 60_000)
      assert.equal(await fs.stat(await target('b')), undefined)
      assert.equal(await fs.stat(await target('a/below')), undefined)
    },
  },
  {
    title: 'stops when it is told to, and says that it was told',
    body: async ({ fs, put, target }) => {
      put('a', 'x\n'.repeat(30_000_000))
      const it = await target('a')
      const aborted = { signal: AbortSignal.abort() }
      await refuses(fs.resolve('a', aborted), 'FS_ABORTED')
      await refuses(fs.readText(it, aborted), 'FS_ABORTED')
      await refuses(fs.readBytes(it, { maxBytes: 10, ...aborted }), 'FS_ABORTED')
      await refuses(fs.stat(it, aborted), 'FS_ABORTED')
      await refuses(fs.list(it, aborted), 'FS_ABORTED')
      const controller = new AbortController()
      const counting = fs.readLines(it, { countAll: true }, { signal: controller.signal })
      setImmediate(() => controller.abort(new Error('enough')))
      await refuses(counting, 'FS_ABORTED')
    },
  },
]
