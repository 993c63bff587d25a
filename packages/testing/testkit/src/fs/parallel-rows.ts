// Rows: many at once on one file: none is lost in silence, and the file is one of theirs at every moment.
import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import { inHost, type HostModule } from './host.ts'
import type { FsRow } from './suite.ts'
import { codeOf, refuses } from './world.ts'

const block = (index: number): string => `writer ${index}\n`.repeat(2000)

export const parallelRows: FsRow[] = [
  {
    title: 'lets six edits of one file that come at once all land',
    body: async ({ put, edit, text, names }) => {
      put('a', 'one\ntwo\nthree\nfour\nfive\nsix\n')
      const words = ['one', 'two', 'three', 'four', 'five', 'six']
      await Promise.all(words.map((word) => edit('a', { oldText: `${word}\n`, newText: `${word.toUpperCase()}\n` })))
      assert.deepEqual([text('a'), names()], ['ONE\nTWO\nTHREE\nFOUR\nFIVE\nSIX\n', ['a']])
    },
  },
  {
    title: 'lets one of six edits that expect the same version land, and tells the others why not',
    body: async ({ fs, put, edit, text, target }) => {
      put('a', 'start\n')
      const { version } = await fs.readText(await target('a'))
      const expected = { kind: 'version', version } as const
      const ends = await Promise.all(
        Array.from({ length: 6 }, (_, index) =>
          edit('a', { oldText: 'start', newText: `start\n${index}` }, { expected }).then(
            () => 'landed',
            (error: unknown) => codeOf(error),
          ),
        ),
      )
      assert.deepEqual(ends.toSorted(), [...Array.from({ length: 5 }, () => 'FS_STALE_VERSION'), 'landed'])
      assert.match(text('a'), /^start\n\d\n$/)
    },
  },
  {
    title: 'takes fifty writers of one file in turn, by whatever links they come, and tears none',
    body: async ({ fs, put, at, text, target, write, names }) => {
      put('real/a', block(50))
      symlinkSync('real', at('folder'))
      symlinkSync('real/a', at('link'))
      const paths = ['real/a', 'folder/a', 'link', 'real/../folder/a']
      const seen = new Set<string>()
      const writing = new AbortController()
      const reading = (async () => {
        const it = await target('real/a')
        while (!writing.signal.aborted) seen.add((await fs.readText(it)).text)
      })()
      reading.catch(() => {}) // awaited below
      await Promise.all(Array.from({ length: 50 }, (_, index) => write(paths[index % 4] ?? '', block(index))))
      writing.abort()
      await reading
      const whole = new Set(Array.from({ length: 51 }, (_, index) => block(index)))
      for (const each of [...seen, text('real/a')]) assert.ok(whole.has(each), `torn: ${each.slice(0, 40)}`)
      assert.deepEqual(names('real'), ['a'])
    },
  },
  {
    title: 'lets fifty edits through different links all land',
    body: async ({ put, at, edit, text }) => {
      put('real/a', 'end\n')
      symlinkSync('real', at('folder'))
      symlinkSync('real/a', at('link'))
      const paths = ['real/a', 'folder/a', 'link']
      const lines = Array.from({ length: 50 }, (_, index) => `line ${index}\n`)
      await Promise.all(
        lines.map((line, index) => edit(paths[index % 3] ?? '', { oldText: 'end\n', newText: `${line}end\n` })),
      )
      assert.deepEqual(
        text('real/a')
          .match(/line \d+\n/g)
          ?.toSorted(),
        lines.toSorted(),
      )
    },
  },
  {
    title: 'lets one of two creators win',
    body: async ({ write, text, names }) => {
      const expected = { kind: 'absent' } as const
      const ends = await Promise.all(
        ['1', '2'].map((each) =>
          write('new/a', each, { expected }).then(
            () => each,
            (error: unknown) => codeOf(error),
          ),
        ),
      )
      const won = ends.find((end) => end.length === 1)
      assert.deepEqual([ends.toSorted(), text('new/a'), names('new')], [[won, 'FS_ALREADY_EXISTS'], won, ['a']])
    },
  },
  {
    title: 'goes on after a writer that failed, and lets who waits leave at once',
    body: async ({ put, edit, write, text }) => {
      put('a', 'one\n')
      const controller = new AbortController()
      let firstEnded = false
      const first = write('a', 'two\n'.repeat(1_000_000)).then(() => (firstEnded = true))
      const failing = edit('a', { oldText: 'nowhere', newText: 'x' })
      const waiting = write('a', 'never\n', { signal: controller.signal })
      const last = write('a', 'last\n')
      setImmediate(() => controller.abort())
      await refuses(waiting, 'FS_ABORTED')
      assert.equal(firstEnded, false)
      await refuses(failing, 'FS_EDIT_NOT_FOUND')
      await Promise.all([first, last])
      assert.equal(text('a'), 'last\n')
    },
  },
]

export function processRows(host: HostModule): FsRow[] {
  return [
    {
      title: 'never tears a file that five processes write ten times each, and tells who came too late',
      body: async ({ fs, put, at, text, target, names }) => {
        put('a', block(0))
        const script = `
          const target = await fs.resolve(args.path)
          const codes = []
          for (let round = 0; round < 10; round++) {
            codes.push(await fs.write(target, args.text).then(() => 'done', (error) => error.code))
          }
          return codes`
        const running = new AbortController()
        const seen = new Set<string>()
        const reading = (async () => {
          const it = await target('a')
          while (!running.signal.aborted) seen.add((await fs.readText(it)).text)
        })()
        reading.catch(() => {}) // awaited below
        const outcomes = await Promise.all(
          Array.from({ length: 5 }, (_, index) =>
            inHost(host, { script, args: { path: at('a'), text: block(index + 1) } }),
          ),
        )
        running.abort()
        await reading
        const whole = new Set(Array.from({ length: 6 }, (_, index) => block(index)))
        for (const each of [...seen, text('a')]) assert.ok(whole.has(each), `torn: ${each.slice(0, 40)}`)
        const codes = new Set(outcomes.flatMap(({ value }) => value as string[]))
        codes.delete('FS_STALE_VERSION')
        assert.deepEqual([[...codes], names()], [['done'], ['a']])
      },
    },
    {
      title: 'lets one of five processes create a file, and tells the others',
      body: async ({ at, text, names }) => {
        const script = `
          const target = await fs.resolve(args.path)
          const expected = { kind: 'absent' }
          return fs.write(target, args.text, { expected }).then(() => 'done', (error) => error.code)`
        const outcomes = await Promise.all(
          Array.from({ length: 5 }, (_, index) =>
            inHost(host, { script, args: { path: at('a'), text: block(index) } }),
          ),
        )
        const ends = outcomes.map(({ value }) => String(value))
        assert.deepEqual(ends.toSorted(), [...Array.from({ length: 4 }, () => 'FS_ALREADY_EXISTS'), 'done'])
        assert.deepEqual([text('a'), names()], [block(ends.indexOf('done')), ['a']])
      },
    },
  ]
}
