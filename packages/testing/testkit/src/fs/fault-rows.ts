// Rows: a call that fails, for every call of a write: injected where the provider calls Node, since no disk fails on request.
import assert from 'node:assert/strict'
import { FsError, type FsErrorCode } from '@deepseek-ai/dsh-fs'
import { callsOf, stepped } from './steps.ts'
import type { FsRow } from './suite.ts'
import { codeOf, type FsWorld } from './world.ts'

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: injected, here '/somewhere/else'`), { code, errno: -1, syscall: 'injected' })
}

interface Scenario {
  readonly name: string
  readonly before: string | undefined
  readonly after: string
  readonly work: (world: FsWorld) => Promise<unknown>
}

const SCENARIOS: readonly Scenario[] = [
  { name: 'creation', before: undefined, after: 'new\n', work: ({ write }) => write('d/a', 'new\n') },
  { name: 'replacement', before: 'old\n', after: 'new\n', work: ({ write }) => write('d/a', 'new\n') },
  {
    name: 'edit',
    before: 'old\n',
    after: 'new\n',
    work: ({ edit }) => edit('d/a', { oldText: 'old', newText: 'new' }),
  },
]

/** Removing the staged file may be what fails; then it is there until the next write. */
function left(names: readonly string[]): string[] {
  return names.filter((name) => !name.startsWith('.'))
}

function faultRow({ name, before, after, work }: Scenario): FsRow {
  return {
    title: `leaves the old or the new file, and says which, when any call of a ${name} fails`,
    body: async (world) => {
      const { put, text, names } = world
      const reset = (): void => {
        put('d/.keep', '')
        world.clear('d')
        if (before !== undefined) put('d/a', before)
      }
      reset()
      const calls = await callsOf(() => work(world))
      assert.ok(calls.length > 5, calls.join())
      for (let stop = 1; stop <= calls.length; stop++) {
        reset()
        const made: string[] = []
        const end = await stepped(
          (call) => {
            if (made.push(call) === stop) throw systemError('EIO')
          },
          () =>
            work(world).then(
              () => 'done',
              (error: unknown) => (error instanceof FsError ? error.code : `no FsError: ${String(error)}`),
            ),
        )
        const where = `${made[stop - 1]}, call ${stop} of ${made.join()}`
        const now = left(names('d')).length === 0 ? undefined : text('d/a')
        assert.equal(now, end === 'done' ? after : before, `${end} at ${where}`)
        assert.match(end, /^(?:done|FS_IO_ERROR|FS_STALE_VERSION|FS_NOT_FOUND)$/, where)
        await work(world).catch(() => {})
        assert.deepEqual(left(names('d')), ['a'])
      }
    },
  }
}

const CODES: Readonly<Record<string, FsErrorCode>> = {
  EACCES: 'FS_PERMISSION_DENIED',
  EPERM: 'FS_PERMISSION_DENIED',
  EROFS: 'FS_READ_ONLY',
  ENOSPC: 'FS_NO_SPACE',
  EDQUOT: 'FS_NO_SPACE',
  EMFILE: 'FS_TOO_MANY_OPEN',
  ENFILE: 'FS_TOO_MANY_OPEN',
  ENAMETOOLONG: 'FS_NAME_TOO_LONG',
  EIO: 'FS_IO_ERROR',
  EBUSY: 'FS_IO_ERROR',
  ESTALE: 'FS_IO_ERROR',
}

function codeRow([errno, code]: [string, FsErrorCode]): FsRow {
  return {
    title: `tells ${errno} as ${code}, with the file and the cause, and keeps the old one (fault injected)`,
    body: async ({ fs, put, text, write, at, target, names }) => {
      put('a', 'old\n')
      const it = await target('a')
      for (const work of [() => fs.write(it, 'new\n'), () => fs.readText(it), () => fs.readLines(it)]) {
        // Every opening fails, the first one and the later ones.
        for (let skip = 0; ; skip++) {
          let opened = 0
          const thrown: unknown = await stepped(
            (name) => {
              if (name === 'open' && opened++ === skip) throw systemError(errno)
            },
            () =>
              work().then(
                () => undefined,
                (error: unknown) => error,
              ),
          )
          if (opened <= skip) {
            put('a', 'old\n')
            break
          }
          // Another way in was found, which is as good.
          if (thrown === undefined && text('a') === 'new\n') {
            put('a', 'old\n')
            continue
          }
          assert.ok(thrown instanceof FsError, String(thrown))
          assert.deepEqual([thrown.code, codeOf(thrown.cause)], [code, errno])
          assert.ok(thrown.message.includes(JSON.stringify(at('a'))), thrown.message)
          assert.ok(!thrown.message.includes('/somewhere/else'), thrown.message)
        }
      }
      assert.deepEqual([text('a'), names()], ['old\n', ['a']])
      await write('a', 'new\n')
    },
  }
}

export const faultRows: FsRow[] = [...SCENARIOS.map(faultRow), ...Object.entries(CODES).map(codeRow)]
