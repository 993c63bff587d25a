// Attempts to write outside, and to read what is denied. The content of the canary counts, not that there is one.
import assert from 'node:assert/strict'
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { SandboxRow } from './suite.ts'
import { makeWorld, type SandboxWorld } from './world.ts'

const untouched = (world: SandboxWorld): void => {
  assert.equal(world.read(join(world.outside, 'canary')), 'before')
  assert.deepEqual(readdirSync(world.outside), ['canary'])
}

const secretKept = (world: SandboxWorld, stdout: string): void => assert.ok(!stdout.includes('secret-key'), stdout)

const refusesToWrite = (title: string, command: string): SandboxRow => ({
  title: `keeps what lies outside from ${title}`,
  body: async (world) => {
    symlinkSync(world.outside, join(world.ws, 'link'))
    const ran = await world.run(`${command}; true`, { env: { OUT: world.outside } })
    assert.equal(ran.exitCode, 0)
    untouched(world)
  },
})

const refusesToRead = (title: string, command: string): SandboxRow => ({
  title: `keeps denied content from ${title}`,
  body: async (world) => {
    symlinkSync(world.secret, join(world.ws, 'link'))
    const ran = await world.run(`${command}; true`, { env: { SECRET: world.secret } })
    secretKept(world, ran.stdout + ran.stderr)
    assert.equal(world.read(join(world.secret, 'key')), 'secret-key')
  },
})

