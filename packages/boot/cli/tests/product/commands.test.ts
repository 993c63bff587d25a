// The words of the command line: input, output, flags and exit codes of each command, as a script meets them.
import { compose } from '@deepseek-ai/dsh-loader'
import { startMockLlm } from '@deepseek-ai/dsh-llm-mock'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { GREET_PATCH, GREET_PLUGIN, World } from './harness.ts'

let world: World
beforeAll(() => {
  world = new World()
  world.write(GREET_PLUGIN)
})
afterAll(() => world.remove())

const TASK = 'Use the greet tool to greet Ada.'
const greeted = { code: 0, stdout: 'Hello, Ada!\n', stderr: '' }

describe('dsh run', () => {
  it('takes the task from standard input, with and without the dash', async () => {
    expect(await world.dsh(['run', ...GREET_PATCH], { input: `${TASK}\n` })).toMatchObject(greeted)
    expect(await world.dsh(['run', '-', ...GREET_PATCH], { input: TASK })).toMatchObject(greeted)
  })

  it('never waits for standard input when the task is a word', async () => {
    expect(await world.dsh(['run', TASK, ...GREET_PATCH], { input: { open: true } })).toMatchObject(greeted)
    const call = await world.dsh(['call', 'greet', '{"name":"Ada"}', ...GREET_PATCH], { input: { open: true } })
    expect(call).toMatchObject(greeted)
  })

  it('refuses an empty task', async () => {
    const refused = { code: 2, stdout: '', stderr: 'dsh: the task is empty\n' }
    expect(await world.dsh(['run'])).toMatchObject(refused)
    expect(await world.dsh(['run', '  '])).toMatchObject(refused)
  })

  it('prints answer, outcome, calls, model and token use as one line of JSON', async () => {
    const { code, stdout, stderr } = await world.dsh(['run', TASK, '--json', ...GREET_PATCH])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.trimEnd().split('\n')).toHaveLength(1)
    const told = JSON.parse(stdout) as { session: string }
    expect(told).toEqual({
      session: expect.stringMatching(/^[\w-]+$/),
      model: { provider: 'offline', model: 'offline' },
      answer: 'Hello, Ada!',
      reason: { kind: 'completed' },
      calls: [{ name: 'greet', isError: false }],
      usage: { input: expect.any(Number), output: expect.any(Number) },
    })
    const log = readFileSync(`${world.home}/sessions/${told.session}.jsonl`, 'utf8')
    expect(
      log
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { type: string }).type),
    ).toContain('tool/result')
  })

  it('works in the folder that --cwd names, while patches count from where the command was typed', async () => {
    mkdirSync(world.file('elsewhere'), { recursive: true })
    const pwd = ['call', 'bash', '{"command":"pwd","description":"Show the folder"}']
    const moved = await world.dsh([...pwd, '--cwd', 'elsewhere', ...GREET_PATCH])
    expect(moved).toMatchObject({ code: 0, stdout: `${world.file('elsewhere')}\n`, stderr: '' })
    const missing = await world.dsh([...pwd, '--cwd', './nowhere'])
    expect(missing).toMatchObject({ code: 2, stdout: '' })
    expect(missing.stderr).toContain(`--cwd ./nowhere: there is no such folder (looked for ${world.file('nowhere')})`)
  })

  it('sends the task to the model that --model names', async () => {
    const model = await startMockLlm()
    const env = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'sk-test' }
    const named = await world.dsh(['run', 'Say hi', '--model', 'openai/some-model', '--json'], { env })
    expect(JSON.parse(named.stdout)).toMatchObject({
      model: { provider: 'openai', model: 'some-model' },
      answer: 'You said: Say hi',
      usage: { input: expect.any(Number), output: expect.any(Number) },
    })
    expect(model.requests.map(({ body }) => body['model'])).toEqual(['some-model'])
    const offline = await world.dsh(['run', TASK, '--model', 'offline', ...GREET_PATCH], { env })
    expect(offline).toMatchObject(greeted)
    expect(model.requests).toHaveLength(1)
    await model.close()

    const unknown = await world.dsh(['run', 'hi', '--model', 'nope'])
    expect(unknown).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^dsh: UNKNOWN_MODEL: .*offline/),
    })
  })
})

