// What a model is told of the policy that its calls run under.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHost, Service, type Context, type Host } from '@deepseek-ai/cordis'
import { SandboxPolicyService, type SandboxPolicyConfig } from '@deepseek-ai/dsh-sandbox'
import { Sessions, type Session } from '@deepseek-ai/dsh-session'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SystemPrompt } from '../../../core/system-prompt/src/index.ts'

function offering(name: string) {
  return class extends Service {
    static override readonly name = `fake-${name}`
    constructor(ctx: Context) {
      super(ctx, name)
    }
  }
}

let folder: string
let host: Host
beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-policy-prompt-')))
  host = createHost()
  await host.ctx.plugin(Sessions, { dir: join(folder, 'sessions') })
  await host.ctx.plugin(SystemPrompt, { identity: false })
})
afterEach(async () => {
  await host.dispose()
  rmSync(folder, { recursive: true })
})

const start = async (config: Partial<SandboxPolicyConfig>, services = ['sandbox']): Promise<void> => {
  for (const name of services) await host.ctx.plugin(offering(name))
  await host.ctx.plugin(SandboxPolicyService, config)
}
const told = (session?: Session): string => {
  const { contexts, system } = host.ctx.systemPrompt.assemble(session === undefined ? {} : { scope: { session } })
  expect(system).toBe('')
  return contexts.map(({ text }) => text).join()
}

describe('what the model is told of the policy', () => {
  it('is the mode, what is protected and the network, in the same bytes each time', async () => {
    await start({ mode: 'workspace-write', network: 'allowlist', allowedHosts: ['B.example', 'a.example'] })
    const text = told()
    expect(text).toMatch(/mode workspace-write\. The workspace and the temporary folder can be written; .*git hooks/)
    expect(text).toMatch(/Credentials .* cannot be read/)
    expect(text).toMatch(/to "a\.example", "b\.example" only; ssh .* do not get through/)
    expect(told()).toBe(text)
  })

  it('says how to ask for more only where somebody can be asked', async () => {
    await start({ mode: 'read-only', network: 'none' })
    expect(told()).toMatch(/mode read-only\. Nothing but .*\nThere is no network\.$/)
    await host.ctx.plugin(offering('approval'))
    expect(told()).toMatch(/sandbox_permissions and a justification: the user is asked\.$/)
  })

  it('follows the mode of the session that asks', async () => {
    await start({ mode: 'workspace-write', network: 'open' })
    const session = await host.ctx.sessions.create({ cwd: folder })
    await host.ctx.sandboxPolicy.modeOf(session)
    expect(told(session)).toMatch(/mode workspace-write/)
    await host.ctx.sandboxPolicy.setMode(session, 'read-only')
    expect(told(session)).toMatch(/mode read-only/)
    expect(told()).toMatch(/mode workspace-write/)
    await host.ctx.sandboxPolicy.setMode(session, 'danger-full-access')
    expect(told(session)).toBe('')
  })

  it('knows the mode of a session before the first step of its agent', async () => {
    await start({ mode: 'workspace-write', network: 'open' })
    const { id } = await host.ctx.sessions.create({ cwd: folder })
    const session = await host.ctx.sessions.open(id)
    await host.ctx.sandboxPolicy.setMode(session, 'read-only')
    expect(told(session)).toBe('')
    const waterfall: (...args: unknown[]) => unknown = host.ctx.waterfall.bind(host.ctx)
    expect(await waterfall('agent/pre-step', { agent: { session } }, () => told(session))).toMatch(/mode read-only/)
  })

  it('is nothing where nothing confines', async () => {
    await start({ mode: 'danger-full-access', network: 'open' })
    expect(told()).toBe('')
  })

  it('is nothing without a sandbox', async () => {
    await start({ mode: 'read-only', network: 'none' }, [])
    expect(told()).toBe('')
  })
})
