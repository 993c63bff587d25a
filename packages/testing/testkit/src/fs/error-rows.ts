// Rows: what the system refuses, each with its code, the file that was meant, and the old file as it was.
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync } from 'node:fs'
import type { FsErrorCode } from '@deepseek-ai/dsh-fs'
import { cannotStart, inHost, type HostModule, type Outcome } from './host.ts'
import type { FsRow } from './suite.ts'
import { refuses, type FsWorld } from './world.ts'

export const errorRows: FsRow[] = [
  {
    title: 'tells a name that is too long from one that is not there, of files and of folders',
    body: async ({ fs, target, write, edit }) => {
      for (const name of ['x'.repeat(256), `${'y'.repeat(300)}/a`]) {
        assert.match(await refuses(fs.readText(await target(name)), 'FS_NAME_TOO_LONG'), /x{20}|y{20}/)
        await refuses(write(name, 'x'), 'FS_NAME_TOO_LONG')
        await refuses(edit(name, { oldText: 'a', newText: 'b' }), 'FS_NAME_TOO_LONG')
      }
      const deep = Array.from({ length: 30 }, () => 'd'.repeat(200)).join('/')
      await refuses(write(deep, 'x'), 'FS_NAME_TOO_LONG')
    },
  },
  {
    title: 'says that a path goes through a file, and that there is nothing',
    body: async ({ fs, put, target, write, edit }) => {
      put('file', 'x')
      assert.match(await refuses(fs.readText(await target('file/below')), 'FS_NOT_FOUND'), /file/)
      await refuses(write('file/below', 'x'), 'FS_NOT_FOUND')
      await refuses(write('file/below/that', 'x'), 'FS_NOT_FOUND')
      await refuses(edit('file/below', { oldText: 'a', newText: 'b' }), 'FS_NOT_FOUND')
      await refuses(fs.readText(await target('missing')), 'FS_NOT_FOUND')
      await refuses(fs.readLines(await target('missing/below')), 'FS_NOT_FOUND')
    },
  },
]

const WRITE = 'await fs.write(await fs.resolve(args.path), args.text)'

const READ = 'return (await fs.readText(await fs.resolve(args.path))).text'

const NOBODY = 65_534

/** How to start a process that is no superuser. */
const asNobody = process.getuid?.() === 0 ? { uid: NOBODY } : {}

function hostRow(
  title: string,
  wrap: (world: FsWorld) => string[],
  body: (world: FsWorld, run: (script: string, args: unknown) => Promise<Outcome>) => Promise<void>,
  host: HostModule,
): FsRow {
  return {
    title,
    // Tried on a folder that is there everywhere.
    skip: () => (process.platform === 'linux' ? cannotStart(wrap({ folder: '/tmp' } as FsWorld)) : 'Linux only'),
    body: (world) => body(world, (script, args) => inHost(host, { script, args, wrap: wrap(world) })),
  }
}

function ended({ code, value }: Outcome, wanted: FsErrorCode): void {
  assert.equal(code ?? `no error, but ${JSON.stringify(value)}`, wanted)
}

/** In namespaces of its own, where it may mount. `$0` is the folder. */
function mounted(script: string): (world: FsWorld) => string[] {
  return ({ folder }) => [
    'unshare',
    '--user',
    '--map-root-user',
    '--mount',
    'sh',
    '-c',
    `${script} && exec "$@"`,
    folder,
  ]
}