export const filesystemRows: readonly SandboxRow[] = [
  {
    title: 'lets the workspace, the temp folder and /tmp be written, which is one folder from call to call',
    body: async (world) => {
      const first = await world.run(
        'echo a > file; echo b > "$TMPDIR/kept"; echo c > /tmp/also; echo "$TMPDIR"; cat <<< here',
      )
      assert.equal(first.exitCode, 0, first.stderr)
      const { tempDir } = world.policy()
      assert.equal(first.stdout, `${tempDir}\nhere\n`)
      assert.equal(world.read(join(world.ws, 'file')), 'a\n')
      assert.equal(world.read(join(tempDir, 'also')), 'c\n')
      assert.equal((await world.run('cat /tmp/kept "$TMPDIR/also"')).stdout, 'b\nc\n')
    },
  },
  {
    title: 'writes nothing in read-only mode but the temp folder',
    body: async (world) => {
      const ran = await world.run('echo a > file; echo b > "$TMPDIR/kept"; cat "$TMPDIR/kept"', {
        policy: { mode: 'read-only' },
      })
      assert.equal(ran.stdout, 'b\n')
      assert.deepEqual(readdirSync(world.ws), [])
    },
  },
  refusesToWrite(
    'a redirection, a copy and a truncation',
    'echo x > $OUT/canary; cp /etc/hostname $OUT/new; truncate -s 0 $OUT/canary',
  ),
  refusesToWrite(
    'a link in the workspace',
    'echo x > link/canary; ln -s $OUT/canary own; echo x > own; echo x > link/new',
  ),
  refusesToWrite(
    'a rename over it, and out of the workspace',
    'echo x > mine; mv mine $OUT/canary; mv $OUT/canary taken; mv mine $OUT/new',
  ),
  refusesToWrite('removal', 'rm -rf $OUT; rmdir $OUT; unlink $OUT/canary'),
  refusesToWrite('a hard link into the workspace', 'ln $OUT/canary mine && echo x > mine'),
  refusesToWrite(
    'paths through /proc',
    'echo x > /proc/self/root$OUT/canary; echo x > /proc/1/root$OUT/canary; echo x > /proc/self/cwd/../outside/canary',
  ),
  {
    title: 'keeps modes and times of what lies outside',
    body: async (world) => {
      const canary = join(world.outside, 'canary')
      const before = statSync(canary)
      await world.run(`chmod 777 ${canary}; touch -d 2001-01-01 ${canary}; chown 1:1 ${canary}; true`)
      const after = statSync(canary)
      assert.deepEqual([after.mode, after.mtimeMs, after.uid], [before.mode, before.mtimeMs, before.uid])
      untouched(world)
    },
  },
  {
    title: 'documents that a hard link which exists already leads out',
    body: async (world) => {
      linkSync(join(world.outside, 'canary'), join(world.ws, 'shared'))
      await world.run('echo through > shared')
      assert.equal(world.read(join(world.outside, 'canary')), 'through\n')
    },
  },
  refusesToRead('its path', 'cat $SECRET/key; ls $SECRET; cp -r $SECRET mine; cat mine/key'),
  refusesToRead('a link', 'cat link/key; ls link/; ln -s $SECRET/key own; cat own'),
  refusesToRead(
    'paths through /proc',
    'cat /proc/self/root$SECRET/key /proc/1/root$SECRET/key /proc/self/cwd/../secret/key',
  ),
  refusesToRead(
    'removal of the cover',
    'umount $SECRET; umount -l $SECRET; rmdir $SECRET; mv $SECRET mine; cat $SECRET/key mine/key',
  ),
  refusesToRead('a change of its mode', 'chmod 777 $SECRET; cat $SECRET/key'),
  {
    title: 'denies a single file, a link to one, and skips what does not exist',
    body: async (world) => {
      const file = world.put('token', 'secret-key')
      const link = join(world.ws, 'alias')
      symlinkSync(file, link)
      const ran = await world.run('cat token alias; echo there; ls -d missing', {
        policy: { deniedReads: [file, join(world.folder, 'missing'), world.secret] },
      })
      secretKept(world, ran.stdout)
      assert.match(ran.stdout, /there/)
      assert.match(ran.stderr, /Permission denied/)
      assert.ok(!existsSync(join(world.folder, 'missing')))
    },
  },
  {
    title: 'denies what lies inside a protected folder',
    body: async (world) => {
      const file = world.put('.dsh/providers.json', 'secret-key')
      world.put('.dsh/notes', 'open')
      const ran = await world.run('cat .dsh/notes .dsh/providers.json', { policy: { deniedReads: [file] } })
      assert.equal(ran.stdout, 'open')
    },
  },
  {
    title: 'refuses a workspace inside of what may not be read',
    body: async (world) => {
      const policy = { deniedReads: [world.folder] }
      await assert.rejects(world.run('true', { policy }), { code: 'SANDBOX_POLICY_INVALID' })
    },
  },
  {
    title: 'confines a workspace under /tmp as any other',
    body: async ({ sandbox }) => {
      const world = makeWorld(sandbox, '/tmp')
      try {
        world.repository('.')
        const out = { OUT: world.outside, SECRET: world.secret }
        const ran = await world.run(
          'echo in > file; echo x > .git/hooks/x; mv .git moved; echo x > $OUT/canary; cat $SECRET/key; pwd',
          { env: out },
        )
        assert.equal(ran.stdout, `${world.ws}\n`)
        assert.equal(world.read(join(world.ws, 'file')), 'in\n')
        assert.deepEqual(readdirSync(join(world.ws, '.git/hooks')), [])
        assert.ok(!existsSync(join(world.ws, 'moved')))
        untouched(world)
        const look = await world.run('cat file; echo x > file', { policy: { mode: 'read-only' } })
        assert.equal(look.stdout, 'in\n')
        assert.equal(world.read(join(world.ws, 'file')), 'in\n')
      } finally {
        await world.remove()
      }
    },
  },
  {
    title: 'hides the files that others have in /tmp and /run',
    body: async (world) => {
      const folder = realpathSync(mkdtempSync('/tmp/dsh-other-'))
      world.onRemove(() => rmSync(folder, { recursive: true }))
      writeFileSync(join(folder, 'file'), 'theirs')
      const ran = await world.run(`cat ${folder}/file; ls /run; echo x > ${folder}/file; true`)
      assert.ok(!ran.stdout.includes('theirs'))
      assert.equal(world.read(join(folder, 'file')), 'theirs')
    },
  },
  {
    title: 'writes further roots, and keeps their configuration',
    body: async (world) => {
      const more = join(world.folder, 'more')
      mkdirSync(join(more, '.claude'), { recursive: true })
      writeFileSync(join(more, '.claude/settings.json'), '{}')
      await world.run(
        `echo a > ${more}/file; echo x > ${more}/.claude/settings.json; mv ${more}/.claude ${more}/x; true`,
        {
          policy: { writableRoots: [more] },
        },
      )
      assert.equal(world.read(join(more, 'file')), 'a\n')
      assert.equal(world.read(join(more, '.claude/settings.json')), '{}')
    },
  },
  {
    title: 'writes nothing into what it protects when that is a link out of the workspace',
    body: async (world) => {
      symlinkSync(world.outside, join(world.ws, '.vscode'))
      await world.run('echo x > .vscode/canary; true')
      untouched(world)
      assert.ok(lstatSync(join(world.ws, '.vscode')).isSymbolicLink())
    },
  },
]
