// Which policy a session's calls run under. HOME and the working folder are the test's own.
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHost, type Host } from '@deepseek-ai/cordis'
import { SandboxPolicyService, type SandboxPolicyConfig } from '@deepseek-ai/dsh-sandbox'
import { Sessions } from '@deepseek-ai/dsh-session'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let folder: string
let host: Host

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-policy-')))
  for (const name of ['home/project', 'home/.ssh', 'sessions', 'more'])
    mkdirSync(join(folder, name), { recursive: true })
  process.env['HOME'] = join(folder, 'home')
  process.env['DSH_HOME'] = join(folder, 'home/.dsh')
})

afterEach(async () => {
  await host.dispose()
  rmSync(folder, { recursive: true })
})

const start = async (config: Partial<SandboxPolicyConfig> = {}): Promise<SandboxPolicyService> => {
  host = createHost()
  await host.ctx.plugin(Sessions, { dir: join(folder, 'sessions') })
  await host.ctx.plugin(SandboxPolicyService, config)
  return host.ctx.sandboxPolicy
}

const open = (cwd = join(folder, 'home/project')) => host.ctx.sessions.create({ cwd })

describe('the policy of a call', () => {
  it('is workspace-write with an open network by default, in the session’s folder', async () => {
    const policies = await start()
    const session = await open()
    const policy = await policies.resolve({ session })
    expect(policy).toMatchObject({
      mode: 'workspace-write',
      network: 'open',
      root: join(folder, 'home/project'),
      writableRoots: [],
      sessionId: session.id,
      nestedNamespaces: false,
    })
    expect(existsSync(policy.tempDir)).toBe(true)
    expect((await policies.resolve({ session })).tempDir).toBe(policy.tempDir)
    await host.ctx.sessions.delete(session.id)
    expect(existsSync(policy.tempDir)).toBe(false)
  })

  it('denies credentials and the harness’s own, not its sessions and spill', async () => {
    const policies = await start({ deniedReads: ['~/private', '/etc/shadow'] })
    const { deniedReads } = await policies.resolve({ session: await open() })
    const home = join(folder, 'home')
    for (const path of ['.ssh', '.aws', '.npmrc', '.dsh/providers.json', '.dsh/server.json', 'private']) {
      expect(deniedReads).toContain(join(home, path))
    }
    expect(deniedReads).toContain('/etc/shadow')
    const policy = await policies.resolve({ session: await open() })
    expect(policies.judge(join(home, '.dsh/sessions/x.jsonl'), 'read', policy)).toEqual({ allowed: true })
    expect(policies.judge(join(home, '.dsh/spill/x'), 'read', policy)).toEqual({ allowed: true })
    expect(policies.judge(join(home, '.ssh/id_rsa'), 'read', policy)).toEqual({ allowed: false, rule: 'denied-read' })
  })

  it.each(['home', '.'])('refuses to write a workspace at or above the home folder: %s', async (name) => {
    const policies = await start()
    const session = await open(join(folder, name))
    await expect(policies.resolve({ session })).rejects.toMatchObject({
      code: 'SANDBOX_POLICY_INVALID',
      message: expect.stringContaining('work in a folder below') as string,
    })
    expect((await policies.resolve({ session, mode: 'read-only' })).mode).toBe('read-only')
    expect((await policies.resolve({ session, mode: 'danger-full-access' })).mode).toBe('danger-full-access')
  })

  it('resolves further roots and refuses those that are missing or hold the home folder', async () => {
    const policies = await start({ writableRoots: [join(folder, 'more'), '~/project'] })
    const { writableRoots } = await policies.resolve({ session: await open() })
    expect(writableRoots).toEqual([join(folder, 'more'), join(folder, 'home/project')])
    await host.dispose()
    for (const root of [join(folder, 'gone'), '/']) {
      const others = await start({ writableRoots: [root] })
      await expect(others.resolve({ session: await open() })).rejects.toMatchObject({ code: 'SANDBOX_POLICY_INVALID' })
      await host.dispose()
    }
  })

  it('without a session is the host’s, in the working folder', async () => {
    const policies = await start({ mode: 'read-only', network: 'none' })
    expect(await policies.resolve({})).toMatchObject({ mode: 'read-only', network: 'none', sessionId: 'host' })
  })

  it('names a workspace that is gone', async () => {
    const policies = await start()
    const session = await open()
    rmSync(join(folder, 'home/project'), { recursive: true })
    await expect(policies.resolve({ session })).rejects.toMatchObject({
      code: 'SANDBOX_POLICY_INVALID',
      message: expect.stringContaining('home/project') as string,
    })
  })
})

describe('the mode of a session', () => {
  it('is logged, holds for later calls, and outlives the host', async () => {
    const policies = await start()
    const session = await open()
    expect(await policies.modeOf(session)).toBe('workspace-write')
    await policies.setMode(session, 'read-only')
    expect(await policies.modeOf(session)).toBe('read-only')
    expect((await policies.resolve({ session })).mode).toBe('read-only')
    expect((await policies.resolve({ session, mode: 'workspace-write' })).mode).toBe('workspace-write')
    const { id } = session
    await host.dispose()
    const others = await start()
    expect(await others.modeOf(await host.ctx.sessions.open(id))).toBe('read-only')
  })

  it('does not spread to other sessions, and must be one', async () => {
    const policies = await start()
    const [one, two] = [await open(), await open()]
    await policies.setMode(one, 'danger-full-access', 'host')
    expect(await policies.modeOf(two)).toBe('workspace-write')
    await expect(policies.setMode(two, 'all' as never)).rejects.toMatchObject({ code: 'SANDBOX_MODE_INVALID' })
    expect(await policies.modeOf(two)).toBe('workspace-write')
  })
})

describe('the configuration', () => {
  it.each([
    [{ mode: 'all' }, /mode is "all"; expected one of read-only, workspace-write, danger-full-access/],
    [{ network: 'some' }, /network is "some"/],
    [{ writableRoots: ['relative'] }, /writableRoots.*absolute/],
    [{ allowedHosts: 'x' }, /allowedHosts/],
    [{ netwrk: 'none' }, /unknown field "netwrk"/],
  ])('%j is refused by name', async (config, message) => {
    host = createHost()
    await expect(host.ctx.plugin(SandboxPolicyService, config as never)).rejects.toThrow(message)
  })
})