describe('dsh call', () => {
  it('prints the value as JSON or the text a model reads, and takes arguments from standard input', async () => {
    expect(
      await world.dsh(['call', 'greet', '-', '--json', ...GREET_PATCH], { input: '{"name":"Ada"}' }),
    ).toMatchObject({
      code: 0,
      stdout: '"Hello, Ada!"\n',
      stderr: '',
    })
    const failed = await world.dsh(['call', 'greet', '{"name":1}', '--json', ...GREET_PATCH])
    expect(failed.code).toBe(2)
    expect(JSON.parse(failed.stdout)).toMatchObject({ error: { code: 'INVALID_ARGS' } })
    expect(failed.stderr).toMatch(/^dsh: greet: INVALID_ARGS: .*name/)
  })

  it.concurrent.each([
    ['{"name":"Ada"', /the arguments are not JSON: .*\(got \{"name":"Ada"\)/],
    ['["Ada"]', /the arguments must be a JSON object such as \{"name":"Ada"\} \(got \["Ada"\]\)/],
    ['null', /must be a JSON object/],
    ['{}', /INVALID_ARGS: invalid arguments: missing required property "name"/],
  ])('refuses the arguments %s as a mistake of usage', async (args, message) => {
    const refused = await world.dsh(['call', 'greet', args, ...GREET_PATCH])
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(message) })
  })

  it('names the tools there are when one is unknown', async () => {
    const refused = await world.dsh(['call', 'grete', ...GREET_PATCH])
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toMatch(/^dsh: grete: UNKNOWN_TOOL: unknown tool "grete"; there are bash, .*\bgreet\b.*\n$/)
  })

  it('ends quietly when its reader has seen enough', async () => {
    const run = world.start(['tools', 'show', 'bash'])
    run.child.stdout!.destroy()
    expect(await run.ended).toMatchObject({ code: 0, stderr: '' })
  })
})

describe('dsh tools', () => {
  it('lists names and first lines, or the schemas as JSON', async () => {
    const { stdout } = await world.dsh(['tools', 'list', ...GREET_PATCH])
    expect(stdout).toMatch(/^bash +Runs a command .*$/m)
    expect(stdout).toMatch(/^greet +Greet a person by name\.$/m)
    expect(await world.dsh(['tools', ...GREET_PATCH])).toMatchObject({ code: 0, stdout })
    const listed = await world.dsh(['tools', 'list', '--json', ...GREET_PATCH])
    const schemas = JSON.parse(listed.stdout) as { name: string; parameters: unknown }[]
    expect(schemas).toHaveLength(stdout.trimEnd().split('\n').length)
    expect(schemas.find(({ name }) => name === 'greet')).toEqual({
      name: 'greet',
      description: 'Greet a person by name.',
      parameters: expect.objectContaining({ type: 'object', required: ['name'] }),
    })
  })

  it('shows one tool with the schema of its value', async () => {
    const { stdout } = await world.dsh(['tools', 'show', 'greet', ...GREET_PATCH])
    expect(JSON.parse(stdout)).toMatchObject({ name: 'greet', output: { type: 'string' } })
    const unknown = await world.dsh(['tools', 'show', 'nope'])
    expect(unknown).toMatchObject({ code: 2, stdout: '' })
    expect(unknown.stderr).toMatch(/^dsh: there is no tool "nope"; there are .*\bbash\b.*\n$/)
  })
})

describe('a preset of one’s own', () => {
  it('is a file in the home folder that begins with another preset, and may have its name', async () => {
    const own = (name: string, text: string): void => {
      mkdirSync(join(world.home, 'presets'), { recursive: true })
      writeFileSync(join(world.home, 'presets', `${name}.yml`), text)
    }
    const plugin = world.file('scratch-plugin/src/my-plugin.ts')
    own('mine', `- include: headless\n- { name: ${JSON.stringify(plugin)} }\n- { id: tool-bash, disabled: true }\n`)
    const greeted = await world.dsh(['call', 'greet', '{"name":"Ada"}', '--preset', 'mine'])
    expect(greeted).toMatchObject({ code: 0, stdout: 'Hello, Ada!\n', stderr: '' })
    expect((await world.dsh(['tools', '--preset', 'mine'])).stdout).not.toMatch(/^bash /m)
    own('headless', '- include: headless\n- { id: tool-bash, disabled: true }\n')
    expect((await world.dsh(['tools'])).stdout).not.toMatch(/^bash /m)
    rmSync(join(world.home, 'presets'), { recursive: true })
    expect((await world.dsh(['tools'])).stdout).toMatch(/^bash /m)
    const unknown = await world.dsh(['tools', '--preset', 'mine'])
    expect(unknown).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/unknown preset "mine"; known: web, headless/),
    })
  })
})

describe('dsh config explain', () => {
  it('says which file, line or flag has the last word on each field', async () => {
    world.write({ 'explain.yml': '- id: sandbox-policy\n  config+: { network: none }\n' })
    const { code, stdout } = await world.dsh([
      'config',
      'explain',
      'sandbox-policy',
      '--patch',
      'explain.yml',
      '--permission',
      'read-only',
    ])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^sandbox-policy {2}@deepseek-ai\/dsh-sandbox\n {2}written at \S+base\.yml:\d+\n/)
    expect(stdout).toMatch(/^ {2}config\.network: "none" +\S+explain\.yml:1$/m)
    expect(stdout).toMatch(/^ {2}config\.mode: "read-only" +the command line$/m)
  })

  it('says why a row is left out, and which there are', async () => {
    const skipped = process.platform === 'win32' ? 'tool-bash' : 'tool-pwsh'
    expect((await world.dsh(['config', 'explain', skipped])).stdout).toMatch(/left out here: only on /)
    const unknown = await world.dsh(['config', 'explain', 'nope'])
    expect(unknown).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/"nope"; there are .*tools/) })
  })
})

