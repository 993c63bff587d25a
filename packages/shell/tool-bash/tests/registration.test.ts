// How often the bash tool is registered while the services around it come and go.
import { createHost, disposeAndJoin, Service, type Context } from '@deepseek-ai/cordis'
import { ToolRegistry } from '@deepseek-ai/dsh-tools'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import * as toolBash from '../src/index.ts'

const OPTIONAL = ['jobs', 'approval', 'sandboxPolicy', 'spill'] as const

/** A service of this name that offers nothing: the tool asks at registration only whether it is there. */
function offering(name: string, more: object = {}) {
  return class extends Service {
    static override readonly name = `fake-${name}`
    constructor(ctx: Context) {
      super(ctx, name)
      Object.assign(this, more)
    }
  }
}

const FakeShell = offering('shell', { dialect: 'bash', sandboxMode: 'read-only' })

let host: ReturnType<typeof createHost>
beforeEach(() => {
  host = createHost()
})
afterEach(async () => {
  await host.dispose()
  vi.restoreAllMocks()
})

const parameters = (): string[] => {
  const bash = host.ctx.tools.schemas().find(({ name }) => name === 'bash')
  return Object.keys(bash?.parameters.properties ?? {})
}

describe('the registration of the bash tool', () => {
  it.each([
    ['before the tool', false],
    ['after it, in one tick', true],
  ])('happens once for all services that are there %s, and not once for each', async (_, late) => {
    await host.ctx.plugin(ToolRegistry)
    await host.ctx.plugin(FakeShell)
    const register = vi.spyOn(ToolRegistry.prototype, 'register')
    const start = () => OPTIONAL.map((name) => host.ctx.plugin(offering(name)))
    if (!late) await Promise.all(start())
    const tool = host.ctx.plugin(toolBash)
    if (late) await tool
    if (late) await Promise.all(start())
    await tool
    await vi.waitFor(() => expect(parameters()).toEqual(expect.arrayContaining(['run_in_background', 'justification'])))
    expect(register.mock.calls.length).toBe(late ? 2 : 1)
  })

  it('follows each later change, and ends with the plugin', async () => {
    await host.ctx.plugin(ToolRegistry)
    await host.ctx.plugin(FakeShell)
    const tool = await host.ctx.plugin(toolBash)
    expect(parameters()).not.toContain('run_in_background')
    for (let round = 0; round < 2; round++) {
      const jobs = await host.ctx.plugin(offering('jobs'))
      await vi.waitFor(() => expect(parameters()).toContain('run_in_background'))
      await disposeAndJoin(jobs)
      await vi.waitFor(() => expect(parameters()).not.toContain('run_in_background'))
    }
    await disposeAndJoin(tool)
    expect(host.ctx.tools.schemas().map(({ name }) => name)).not.toContain('bash')
  })
})
