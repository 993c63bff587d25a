// Rows: what a policy does not let be read or written, by real paths, as they are at the moment of the call.
import assert from 'node:assert/strict'
import { linkSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { callsOf, stepped } from './steps.ts'
import type { FsRow } from './suite.ts'
import { codeOf, refuses, type FsWorld } from './world.ts'

/** A workspace beside what is out of reach. */
function fenced(world: FsWorld): void {
  const { put, at } = world
  mkdirSync(at('ws'))
  mkdirSync(at('tmp'))
  put('outside/canary', 'canary\n')
  put('secret/key', 'secret-key\n')
}

function untouched({ text, names }: FsWorld): void {
  assert.deepEqual([text('outside/canary'), names('outside')], ['canary\n', ['canary']])
  assert.deepEqual([text('secret/key'), names('secret')], ['secret-key\n', ['key']])
}

/**
 * What `work` makes of a path that is swapped for another before its call number `n`, for every `n`. The folder or file is there again at the next
 * round. Gives the codes it ended with.
 */
async function swapped(
  { at }: FsWorld,
  swap: { readonly path: string; readonly to: string },
  work: () => Promise<unknown>,
): Promise<string[]> {
  const ends: string[] = []
  const calls = (await callsOf(() => work().catch(() => {}))).length
  for (let stop = 1; stop <= calls; stop++) {
    let call = 0
    const end = await stepped(
      () => {
        if (++call !== stop) return
        renameSync(at(swap.path), at('ws/.moved'))
        symlinkSync(at(swap.to), at(swap.path))
      },
      () =>
        work().then(
          () => 'done',
          (error: unknown) => codeOf(error),
        ),
    )
    ends.push(end)
    if (call < stop) continue
    rmSync(at(swap.path))
    renameSync(at('ws/.moved'), at(swap.path))
  }
  assert.ok(calls > 3, `${calls} calls`)
  return ends
}

const LINKS = (): string | undefined => (process.platform === 'win32' ? 'links need a privilege' : undefined)

export const fenceRows: FsRow[] = [
  {
    title: 'lets be written what is inside, and nothing else, with the rule in the message',
    body: async (world) => {
      fenced(world)
      const { write, edit, put, policy } = world
      const confined = { policy: policy() }
      await write('ws/new/file', 'x\n', confined)
      await edit('ws/new/file', { oldText: 'x', newText: 'y' }, confined)
      await write('tmp/file', 'x', confined)
      assert.match(await refuses(write('outside/new', 'x', confined), 'FS_SANDBOX_DENIED'), /outside-writable-roots/)
      await refuses(edit('outside/canary', { oldText: 'canary', newText: 'x' }, confined), 'FS_SANDBOX_DENIED')
      await refuses(write('wsx/new', 'x', confined), 'FS_SANDBOX_DENIED')
      put('ws/.git/config', '[core]\n')
      mkdirSync(world.at('ws/.git/hooks'))
      assert.match(await refuses(write('ws/.git/config', 'x', confined), 'FS_SANDBOX_DENIED'), /protected-path/)
      await refuses(write('ws/.git/hooks/pre-commit', 'x', confined), 'FS_SANDBOX_DENIED')
      const readOnly = { policy: policy({ mode: 'read-only' }) }
      assert.match(await refuses(write('ws/new/file', 'x', readOnly), 'FS_SANDBOX_DENIED'), /read-only-mode/)
      untouched(world)
    },
  },
  {
    title: 'lets be read everything but what is denied, through links too',
    skip: LINKS,
    body: async (world) => {
      fenced(world)
      const { fs, at, policy, target } = world
      const confined = { policy: policy() }
      symlinkSync(at('secret'), at('ws/folder'))
      symlinkSync(at('secret/key'), at('ws/link'))
      assert.equal((await fs.readText(await target('outside/canary'), confined)).text, 'canary\n')
      for (const name of ['secret/key', 'ws/folder/key', 'ws/link']) {
        const it = await target(name)
        await refuses(fs.readText(it, confined), 'FS_SANDBOX_DENIED')
        await refuses(fs.readLines(it, {}, confined), 'FS_SANDBOX_DENIED')
        await refuses(fs.readBytes(it, { maxBytes: 100, ...confined }), 'FS_SANDBOX_DENIED')
        await refuses(fs.stat(it, confined), 'FS_SANDBOX_DENIED')
      }
      await refuses(fs.list(await target('ws/folder'), confined), 'FS_SANDBOX_DENIED')
    },
  },
  {
    title: 'judges new files below links that leave by where they would come to be',
    skip: LINKS,
    body: async (world) => {
      fenced(world)
      const { write, at, policy, text } = world
      const confined = { policy: policy() }
      symlinkSync('../outside', at('ws/out'))
      symlinkSync('../outside/made-later', at('ws/dangling'))
      symlinkSync('../ws/inner', at('ws/in'))
      for (const name of ['ws/out/new', 'ws/out/deep/er/new', 'ws/dangling', 'ws/out/canary']) {
        await refuses(write(name, 'x', confined), 'FS_SANDBOX_DENIED')
      }
      await write('ws/in/deep/new', 'x', confined)
      assert.equal(text('ws/inner/deep/new'), 'x')
      symlinkSync('../ws/inner', at('outside/back'))
      await write('outside/back/new', 'x', confined)
      assert.equal(text('ws/inner/new'), 'x')
      rmSync(at('outside/back'))
      untouched(world)
    },
  },
  {
    title: 'is asked again at the write: a target that was judged inside may be outside by then',
    skip: LINKS,
    body: async (world) => {
      fenced(world)
      const { fs, target, at, policy } = world
      mkdirSync(at('ws/dir'))
      const it = await target('ws/dir/canary')
      rmSync(at('ws/dir'), { recursive: true })
      symlinkSync('../outside', at('ws/dir'))
      await refuses(fs.write(it, 'x', { policy: policy() }), 'FS_STALE_VERSION')
      await refuses(fs.write(await target('ws/dir/canary'), 'x', { policy: policy() }), 'FS_SANDBOX_DENIED')
      untouched(world)
    },
  },
  {
    title: 'writes a file inside or nothing when its folder is swapped for a link out before any of its calls',
    skip: LINKS,
    body: async (world) => {
      fenced(world)
      const { fs, target, put, policy } = world
      put('ws/dir/canary', 'mine\n')
      for (const name of ['ws/dir/canary', 'ws/dir/new', 'ws/dir/deep/er/new']) {
        const it = await target(name)
        const ends = await swapped(world, { path: 'ws/dir', to: 'outside' }, () =>
          fs.write(it, 'written\n', { policy: policy() }),
        )
        assert.ok(ends.includes('FS_STALE_VERSION') && ends.includes('done'), ends.join())
        untouched(world)
      }
    },
  },
  {
    title: 'edits a file inside or nothing when it or its folder is swapped for a link out before any of its calls',
    skip: LINKS,
    body: async (world) => {
      fenced(world)
      const { fs, target, put, policy } = world
      put('ws/dir/canary', 'canary\n')
      const it = await target('ws/dir/canary')
      let round = 0
      const edit = (): Promise<unknown> => {
        put('ws/dir/canary', 'canary\n')
        return fs.edit(it, [{ oldText: 'canary', newText: `edited ${++round}` }], { policy: policy() })
      }
      const ends = await swapped(world, { path: 'ws/dir', to: 'outside' }, edit)
      ends.push(...(await swapped(world, { path: 'ws/dir/canary', to: 'outside/canary' }, edit)))
      assert.ok(ends.includes('FS_STALE_VERSION') && ends.includes('done'), ends.join())
      untouched(world)
    },
  },
  {
    title: 'gives nothing of a denied file when a file or its folder is swapped for a link to it before any call',
    skip: LINKS,
    body: async (world) => {
      fenced(world)
      const { fs, target, put, policy } = world
      put('ws/dir/key', 'mine\n')
      const it = await target('ws/dir/key')
      const given: string[] = []
      const confined = { policy: policy() }
      const reads = [
        async () => given.push((await fs.readText(it, confined)).text),
        async () => given.push((await fs.readLines(it, {}, confined)).lines[0]?.text ?? ''),
        async () => given.push(Buffer.from(await fs.readBytes(it, { maxBytes: 100, ...confined })).toString()),
      ]
      for (const read of reads) {
        await swapped(world, { path: 'ws/dir', to: 'secret' }, read)
        await swapped(world, { path: 'ws/dir/key', to: 'secret/key' }, read)
      }
      assert.deepEqual([...new Set(given.map((text) => text.trim()))], ['mine'])
    },
  },
  {
    title: 'leaves what a hard link outside holds, since a write never writes into a file that is there',
    body: async (world) => {
      fenced(world)
      const { write, edit, at, policy } = world
      linkSync(at('outside/canary'), at('ws/hard'))
      await edit('ws/hard', { oldText: 'canary', newText: 'x' }, { policy: policy() })
      await write('ws/hard', 'x', { policy: policy() })
      untouched(world)
    },
  },
  {
    title: 'does not fence what has no policy or full access',
    body: async (world) => {
      const { write, policy, at } = world
      await write('outside/a', 'x')
      await write('outside/b', 'x', { policy: policy({ mode: 'danger-full-access' }) })
      assert.deepEqual(readdirSync(at('outside')), ['a', 'b'])
      assert.equal(readFileSync(at('outside/a'), 'utf8'), 'x')
    },
  },
]
