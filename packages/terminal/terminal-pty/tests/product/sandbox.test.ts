// Terminals under a policy: what is handed to a sandbox, that nothing runs without one, and real confinement where this machine has it.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createHost, type Context } from '@deepseek-ai/cordis'
import {
  Sandbox,
  SandboxError,
  SandboxPolicyService,
  type ConfineRequest,
  type ConfinedCommand,
} from '@deepseek-ai/dsh-sandbox'
import { Sessions, type Session } from '@deepseek-ai/dsh-session'
import { afterEach, describe, expect, it } from 'vitest'
import { SandboxLocal } from '../../../../sandbox/sandbox-local/src/index.ts'
import { owner, world, type World } from '../world.ts'

let here: World
afterEach(() => here.dispose())

class FakeSandbox extends Sandbox {
  static override readonly name = 'fake-sandbox'
  readonly requests: ConfineRequest[] = []
  released = 0
  runner = 'exec "$@"'
  extraStdio: ConfinedCommand['extraStdio'] = []
  outcome: Error | undefined

  async status() {
    return { available: true, runner: 'fake', version: '1', limits: [] } as const
  }

  async confine(request: ConfineRequest): Promise<ConfinedCommand> {
    this.requests.push(request)
    return {
      argv: ['/bin/sh', '-c', this.runner, 'fake-runner', ...request.argv],
      env: { ...request.env, TMPDIR: '/fake' },
      extraStdio: this.extraStdio,
      observe: () => {},
      signalTargets: () => [],
      finish: async ({ exitCode, signal, stderrTail }) => {
        if (this.outcome !== undefined)
          throw new SandboxError(`${this.outcome.message}: ${stderrTail.trim()}`, 'SANDBOX_UNAVAILABLE')
        return { mode: 'read-only', network: 'none', exitCode, signal, warnings: ['left a hook behind'] }
      },
      release: () => void this.released++,
    }
  }

  temporaryFolder(): string {
    return '/fake'
  }

  async forget(): Promise<void> {}
}

const policy = (mode: string, network = 'none') =>
  ({ mode, network }) as Partial<{ mode: 'read-only'; network: 'none' }>

async function confined(mode: string, plugin?: new (ctx: Context) => Sandbox): Promise<World> {
  here = await world(
    {},
    async (ctx, folder) => {
      await ctx.plugin(Sessions, { dir: join(folder, '.sessions'), fsync: 'never' })
      if (plugin !== undefined) await ctx.plugin(plugin)
      await ctx.plugin(SandboxPolicyService, policy(mode))
    },
    '/var/tmp',
  )
  return here
}

const agent = async ({ ctx, folder }: World) => {
  const session: Session = await ctx.sessions.create({ cwd: folder, ephemeral: true })
  return { session, owner: owner(session.id, { cwd: folder, session }) }
}

describe('a terminal under a policy', () => {
  it('is handed to the sandbox whole, as a terminal, with the policy of its session', async () => {
    await confined('workspace-write', FakeSandbox)
    const { session, owner: whose } = await agent(here)
    const terminal = await here.shell({ owner: whose })
    const sandbox = here.ctx.sandbox as FakeSandbox
    expect(sandbox.requests).toHaveLength(1)
    expect(sandbox.requests.at(0)).toMatchObject({
      argv: [expect.stringMatching(/\/bash$/), '--noprofile', '--norc', '-i'],
      workdir: here.folder,
      terminal: true,
      policy: { mode: 'workspace-write', network: 'none', root: here.folder, sessionId: session.id },
      env: { TERM: 'xterm-256color', DSH_SESSION_ID: session.id },
    })
    expect((await terminal.send({ text: 'echo "$TMPDIR"' })).text).toContain('\n/fake\n')
    await terminal.close()
    expect(sandbox.released).toBe(1)
    await expect.poll(() => here.log.join('\n')).toContain('pty-1: left a hook behind')
  })

  it('is not opened when the runner fails, with what it said', async () => {
    await confined('read-only', FakeSandbox)
    const sandbox = here.ctx.sandbox as FakeSandbox
    sandbox.runner = 'echo "no namespaces here" >&2; exit 1'
    sandbox.outcome = new Error('the sandbox could not be set up')
    const opened = here.open()
    await expect(opened).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
    await expect(opened).rejects.toThrow(/could not be set up: no namespaces here/)
    expect(sandbox.released).toBe(1)
    expect(here.ctx.terminals.list(undefined)).toEqual([])
  })

  it('is not opened without a sandbox, and none runs unconfined', async () => {
    await confined('read-only')
    await expect(here.open()).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
    await expect(here.open()).rejects.toThrow(/no sandbox is there to enforce it; add one/)
  })

  it('is not opened by a sandbox that needs more than a terminal can hand on', async () => {
    await confined('read-only', FakeSandbox)
    const sandbox = here.ctx.sandbox as FakeSandbox
    sandbox.extraStdio = ['pipe']
    await expect(here.open()).rejects.toThrow(/cannot confine terminals/)
    expect(sandbox.released).toBe(1)
  })

  it('takes nothing more once the mode of its session is narrower', async () => {
    await confined('workspace-write', FakeSandbox)
    const { session, owner: whose } = await agent(here)
    const terminal = await here.shell({ owner: whose })
    await terminal.send({ text: 'true' })
    await here.ctx.sandboxPolicy.setMode(session, 'read-only')
    const refused = terminal.send({ text: 'touch x' })
    await expect(refused).rejects.toMatchObject({ code: 'SANDBOX_POLICY_INVALID' })
    await expect(refused).rejects.toThrow(/now read-only.*opened under workspace-write; close it/)
    expect(existsSync(join(here.folder, 'x'))).toBe(false)
    // Waiting runs nothing.
    expect(await terminal.send({ text: '', submit: false })).toMatchObject({ reason: 'stdin-wait' })
    await here.ctx.sandboxPolicy.setMode(session, 'danger-full-access')
    await terminal.send({ text: 'true' })
  })
})

