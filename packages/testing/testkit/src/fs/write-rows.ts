// Rows: whole files: publication, modes, expectations, version tokens, cancellation and what a receipt proves.
import assert from 'node:assert/strict'
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { stepped } from './steps.ts'
import type { FsRow } from './suite.ts'
import { refuses } from './world.ts'

const POSIX = (): string | undefined => (process.platform === 'win32' ? 'no POSIX modes' : undefined)

export const writeRows: FsRow[] = [
  {
    title: 'creates a file with what it was given, folders included, and leaves nothing else',
    body: async ({ write, names, text }) => {
      const { operation, receipt, hunks, hunksCut } = await write('new/deep/file', 'one\ntwo\n')
      assert.deepEqual([operation, text('new/deep/file'), names('new/deep')], ['created', 'one\ntwo\n', ['file']])
      assert.deepEqual([receipt.strategy, receipt.before, receipt.lines], ['whole', null, { added: 2, removed: 0 }])
      assert.deepEqual([receipt.ranges, hunks, hunksCut], [[{ start: 0, end: 8 }], [], false])
    },
  },
  {
    title: 'gives a new file the mode that the system would give it',
    skip: POSIX,
    body: async ({ write, put, at }) => {
      put('plain', '')
      await write('made', '')
      assert.equal(statSync(at('made')).mode, statSync(at('plain')).mode)
    },
  },
  {
    title: 'keeps the mode of what it replaces, odd ones included',
    skip: POSIX,
    body: async ({ write, edit, put, at }) => {
      for (const mode of [0o755, 0o600, 0o444, 0o4711, 0o2775]) {
        put('a', 'one\n')
        chmodSync(at('a'), mode)
        const written = await write('a', 'two\n').catch(() => undefined)
        assert.equal(written?.receipt.after.mode, mode)
        await edit('a', { oldText: 'two', newText: 'three' })
        assert.equal(statSync(at('a')).mode & 0o7777, mode)
        chmodSync(at('a'), 0o644)
      }
    },
  },
  {
    title: 'publishes whole: who holds the old file open reads the old one to its end, and no name is ever missing',
    body: async ({ write, put, at }) => {
      put('a', 'old\n'.repeat(50_000))
      const seen = new Set<string>()
      const look = (): void => {
        const bytes = readFileSync(at('a'), 'utf8')
        seen.add(`${bytes.slice(0, 3)} ${bytes.length}`)
      }
      let looking = false
      await stepped(
        () => {
          if (looking) return
          looking = true // looking is made of calls as well
          look()
          looking = false
        },
        () => write('a', 'new\n'.repeat(60_000)),
      )
      look()
      assert.deepEqual([...seen], ['old 200000', 'new 240000'])
    },
  },
  {
    title: 'shows no file half-made under the name of a new one',
    body: async ({ write, at, names }) => {
      const sizes = new Set<number>()
      let looking = false
      await stepped(
        () => {
          if (looking) return
          looking = true
          const size = lstatSync(at('a'), { throwIfNoEntry: false })?.size
          if (size !== undefined) sizes.add(size)
          looking = false
        },
        () => write('a', 'new\n'.repeat(60_000)),
      )
      sizes.add(lstatSync(at('a')).size)
      assert.deepEqual([[...sizes], names()], [[240_000], ['a']])
    },
  },
  {
    title: 'refuses what was changed, replaced or removed since it was read, and what must not be there',
    body: async ({ fs, write, edit, put, at, target, text }) => {
      put('a', 'one\n')
      const { version } = await fs.readText(await target('a'))
      const expected = { kind: 'version', version } as const
      const change = { oldText: 'one', newText: '1' }
      writeFileSync(at('a'), 'one\nmore\n')
      assert.match(await refuses(write('a', 'x', { expected }), 'FS_STALE_VERSION'), /changed since it was read/)
      await refuses(edit('a', change, { expected }), 'FS_STALE_VERSION')
      put('b', 'one\n')
      renameSync(at('b'), at('a'))
      await refuses(edit('a', change, { expected }), 'FS_STALE_VERSION')
      renameSync(at('a'), at('b'))
      assert.match(await refuses(write('a', 'x', { expected }), 'FS_STALE_VERSION'), /removed/)
      await refuses(write('b', 'x', { expected: { kind: 'absent' } }), 'FS_ALREADY_EXISTS')
      assert.equal(text('b'), 'one\n')
      await write('c', 'x', { expected: { kind: 'absent' } })
      await refuses(edit('missing', change), 'FS_NOT_FOUND')
    },
  },
  {
    title: 'gives a version that its own next write may expect, and that reading gives too',
    body: async ({ fs, write, edit, target }) => {
      let { version } = await write('a', 'one\n')
      for (let round = 0; round < 20; round++) {
        assert.equal((await fs.readText(await target('a'))).version, version)
        const expected = { kind: 'version', version } as const
        const made =
          round % 2 === 0
            ? edit('a', { oldText: 'one', newText: 'two' }, { expected })
            : write('a', 'one\n', { expected })
        version = (await made).version
      }
      assert.equal((await fs.stat(await target('a')))?.version, version)
    },
  },
  {
    title: 'notices a rewrite of the same size whose time was set back',
    body: async ({ fs, put, at, target }) => {
      put('a', 'one\n')
      const old = new Date('2020-01-01T00:00:00Z')
      utimesSync(at('a'), old, old)
      const before = await fs.stat(await target('a'))
      writeFileSync(at('a'), 'two\n')
      utimesSync(at('a'), old, old)
      const after = await fs.stat(await target('a'))
      assert.equal(after?.modifiedAt, before?.modifiedAt)
      assert.notEqual(after?.version, before?.version)
    },
  },
  {
    title: 'notices a change of mode and of nothing else, and is not disturbed by who only reads',
    skip: POSIX,
    body: async ({ fs, put, at, target }) => {
      put('a', 'one\n')
      const first = await fs.stat(await target('a'))
      readFileSync(at('a'))
      assert.equal((await fs.stat(await target('a')))?.version, first?.version)
      chmodSync(at('a'), 0o700)
      assert.notEqual((await fs.stat(await target('a')))?.version, first?.version)
    },
  },
  {
    title: 'refuses when the file changes while it is being written, at whatever call',
    body: async ({ write, put, at, text }) => {
      put('a', 'one\n')
      let [calls, stop] = [0, 0]
      for (;;) {
        put('a', 'one\n')
        ;[calls, stop] = [0, stop + 1]
        const done = stepped(
          () => {
            if (++calls === stop) writeFileSync(at('a'), 'theirs\n')
          },
          () => write('a', 'mine\n'),
        )
        const made = await done.then(
          () => 'written',
          (error: { code?: string }) => error.code,
        )
        if (calls < stop) break
        // Seen before it was looked at, seen in between, or after all was done: never theirs lost in silence.
        if (made === 'written') assert.ok(['mine\n', 'theirs\n'].includes(text('a')))
        else assert.deepEqual([made, text('a')], ['FS_STALE_VERSION', 'theirs\n'])
      }
      assert.ok(stop > 5, `${stop} calls`)
    },
  },
  {
    title: 'tells a replacement as the lines that changed, with fingerprints of both sides',
    body: async ({ write, put }) => {
      put('a', 'one\r\ntwo\r\nthree')
      const { operation, receipt, hunks } = await write('a', 'one\n2\nthree\n')
      assert.deepEqual([operation, receipt.strategy, receipt.lines], ['replaced', 'whole', { added: 2, removed: 2 }])
      assert.deepEqual(
        [receipt.before?.eol, receipt.before?.finalNewline, receipt.after.eol, receipt.after.finalNewline],
        ['crlf', false, 'crlf', true],
      )
      assert.deepEqual(hunks, [
        { oldStart: 1, newStart: 1, oldText: 'one\r\ntwo\r\nthree', newText: 'one\r\n2\r\nthree\r\n' },
      ])
    },
  },
  {
    title: 'writes the same again, and replaces an empty and a binary file',
    body: async ({ write, put, text }) => {
      put('a', 'same\n')
      assert.deepEqual((await write('a', 'same\n')).hunks, [])
      put('empty', '')
      await write('empty', 'x\n')
      await write('empty', '')
      put('binary', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0, 0]))
      const { operation, receipt } = await write('binary', 'text\n')
      assert.deepEqual([operation, receipt.before, text('empty'), text('binary')], ['replaced', null, '', 'text\n'])
    },
  },
  {
    title: 'breaks a hard link rather than write into a file of another name',
    body: async ({ write, put, at, text }) => {
      put('a', 'one\n')
      linkSync(at('a'), at('b'))
      await write('a', 'two\n')
      assert.deepEqual([text('a'), text('b')], ['two\n', 'one\n'])
    },
  },
  {
    title: 'refuses half a character and a placeholder for code, and keeps what is there',
    body: async ({ write, put, text }) => {
      put('a', 'function f() {\n  return 1\n}\n')
      await refuses(write('a', 'x\ud800y'), 'FS_INVALID_EDIT')
      await refuses(write('a', 'function f() {\n  // ... rest of the code\n}\n'), 'FS_INVALID_EDIT')
      assert.equal(text('a'), 'function f() {\n  return 1\n}\n')
      await refuses(write('new', 'x\udc00'), 'FS_INVALID_EDIT')
    },
  },
  {
    title: 'writes nothing once it is told to stop, at whatever call, unless it had written already',
    body: async ({ write, put, text, names }) => {
      for (let stop = 1; ; stop++) {
        put('a', 'old\n')
        const controller = new AbortController()
        let calls = 0
        const work = stepped(
          () => void (++calls === stop && controller.abort()),
          () => write('a', 'new\n', { signal: controller.signal }),
        )
        const code = await work.then(
          () => undefined,
          (error: { code?: string }) => error.code,
        )
        if (calls < stop) break
        assert.deepEqual([code, text('a')], code === undefined ? [undefined, 'new\n'] : ['FS_ABORTED', 'old\n'])
        assert.deepEqual(names(), ['a'])
      }
    },
  },
  {
    title: 'refuses when the path leads to another file by then',
    body: async ({ fs, put, at, target, text }) => {
      put('one/file', '1')
      put('two/file', '2')
      symlinkSync('one', at('link'))
      const it = await target('link/file')
      renameSync(at('link'), at('old-link'))
      symlinkSync('two', at('link'))
      await refuses(fs.write(it, 'x'), 'FS_STALE_VERSION')
      await refuses(fs.edit(it, [{ oldText: '1', newText: 'x' }]), 'FS_STALE_VERSION')
      assert.deepEqual([text('one/file'), text('two/file')], ['1', '2'])
    },
  },
  {
    title: 'writes in a folder that may be entered and written but not listed',
    skip: POSIX,
    body: async ({ write, edit, at, text }) => {
      mkdirSync(at('blind'))
      chmodSync(at('blind'), 0o333)
      try {
        await write('blind/a', 'one\n')
        await edit('blind/a', { oldText: 'one', newText: 'two' })
      } finally {
        chmodSync(at('blind'), 0o755)
      }
      assert.equal(text('blind/a'), 'two\n')
    },
  },
]
