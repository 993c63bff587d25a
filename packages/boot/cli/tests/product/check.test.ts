// `dsh tools check`: a module's tools against the contract of tools, from the command line.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { World } from './harness.ts'

const plugin = (parts: string): string => `import type { Context } from '@deepseek-ai/cordis'
import { defineTool } from '@deepseek-ai/dsh-tools'

export const name = 'checked'
export const inject = ['tools']

export function apply(ctx: Context) {
${parts}
}
`

const tool = (name: string, more = ''): string => `  ctx.tools.register(defineTool({
    name: '${name}',
    description: 'Greet a person by name.',
    parameters: { name: { type: 'string', required: true, description: 'Who to greet' } },
    output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value }] },
    execute: async (args) => \`Hello, \${args.name}!\`,${more}
  }))`

const IMPURE = `
    presentCall: ({ name }) => ({ card: 'generic', title: \`\${name} \${Date.now()}\` }),`

let world: World
beforeAll(() => {
  world = new World()
  world.write({
    'good.ts': plugin(tool('greet')),
    'bad.ts': plugin(tool('greet', IMPURE)),
    'two.ts': plugin([tool('first'), tool('second')].join('\n')),
    'none.ts': plugin(''),
    'broken.ts': plugin("  throw new Error('no way')"),
    'samples.json': JSON.stringify({ first: [{ name: 'Ada' }], second: [{ name: 'Bob' }] }),
  })
})
afterAll(() => world.remove())

describe('dsh tools check', () => {
  it('passes a tool that keeps the contract, run with made-up arguments when asked', async () => {
    const { code, stdout, stderr } = await world.dsh(['tools', 'check', './good.ts', '--generate'])
    expect(stdout).toMatch(/^greet: \d+ passed, 0 failed, \d+ skipped \(seed 1, .* s\)\n {2}✓ schema-name/)
    expect(stdout).toMatch(/✓ args-valid/)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })

  it('makes nothing up unless asked: a tool may be destructive', async () => {
    const { code, stdout } = await world.dsh(['tools', 'check', './good.ts'])
    expect(stdout).toMatch(/– args-valid .*\n +destructive, and no known-good arguments: give args/)
    expect(code).toBe(0)
  })

  it('fails with the reason and the input for a tool that does not', async () => {
    const { code, stdout } = await world.dsh(['tools', 'check', 'bad.ts', '--args', '{"name":"Ada"}'])
    expect(stdout).toMatch(/✗ presenters-ambient .*\n +presentCall reaches for Date\.now\(\)\n +with \{"name":"Ada"\}/)
    expect(code).toBe(1)
  })

  it('prints reports as JSON, one for each tool that the module adds', async () => {
    const { code, stdout } = await world.dsh(['tools', 'check', './two.ts', '--samples', 'samples.json', '--json'])
    const reports = JSON.parse(stdout) as { tool: string; ok: boolean; checks: { id: string; status: string }[] }[]
    expect(reports.map((report) => [report.tool, report.ok])).toEqual([
      ['first', true],
      ['second', true],
    ])
    expect(reports[0]?.checks.find(({ id }) => id === 'args-valid')?.status).toBe('passed')
    expect(code).toBe(0)
  })

  it('checks a module that the composition has already', async () => {
    const args = ['--args', '{"command":"echo hi","description":"Say hi"}']
    const { code, stdout } = await world.dsh(['tools', 'check', '@deepseek-ai/dsh-tool-bash', ...args])
    expect(stdout).toMatch(/^bash: \d+ passed, 0 failed/)
    expect(code).toBe(0)
  })

  it.each([
    ['a module that is not there', ['./nowhere.ts'], 2, /there is no file .*nowhere\.ts/],
    ['a module without tools', ['./none.ts'], 1, /\.\/none\.ts registered no tool/],
    ['a module that does not start', ['./broken.ts'], 1, /no way[^]*did not start \(see above\)/],
    ['arguments that the schema refuses', ['./good.ts', '--args', '{}'], 2, /greet: args: \{\} does not match/],
    ['arguments that are no JSON', ['./good.ts', '--args', 'Ada'], 2, /--args is not JSON/],
    ['--args for two tools', ['./two.ts', '--args', '{"name":"Ada"}'], 2, /give --samples for first, second/],
    ['samples that are not there', ['./good.ts', '--samples', 'nope.json'], 2, /--samples nope\.json: ENOENT/],
  ])('says what is wrong with %s', async (_what, args, code, message) => {
    const finished = await world.dsh(['tools', 'check', ...args])
    expect(finished.stderr).toMatch(message)
    expect(finished).toMatchObject({ code, stdout: '' })
  })
})
