// Sessions beside each other, ends of processes, and what a result says.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SandboxRow } from './suite.ts'
import { until, type SandboxWorld } from './world.ts'

/** Pids of the host whose command line holds the mark. */
const marked = (mark: string): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      try {
        return pid > 0 && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark)
      } catch {
        return false // ended meanwhile
      }
    })

let marks = 0
/** A number of seconds to sleep that nobody else sleeps. */
const markOf = (): string => `${7_000_000 + (process.pid % 100_000) * 10 + marks++}`

const deniedIn = async (world: SandboxWorld, command: string): Promise<string[]> => {
  const { report } = await world.run(command)
  return (report.denied ?? []).map(({ kind, target, rule, confidence }) => `${confidence} ${kind} ${target} ${rule}`)
}

export const lifecycleRows: readonly SandboxRow[] = [
  {
    title: 'is available, and says by what',
    body: async ({ sandbox }) => {
      const status = await sandbox.status()
      assert.ok(status.available, JSON.stringify(status))
      assert.ok(status.runner.length > 0 && status.version.length > 0)
    },
  },
  {
    title: 'refuses to confine what nothing is taken from',
    body: async (world) => {
      const policy = { mode: 'danger-full-access', network: 'open' } as const
      await assert.rejects(world.run('true', { policy }), { code: 'SANDBOX_POLICY_INVALID' })
    },
  },
  {
    title: 'gives back the exit code and the signal of the command itself',
    body: async (world) => {
      const ends = async (command: string): Promise<unknown[]> => {
        const { exitCode, signal } = await world.run(command)
        return [exitCode, signal]
      }
      assert.deepEqual(await ends('exit 42'), [42, null])
      assert.deepEqual(await ends('exit 1'), [1, null])
      assert.deepEqual(await ends('kill -TERM $$'), [null, 'SIGTERM'])
      assert.deepEqual(await ends('kill -KILL $$'), [null, 'SIGKILL'])
      assert.deepEqual(await ends('kill -SEGV $$'), [null, 'SIGSEGV'])
    },
  },
  {
    title: 'tells a runner that failed from a command that did',
    body: async (world) => {
      await assert.rejects(world.run('', { argv: ['/no/such/program'] }), { code: 'SANDBOX_UNAVAILABLE' })
      const ran = await world.run('echo "bwrap: I am not" >&2; exit 1')
      assert.equal(ran.exitCode, 1)
    },
  },
  {
    title: 'gives the command the environment of the request and its temp folder, no more',
    body: async (world) => {
      process.env['DSH_SUITE_SECRET'] = 'secret-key'
      try {
        const ran = await world.run('env; cat /proc/1/environ /proc/self/environ', { env: { ASKED: 'yes' } })
        assert.match(ran.stdout, /^ASKED=yes$/m)
        assert.match(ran.stdout, new RegExp(`^TMPDIR=${world.policy().tempDir}$`, 'm'))
        assert.ok(!ran.stdout.includes('secret-key'))
      } finally {
        delete process.env['DSH_SUITE_SECRET']
      }
    },
  },
  {
    title: 'keeps standard input at its end',
    body: async (world) => assert.equal((await world.run('cat; echo end')).stdout, 'end\n'),
  },
  {
    title: 'hands on no writable descriptor beside the three',
    body: async (world) => {
      const ran = await world.run('for fd in /proc/self/fd/*; do [ "${fd##*/}" -gt 2 ] && readlink $fd; done; true')
      const open = ran.stdout
        .split('\n')
        .filter((line) => line !== '' && line !== '/dev/null' && !line.startsWith('/proc/'))
      assert.deepEqual(open, [])
    },
  },
  {
    title: 'lets the command end politely, and takes the rest with it',
    body: async (world) => {
      const mark = markOf()
      const script = `trap 'echo polite; exit 7' TERM; (setsid sleep ${mark} &) ; echo up; while :; do sleep 0.05; done`
      const ran = await world.run(script, {
        during: async ({ command, stdout }) => {
          await until(() => stdout().includes('up') && command.signalTargets().length > 0 && marked(mark).length > 1)
          for (const group of command.signalTargets()) process.kill(-group, 'SIGTERM')
        },
      })
      assert.equal(ran.stdout, 'up\npolite\n')
      assert.equal(ran.exitCode, 7)
      await until(() => marked(mark).length === 0)
    },
  },
  {
    title: 'leaves no daemon behind, however the command ends',
    body: async (world) => {
      const mark = markOf()
      await world.run(`setsid nohup sleep ${mark} >/dev/null 2>&1 & (sleep ${mark} >/dev/null 2>&1 &) ; exit 0`)
      await until(() => marked(mark).length === 0)
      await world.run(`setsid sleep ${mark} & echo up; sleep ${mark}`, {
        during: async ({ child, stdout }) => {
          await until(() => stdout().includes('up'))
          child.kill('SIGKILL')
        },
      })
      await until(() => marked(mark).length === 0)
    },
  },
  {
    title: 'takes the command with a harness that is killed',
    body: async (world) => {
      const mark = markOf()
      const policy = world.policy()
      const command = await world.sandbox.confine({
        argv: ['/bin/bash', '-c', `setsid sleep ${mark} & echo up; sleep ${mark}`],
        workdir: world.ws,
        env: { PATH: '/usr/bin:/bin' },
        policy,
      })
      // A parent in between stands for the harness: it starts the runner and is killed.
      const starter = ['-c', '"$@" & wait', 'sh', ...command.argv]
      const stdio = ['ignore', 'pipe', 'ignore', ...command.extraStdio] as const
      const harness = spawn('/bin/sh', starter, { env: command.env, stdio: [...stdio] })
      world.onRemove(() => harness.kill('SIGKILL'))
      command.observe(harness.stdio.slice(3) as (NodeJS.ReadableStream | null)[])
      let said = ''
      harness.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()))
      await until(() => said.includes('up'))
      harness.kill('SIGKILL')
      await until(() => marked(mark).length === 0)
      command.release()
    },
  },
  {
    title: 'runs two sessions with their own workspaces, networks and temp folders at once',
    body: async (world) => {
      const other = join(world.folder, 'other')
      mkdirSync(other)
      const theirs = { sessionId: 'two', root: other, mode: 'workspace-write', network: 'open' } as const
      const script = (mine: string, foreign: string, temp: string): string =>
        `echo ${mine} > file; echo x > ${foreign}/file; echo ${mine} > $TMPDIR/own; cat ${temp}/own; wc -l < /proc/net/dev; sleep 0.1`
      const [one, two] = await Promise.all([
        world.run(script('one', other, world.policy(theirs).tempDir)),
        world.run(script('two', world.ws, world.policy().tempDir), { policy: theirs }),
      ])
      assert.deepEqual([world.read(join(world.ws, 'file')), world.read(join(other, 'file'))], ['one\n', 'two\n'])
      assert.ok(!one.stdout.includes('two') && !two.stdout.includes('one'))
      assert.equal(one.stdout.trim(), '3')
      const listing = await world.run(`ls ${join(world.policy().tempDir, '..')}; ls ${world.policy(theirs).tempDir}`)
      assert.equal(listing.stdout, '')
    },
  },
  {
    title: 'accepts a workspace whose path is a link once it is resolved, and one with odd names',
    body: async (world) => {
      const odd = join(world.folder, 'a b\n"c" ü')
      mkdirSync(odd)
      symlinkSync(odd, join(world.folder, 'alias'))
      const ran = await world.run('echo in > file; pwd', { policy: { root: odd } })
      assert.equal(ran.stdout, `${odd}\n`)
      assert.equal(world.read(join(world.folder, 'alias/file')), 'in\n')
    },
  },
  {
    title: 'keeps a session’s temp folder for its owner alone, and removes it with the session',
    body: async (world) => {
      const { tempDir } = world.policy()
      assert.equal(statSync(tempDir).mode & 0o777, 0o700)
      await world.run('mkdir -p "$TMPDIR/a/b"; echo x > "$TMPDIR/a/b/c"; chmod 000 "$TMPDIR/a"')
      await world.sandbox.forget('one')
      assert.ok(!existsSync(tempDir))
      assert.equal((await world.run('echo again')).stdout, 'again\n')
    },
  },
  {
    title: 'goes on when a protected folder is removed or made between two calls',
    body: async (world) => {
      world.put('.vscode/settings.json', '{}')
      assert.equal((await world.run('echo a')).stdout, 'a\n')
      const { rmSync } = await import('node:fs')
      rmSync(join(world.ws, '.vscode'), { recursive: true })
      assert.equal((await world.run('echo b')).stdout, 'b\n')
      mkdirSync(join(world.ws, '.claude'), { recursive: true })
      writeFileSync(join(world.ws, '.claude/x'), 'theirs')
      await world.run('echo x > .claude/x; true')
      assert.equal(world.read(join(world.ws, '.claude/x')), 'theirs')
      await world.sandbox.forget('one')
      assert.deepEqual(readdirSync(world.ws), ['.claude'])
    },
  },
  {
    title: 'starts in a folder of the host under /tmp, and in the session’s own',
    body: async (world) => {
      await world.run('mkdir /tmp/mine')
      assert.equal((await world.run('pwd', { workdir: '/tmp' })).stdout, '/tmp\n')
      assert.equal((await world.run('pwd', { workdir: '/tmp/mine' })).stdout, '/tmp/mine\n')
    },
  },
  {
    title: 'runs a command for a terminal without descriptors beside the three',
    body: async (world) => {
      const ran = await world.run('grep Seccomp: /proc/self/status; exit 7', {
        terminal: true,
        during: async ({ command }) => assert.deepEqual(command.extraStdio, []),
      })
      assert.match(ran.stdout, /Seccomp:\s*2/)
      assert.equal(ran.exitCode, 7)
      const missing = world.run('', { argv: ['/no/such/program'], terminal: true })
      await assert.rejects(missing, { code: 'SANDBOX_UNAVAILABLE' })
    },
  },
  {
    title: 'reports a denied write and read with the rule, and no failure of another kind',
    body: async (world) => {
      world.repository('.')
      assert.deepEqual(await deniedIn(world, `echo x > ${world.outside}/new`), [
        `confirmed write ${world.outside}/new outside-writable-roots`,
      ])
      assert.deepEqual(await deniedIn(world, 'echo x > .git/hooks/x'), [
        `confirmed write ${world.ws}/.git/hooks/x protected-path`,
      ])
      assert.deepEqual(await deniedIn(world, `cat ${world.secret}/key`), [
        `confirmed read ${world.secret}/key denied-read`,
      ])
      assert.deepEqual(await deniedIn(world, 'cat missing; false'), [])
    },
  },
]
