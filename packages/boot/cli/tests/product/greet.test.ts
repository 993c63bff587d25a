// The tutorial: a tool in a TypeScript file and a yml that names it, called from the command line and by an agent.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkout, GREET_PATCH, GREET_PLUGIN, World } from './harness.ts'

// As the authoring reference has it, byte for byte.
const READ_FILE = `import { readFile } from 'node:fs/promises'
import type { Context } from '@deepseek-ai/cordis'
import { defineTool } from '@deepseek-ai/dsh-tools'

export const name = 'my-tool'
export const inject = ['tools']

export function apply(ctx: Context) {
  ctx.tools.register(defineTool({
    name: 'read_file',
    description: 'Read a file from disk.',          // what the model sees
    parameters: {
      path: { type: 'string', required: true, description: 'Absolute path' },
      limit: { type: 'number' },                     // optional by default
    },
    output: {
      schema: { type: 'string' },
      render: (_args, value) => [{ type: 'text', text: value }],
    },
    async execute(args, exec) {
      // args is TYPED from the schema: { path: string; limit?: number }
      // exec carries immutable identity + token; signal is the operational field
      return readFile(args.path, { encoding: 'utf8', signal: exec.signal })
    },
  }))
}
`

// The script would install first what is not installed; a test must not.
const { isInstalled } = (await import(pathToFileURL(join(checkout, 'scripts/bootstrap.mjs')).href)) as {
  isInstalled: () => boolean
}

const SENTENCE = 'Use the greet tool to greet Ada.'
const done = (stdout: string) => ({ code: 0, stdout, stderr: '' })

describe.each([
  ['elsewhere', undefined],
  ['inside the checkout', checkout],
])('the greet plugin in a folder %s', (_where, parent) => {
  let world: World
  beforeAll(() => {
    world = new World(parent)
    world.write(GREET_PLUGIN)
  })
  afterAll(() => world.remove())

  it('is called from the command line', async () => {
    expect(await world.dsh(['call', 'greet', '{"name":"Ada"}', ...GREET_PATCH])).toMatchObject(done('Hello, Ada!\n'))
  })

  it('is used by the agent when asked in a sentence, with no key', async () => {
    expect(await world.dsh(['run', SENTENCE, ...GREET_PATCH])).toMatchObject(done('Hello, Ada!\n'))
  })

  it.skipIf(!isInstalled())(
    'is found from where npm or pnpm was typed (needs an install that matches the lockfile)',
    async () => {
      const env = { npm_lifecycle_event: 'dsh', INIT_CWD: world.path }
      // Package managers run a script in the folder of its package.
      const options = { env, cwd: checkout, script: join(checkout, 'scripts/dsh.mjs') }
      const call = await world.dsh(['call', 'greet', '{"name":"Ada"}', ...GREET_PATCH], options)
      expect(call).toMatchObject(done('Hello, Ada!\n'))
      expect(await world.dsh(['run', SENTENCE, ...GREET_PATCH], options)).toMatchObject(done('Hello, Ada!\n'))
    },
  )
})

describe('tools of other shapes', () => {
  let world: World
  beforeAll(() => {
    world = new World()
  })
  afterAll(() => world.remove())

  it('runs the read_file sample of the authoring reference as it stands there', async () => {
    world.write({ 'my-tool.ts': READ_FILE, 'cordis.yml': '- name: ./my-tool.ts\n', 'data.txt': 'one\r\ntwo é 😀\n' })
    const args = JSON.stringify({ path: world.file('data.txt') })
    const patch = ['--patch', 'cordis.yml']
    expect(await world.dsh(['call', 'read_file', args, ...patch])).toMatchObject(done('one\r\ntwo é 😀\n'))
    const missing = await world.dsh(['call', 'read_file', JSON.stringify({ path: world.file('nowhere') }), ...patch])
    expect(missing).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/read_file: TOOL_FAILED: ENOENT/),
    })
  })

  it('gives the exit code of a command as a fact, not as a failure', async () => {
    const result = await world.dsh(['call', 'bash', '{"command":"echo hi; exit 3","description":"say hi"}', '--json'])
    expect(result).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(result.stdout)).toMatchObject({ exitCode: 3, timedOut: false, stdout: { text: 'hi\n' } })
  })
})