describe('dsh config dump', () => {
  it('prints YAML that composes to the same rows, and can be given back as a patch', async () => {
    const { code, stdout, stderr } = await world.dsh(['config', 'dump', ...GREET_PATCH])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const rows = parse(stdout) as { id: string; name: string; config?: unknown; required?: boolean }[]
    expect(rows.map(({ id }) => id)).toEqual(
      expect.arrayContaining([
        'tools',
        'sessions',
        'agents',
        'offline',
        'shell',
        'tool-bash',
        'server',
        'page',
        'my-plugin',
      ]),
    )
    expect(rows.find(({ id }) => id === 'my-plugin')).toEqual({
      id: 'my-plugin',
      name: world.file('scratch-plugin/src/my-plugin.ts'),
      required: false,
    })
    world.write({ 'dumped.yml': stdout })
    const composed = compose({ presets: [world.file('dumped.yml')], env: {}, cwd: world.path, home: world.home })
    expect(composed.rows.map(({ id, name, config, required }) => ({ id, name, config, required }))).toEqual(
      rows.map(({ id, name, config, required = true }) => ({ id, name, config, required })),
    )

    const again = await world.dsh(['config', 'dump', '--patch', 'dumped.yml'])
    expect(parse(again.stdout)).toEqual(rows)
    world.write({ 'free.yml': '- id: server\n  config+: { port: 0 }\n' })
    const flags = ['--preset', 'web', '--patch', 'dumped.yml', '--patch', 'free.yml']
    expect(await world.dsh(['call', 'greet', '{"name":"Ada"}', ...flags])).toMatchObject(greeted)
  })

  it('never prints a key', async () => {
    world.write({ 'key.yml': '- id: openai\n  config+: { apiKey: "${env.OPENAI_API_KEY}" }\n' })
    const env = { OPENAI_API_KEY: 'sk-very-secret' }
    const { code, stdout } = await world.dsh(['config', 'dump', '--patch', 'key.yml'], { env })
    expect(code).toBe(0)
    expect(stdout).not.toContain('sk-very-secret')
    expect(stdout).toContain('${env.OPENAI_API_KEY}')
  })
})

describe('patches', () => {
  it('apply in the order they are given, so that a later one wins', async () => {
    world.write({
      'say.mjs': `import { defineTool } from '@deepseek-ai/dsh-tools'
        export const inject = ['tools']
        export const apply = (ctx, config) => void ctx.tools.register(defineTool({
          name: 'say', description: 'Say it.', parameters: {},
          output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value }] },
          execute: () => config.first + ' ' + config.second,
        }))`,
      'a.yml': '- { id: say, name: ./say.mjs, config: { first: one, second: two } }\n',
      'b.yml': '- { id: say, config+: { second: three } }\n',
      'c.yml': '- { id: say, config+: { second: four } }\n',
    })
    const say = (...files: string[]) => world.dsh(['call', 'say', ...files.flatMap((file) => ['--patch', file])])
    expect(await say('a.yml')).toMatchObject({ code: 0, stdout: 'one two\n' })
    expect(await say('a.yml', 'b.yml', 'c.yml')).toMatchObject({ code: 0, stdout: 'one four\n' })
    expect(await say('a.yml', 'c.yml', 'b.yml')).toMatchObject({ code: 0, stdout: 'one three\n' })
  })
})

describe('help and mistakes', () => {
  it.concurrent.each(['', 'web', 'run', 'call', 'tools', 'tools list', 'tools show', 'config', 'config dump'])(
    'shows examples in the help of "dsh %s"',
    async (command) => {
      const words = command === '' ? [] : command.split(' ')
      const { code, stdout, stderr } = await world.dsh([...words, '--help'])
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).toContain(`Usage: dsh ${command}`.trimEnd())
      expect(stdout).toMatch(/Examples:\n {2}\$ .*dsh /)
    },
  )

  it('prints its version', async () => {
    expect(await world.dsh(['--version'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    })
  })

  it.concurrent.each([
    [['bogus'], /unknown command 'bogus'/],
    [['call', 'greet', '--bogus'], /unknown option '--bogus'/],
    [['run', 'hi', '--patch'], /'--patch <file>' argument missing/],
    [['web', '--port', '70000'], /A port is a whole number from 0 to 65535/],
    [['web', '--port', 'http'], /A port is a whole number/],
    [['call'], /missing required argument 'tool'/],
    [['tools', 'list', '--ready-timeout', '0'], /A time is a whole number of milliseconds, above 0/],
    [['tools', 'list', '--log', 'loud'], /Allowed choices are error, warn, info, debug/],
    [['tools', 'list', '--preset', 'wob'], /unknown preset "wob"; known: web, headless/],
  ])('answers %j with a message, a pointer to help and exit code 2', async (words, message) => {
    const refused = await world.dsh(words)
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(message) })
    expect(refused.stderr).not.toMatch(/^\s+at /m)
  })
})
