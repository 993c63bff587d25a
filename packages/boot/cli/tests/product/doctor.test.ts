// `dsh doctor`: what it says of this machine, and of one that lacks things.
import { mkdirSync, symlinkSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canConfine, World } from './harness.ts'

interface Finding {
  readonly area: string
  readonly state: 'ok' | 'limited' | 'missing'
  readonly fact: string
  readonly remedy?: string
}

let world: World
beforeAll(() => {
  world = new World()
})
afterAll(() => world.remove())

const examine = async (args: string[] = [], env: Record<string, string> = {}) => {
  const { code, stdout, stderr } = await world.dsh(['doctor', '--json', ...args], { env })
  const findings = JSON.parse(stdout) as Finding[]
  return { code, stderr, of: (area: string) => findings.filter((each) => each.area === area) }
}

describe('dsh doctor', () => {
  it.skipIf(!canConfine())('names the runner that it has probed, the mode and what is not held', async () => {
    const { code, stderr, of } = await examine()
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const [policy, runner, ...limits] = of('sandbox')
    expect(policy).toMatchObject({ state: 'ok', fact: 'workspace-write mode, network open' })
    expect(runner).toMatchObject({ state: 'ok', fact: expect.stringMatching(/confines commands \(probed\)$/) })
    expect(limits.every(({ state }) => state === 'limited')).toBe(true)
    expect(of('shell')).toMatchObject([{ state: 'ok', fact: 'bash, confined' }])
    expect(of('plugins')).toMatchObject([{ state: 'ok' }])
  })

  it('prints a line for each finding, remedies below', async () => {
    const { stdout } = await world.dsh(['doctor', '--permission', 'danger-full-access'])
    expect(stdout).toMatch(/^ok {7}machine {2}Node \d+\.\d+\.\d+ on /m)
    expect(stdout).toMatch(/^limited {2}sandbox {2}danger-full-access mode, network open\n +-> .*DSH_PERMISSION/m)
    expect(stdout).toMatch(/^limited {2}models {3}openai is not used\n +-> Set OPENAI_API_KEY/m)
  })

  it('says what to install where nothing can confine, and that commands are refused until then', async () => {
    world.write({ 'no-runner.yml': "- id: sandbox\n  config+: { bwrapPath: '/nonexistent/bwrap' }\n" })
    const { code, of } = await examine(['--patch', 'no-runner.yml', '--permission', 'workspace-write'])
    expect(code).toBe(1)
    expect(of('sandbox')[1]).toMatchObject({
      state: 'missing',
      fact: expect.stringContaining('until then every command is refused'),
      remedy: expect.stringMatching(/install/i),
    })
    const args = JSON.stringify({ command: 'touch ran', description: 'Leave a mark' })
    const refused = await world.dsh(['call', 'bash', args, '--patch', 'no-runner.yml', '--permission', 'read-only'])
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toMatch(/SANDBOX_UNAVAILABLE: .*install/s)
  })

  it('reports a shell that is not there, and a mode that there is not, as what is missing', async () => {
    const bare = world.file('bare-path')
    mkdirSync(bare)
    symlinkSync(process.execPath, `${bare}/node`)
    const without = await examine([], { PATH: bare })
    expect(without.code).toBe(1)
    expect(without.of('shell')).toMatchObject([{ state: 'missing', remedy: expect.stringContaining('install bash') }])
    expect(without.of('plugins')[0]?.fact).toMatch(/^row shell did not start: .*no bash on PATH/)

    const wrong = await examine([], { DSH_PERMISSION: 'full' })
    expect(wrong.code).toBe(1)
    expect(wrong.of('plugins')[0]?.fact).toMatch(/mode is "full"; expected one of read-only, workspace-write/)
  })

  it('says when a composition confines nothing', async () => {
    world.write({
      'bare.yml': ['shell', 'sandbox', 'sandbox-policy', 'terminal-pty', 'tool-terminal', 'tool-fs', 'tool-fs-search']
        .map((id) => `- { id: ${id}, remove: true }\n`)
        .join('')
        .concat("- { id: plain-shell, name: '@deepseek-ai/dsh-bash-local' }\n"),
    })
    const { of } = await examine(['--patch', 'bare.yml'])
    expect(of('sandbox')).toMatchObject([{ state: 'limited', fact: 'this composition confines nothing' }])
    expect(of('shell')).toMatchObject([{ state: 'limited', fact: 'bash, not confined' }])
  })
})