export function hostErrorRows(host: HostModule): FsRow[] {
  return [
    {
      title: 'says that the system does not allow it, for files and folders that are closed to this user',
      skip: () => (process.platform === 'win32' ? 'no POSIX modes' : cannotStart([], asNobody.uid)),
      body: async ({ put, at, text, names }) => {
        put('closed', 'old\n')
        chmodSync(at('closed'), 0o600)
        put('folder/file', 'old\n')
        chmodSync(at('folder'), 0o555)
        mkdirSync(at('shut'))
        chmodSync(at('shut'), 0)
        const run = (script: string, path: string): Promise<Outcome> =>
          inHost(host, { script, args: { path: at(path), text: 'new\n' }, ...asNobody })
        if (asNobody.uid === undefined) chmodSync(at('closed'), 0)
        ended(await run(READ, 'closed'), 'FS_PERMISSION_DENIED')
        ended(await run(READ, 'shut/file'), 'FS_PERMISSION_DENIED')
        const outcome = await run(WRITE, 'folder/file')
        ended(outcome, 'FS_PERMISSION_DENIED')
        assert.ok(outcome.message?.includes(at('folder/file')), outcome.message)
        ended(await run(WRITE, 'folder/new'), 'FS_PERMISSION_DENIED')
        ended(await run(WRITE, 'folder/new/deep'), 'FS_PERMISSION_DENIED')
        ended(await run(WRITE, 'shut/file'), 'FS_PERMISSION_DENIED')
        assert.deepEqual([text('folder/file'), names('folder')], ['old\n', ['file']])
        chmodSync(at('shut'), 0o755)
      },
    },
    hostRow(
      'says that the disk is full, keeps the old file and leaves nothing half-written (a file system of 64 KiB)',
      mounted('mount -t tmpfs -o size=64k,mode=777 full "$0"'),
      async ({ at }, run) => {
        const script = `
          const { readFileSync, readdirSync, writeFileSync } = await import('node:fs')
          writeFileSync(args.path, 'old\\n')
          const target = await fs.resolve(args.path)
          const tried = [
            () => fs.write(target, 'x'.repeat(1_000_000)),
            () => fs.edit(target, [{ oldText: 'old', newText: 'x'.repeat(1_000_000) }]),
          ]
          const codes = []
          for (const each of tried) codes.push(await each().then(() => 'done', (error) => error.code))
          const fresh = await fs.resolve(args.path + '-new')
          codes.push(await fs.write(fresh, 'x'.repeat(1_000_000)).then(() => 'done', (error) => error.code))
          await fs.write(target, 'new\\n')
          return [...codes, readFileSync(args.path, 'utf8'), readdirSync(args.folder)]`
        const { value, message } = await run(script, { path: at('a'), folder: at('.') })
        assert.deepEqual(value, ['FS_NO_SPACE', 'FS_NO_SPACE', 'FS_NO_SPACE', 'new\n', ['a']], message)
      },
      host,
    ),
    hostRow(
      'says that the file system is read-only, and reads from it (a read-only mount)',
      mounted('mount --bind "$0" "$0" && mount -o remount,bind,ro "$0"'),
      async ({ at, put, text, names }, run) => {
        put('a', 'old\n')
        const args = { path: at('a'), text: 'new\n' }
        ended(await run(WRITE, args), 'FS_READ_ONLY')
        ended(await run(WRITE, { ...args, path: at('new') }), 'FS_READ_ONLY')
        ended(await run(WRITE, { ...args, path: at('deep/new') }), 'FS_READ_ONLY')
        assert.equal((await run(READ, args)).value, 'old\n')
        assert.deepEqual([text('a'), names()], ['old\n', ['a']])
      },
      host,
    ),
    hostRow(
      'says that too many files are open, and goes on once they are closed',
      () => ['sh', '-c', 'ulimit -n 64 && exec "$@"', 'sh'],
      async ({ at, put, text, names }, run) => {
        put('a', 'old\n')
        const script = `
          const { closeSync, openSync } = await import('node:fs')
          const target = await fs.resolve(args.path)
          await fs.readText(target)
          const held = []
          try { for (;;) held.push(openSync(args.path)) } catch {}
          const attempts = [() => fs.readText(target), () => fs.readLines(target), () => fs.write(target, 'new\\n')]
          const codes = []
          for (const attempt of attempts) codes.push(await attempt().then(() => 'done', (error) => error.code))
          // Room for the folder and not for the file, then for both and not for the staged one.
          for (const freed of [1, 1]) {
            for (let i = 0; i < freed; i++) closeSync(held.pop())
            codes.push(await fs.write(target, 'new\\n').then(() => 'done', (error) => error.code))
          }
          for (const each of held) closeSync(each)
          codes.push((await fs.readText(target)).text)
          await fs.write(target, 'new\\n')
          return codes`
        const { value, message } = await run(script, { path: at('a') })
        const codes = value as string[] | undefined
        assert.deepEqual(
          codes?.slice(0, 3),
          Array.from({ length: 3 }, () => 'FS_TOO_MANY_OPEN'),
          message,
        )
        for (const code of codes.slice(3, -1)) assert.match(code, /^(?:FS_TOO_MANY_OPEN|done)$/)
        assert.deepEqual([text('a'), names()], ['new\n', ['a']])
      },
      host,
    ),
  ]
}