const probing = createHost()
await probing.ctx.plugin(SandboxLocal)
const status = await probing.ctx.sandbox.status()
await probing.dispose()

describe.skipIf(!status.available)('a terminal in the sandbox of this machine', () => {
  it('writes its folder and nothing else, waits, asks, and takes signals', async () => {
    await confined('workspace-write', SandboxLocal)
    const { owner: whose } = await agent(here)
    const terminal = await here.shell({ owner: whose })
    const outside = `/var/tmp/dsh-outside-${process.pid}`
    const { text, reason } = await terminal.send({ text: `echo in > inside; echo out > ${outside}; stty size` })
    expect(reason).toBe('stdin-wait')
    expect(text).toContain('Read-only file system')
    expect(text).toContain('\n40 160\n')
    expect([readFileSync(join(here.folder, 'inside'), 'utf8'), existsSync(outside)]).toEqual(['in\n', false])
    const asked = await terminal.send({ text: `bash -c 'read -rsp "Password: " x; echo; echo "got \${#x}"'` })
    expect(asked.prompt).toEqual({ text: 'Password:', hidden: true })
    terminal.write('hunter2\r', { secret: true })
    expect((await terminal.send({ text: '', submit: false })).text).toContain('got 7\n')
    await terminal.send({ text: 'sleep 1000', timeoutMs: 300 })
    terminal.signal('SIGINT')
    expect(await terminal.send({ text: '', submit: false })).toMatchObject({ reason: 'stdin-wait' })
  })

  it('cannot type into its own terminal by the system call for it, nor see other processes', async () => {
    await confined('workspace-write', SandboxLocal)
    const { owner: whose } = await agent(here)
    const terminal = await here.shell({ owner: whose })
    const { text } = await terminal.send({
      text: `perl -e '$x = "x"; ioctl(STDIN, 0x5412, $x) or print "refused\\n"'; ls -d /proc/[0-9]* | wc -l; ls -l /proc/self/fd`,
    })
    expect(text).toMatch(/\nrefused\n/)
    expect(Number(/\n(\d+)\n/.exec(text)?.[1])).toBeLessThan(10)
    expect(text.match(/ -> (?!\/dev\/pts\/|\/proc\/)/g)).toBeNull()
  })

  it('ends with everything in it, and tells how the command in it ended', async () => {
    await confined('workspace-write', SandboxLocal)
    const { owner: whose } = await agent(here)
    const terminal = await here.shell({ owner: whose })
    await terminal.send({ text: 'setsid sleep 1000 & nohup sleep 1000 >/dev/null 2>&1 &' })
    expect(await terminal.close()).toMatchObject({ survivors: [] })
    const second = await here.shell({ owner: whose })
    expect((await second.send({ text: 'exit 7' })).status).toEqual({ kind: 'exited', exitCode: 7, signal: null })
    await second.close()
    expect(readdirSync(here.folder).filter((name) => !name.startsWith('.'))).toEqual([])
  })
})
