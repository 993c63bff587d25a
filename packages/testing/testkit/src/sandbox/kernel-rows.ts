// Attempts on the kernel: mounts, namespaces, other processes, devices, and calls that a shell cannot make.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { ENOSYS, EPERM } from './native.ts'
import type { SandboxRow } from './suite.ts'
import { isAlive } from './world.ts'

const answers = (what: string, wanted: string, title = `refuses ${what}`): SandboxRow => ({
  title,
  needs: ['gcc'],
  body: async (world) => {
    const ran = await world.run(`${world.native()} ${what}`)
    assert.equal(ran.stdout, wanted, ran.stderr)
  },
})

const cannotUncover = (title: string, command: string, needs: string[] = []): SandboxRow => ({
  title: `holds against ${title}`,
  needs,
  body: async (world) => {
    world.repository('.')
    const ran = await world.run(`${command}; true`, { env: { WS: world.ws, OUT: world.outside, SECRET: world.secret } })
    assert.ok(!ran.stdout.includes('secret-key'))
    assert.deepEqual(readdirSync(join(world.ws, '.git/hooks')), [])
    assert.equal(world.read(join(world.outside, 'canary')), 'before')
  },
})

const USE = 'echo x > $WS/.git/hooks/x; echo x > $OUT/canary; cat $SECRET/key'

export const kernelRows: readonly SandboxRow[] = [
  {
    title: 'gives no capability, no privilege by setuid, and a filter of system calls',
    body: async (world) => {
      const { stdout } = await world.run('cat /proc/self/status')
      assert.match(stdout, /^CapEff:\s*0+$/m)
      assert.match(stdout, /^CapBnd:\s*0+$/m)
      assert.match(stdout, /^NoNewPrivs:\s*1$/m)
      assert.match(stdout, /^Seccomp:\s*2$/m)
    },
  },
  cannotUncover(
    'umount and remount',
    `umount $WS/.git/hooks; mount -o remount,rw /; mount -o remount,rw,bind $OUT; umount $SECRET; ${USE}`,
  ),
  cannotUncover(
    'a namespace of its own',
    `unshare -Urm sh -c 'umount $SECRET; mount -o remount,rw /; mount --bind /tmp $WS/.git/hooks; ${USE}'`,
    ['unshare'],
  ),
  cannotUncover(
    'a sandbox of its own',
    `bwrap --bind / / --dev /dev sh -c '${USE}'; bwrap --bind $WS/.git /tmp sh -c 'echo x > /tmp/hooks/x'`,
    ['bwrap'],
  ),
  cannotUncover('chroot and pivot', `chroot / sh -c '${USE}'; chroot /proc/1/root sh -c '${USE}'`),
  cannotUncover(
    'the namespaces of the host',
    `nsenter -t 1 -a sh -c '${USE}'; nsenter -t ${process.pid} -m sh -c '${USE}'`,
    ['nsenter'],
  ),
  answers('mount', EPERM),
  answers('umount /tmp', EPERM),
  answers('iouring', ENOSYS, 'refuses io_uring, which makes calls past the filter'),
  {
    title: 'refuses calls by the table of another architecture',
    needs: ['gcc'],
    body: async (world) => {
      const native = world.native()
      // Some kernels end a process that tries; then there is nothing to refuse, and the same happens inside.
      const { signal, stdout } = spawnSync(native, ['int80'], { encoding: 'utf8' })
      const wanted = signal === null ? '-38\n' : ''
      if (signal === null) assert.notEqual(stdout, wanted)
      assert.equal((await world.run(`${native} int80`)).stdout, wanted)
    },
  },
  answers('x32', ENOSYS, 'refuses calls by the x32 table'),
  answers('vsock', EPERM, 'refuses sockets to the hypervisor, which no network namespace holds'),
  answers('packet', EPERM, 'refuses raw packets'),
  answers('key mine', EPERM, 'refuses keys in the user’s keyring'),
  answers('bpf', EPERM),
  answers('perf', EPERM),
  answers('userfaultfd', EPERM),
  answers('pair', '0\n', 'lets connected socket pairs be, which Node talks to its children by'),
  {
    title: 'makes no user namespace, unless the policy says so',
    needs: ['gcc'],
    body: async (world) => {
      const native = world.native()
      assert.notEqual((await world.run(`${native} userns`)).stdout, '0\n')
      const nested = await world.run(`${native} userns`, { policy: { nestedNamespaces: true } })
      assert.equal(nested.stdout, '0\n', nested.stderr)
    },
  },
  {
    title: 'shares no System V memory with the host',
    needs: ['gcc'],
    body: async (world) => {
      const native = world.native()
      const key = String(0x5d500000 + (process.pid & 0xffff))
      const made = spawnSync(native, ['shm-make', key], { encoding: 'utf8' })
      world.onRemove(() => spawnSync(native, ['shm-drop', key]))
      assert.equal(made.stdout, '0\n')
      assert.equal(spawnSync(native, ['shm', key], { encoding: 'utf8' }).stdout, '0\n')
      assert.equal((await world.run(`${native} shm ${key}`)).stdout, '-2\n')
    },
  },
  {
    title: 'sees, signals, traces and reads no process of the host',
    body: async (world) => {
      const canary = world.spawn('/bin/sleep', ['600'])
      const { pid } = canary as { pid: number }
      const ran = await world.run(
        `kill -9 ${pid} ${process.pid}; cat /proc/${process.pid}/environ; ls /proc/${pid}/root; ls /proc | grep -c '^[0-9]'; true`,
      )
      assert.ok(Number(ran.stdout.trim().split('\n').pop()) < 12, ran.stdout)
      assert.ok(isAlive(pid))
      assert.equal(canary.exitCode, null)
    },
  },
  {
    title: 'has no disks, no shared memory and no sockets of the host',
    body: async (world) => {
      const name = `dsh-canary-${process.pid}`
      const ran = await world.run(
        `ls /dev; echo x > /dev/shm/${name}; mknod disk b 254 0; ls /run; head -c 1 /dev/vda; true`,
      )
      assert.ok(!/^(sd|vd|nvme|mem|kmsg)/m.test(ran.stdout), ran.stdout)
      assert.ok(!existsSync(`/dev/shm/${name}`))
      assert.ok(!existsSync(join(world.ws, 'disk')))
    },
  },
  {
    title: 'changes neither the name of the host nor its settings and control groups',
    body: async (world) => {
      const before = [hostname(), readFileSync('/proc/sys/vm/swappiness', 'utf8')]
      await world.run(
        'hostname evil; echo 11 > /proc/sys/vm/swappiness; echo b > /proc/sysrq-trigger; mkdir /sys/fs/cgroup/evil; echo x > /proc/sys/kernel/hostname; true',
      )
      assert.deepEqual([hostname(), readFileSync('/proc/sys/vm/swappiness', 'utf8')], before)
      assert.ok(!existsSync('/sys/fs/cgroup/evil'))
    },
  },
  {
    title: 'types nothing into a terminal that it shares',
    needs: ['gcc', 'script'],
    body: async (world) => {
      const ran = await world.run(`script -qec '${world.native()} type' /dev/null`, { terminal: true })
      assert.equal(ran.stdout.replace(/\r/g, ''), EPERM, ran.stderr)
    },
  },
]
