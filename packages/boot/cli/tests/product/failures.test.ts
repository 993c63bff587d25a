// What goes wrong around the product, and that each costs only itself: a clear message, an exit code, and the rest still works.
import { readFileSync, readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startMockLlm } from '@deepseek-ai/dsh-llm-mock'
import { GREET_PATCH, GREET_PLUGIN, residentMiB, Waiting, World } from './harness.ts'

let world: World
beforeAll(() => {
  world = new World()
  world.write({
    ...GREET_PLUGIN,
    'throws.mjs': "export const name = 'thrower'\nexport function apply() {\n  throw new Error('no luck today')\n}\n",
    'throws.yml': '- name: ./throws.mjs\n',
    'waits.mjs': "export const inject = ['nothingProvidesThis']\nexport function apply() {}\n",
    'waits.yml': '- name: ./waits.mjs\n',
    'never.mjs': 'export async function apply() {\n  await new Promise(() => {})\n}\n',
    'never.yml': '- name: ./never.mjs\n',
    'quick.yml': '- id: agents\n  config+: { maxRetries: 2, retryBaseMs: 1 }\n',
  })
})
afterAll(() => world.remove())

const GREET = ['call', 'greet', '{"name":"Ada"}', ...GREET_PATCH]

describe('a composition that cannot be read', () => {
  it.each([
    ['bad.yml', '- name: [oops\n  x: }\n', /^dsh: COMPOSITION_SYNTAX: \S+bad\.yml:2:3: .+\n$/],
    ['tag.yml', '- name: !!js/function "x"\n', /^dsh: COMPOSITION_SYNTAX: \S+tag\.yml:1:9: .+\n$/],
    ['empty.yml', '', /^dsh: COMPOSITION_INVALID: \S+empty\.yml:1:1: the file is empty; wanted a list of rows/],
    [
      'unknown.yml',
      '- id: tool-bsh\n  disabled: true\n',
      /^dsh: COMPOSITION_UNKNOWN_ROW: \S+unknown\.yml:1:3: no row has the id "tool-bsh"; did you mean "tool-bash"\?\n$/,
    ],
    [
      'field.yml',
      '- id: tool-bash\n  disable: true\n',
      /COMPOSITION_INVALID: \S+field\.yml:2:3: unknown field "disable"; did you mean "disabled"/,
    ],
  ])('is refused by name, place and remedy: %s', async (file, text, message) => {
    world.write({ [file]: text })
    const refused = await world.dsh([...GREET, '--patch', file])
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(message) })
    expect(refused.stderr.trimEnd().split('\n')).toHaveLength(1)
  })

  it('is refused when the file is not there', async () => {
    const refused = await world.dsh([...GREET, '--patch', 'nowhere.yml'])
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain(`cannot read the composition ${world.file('nowhere.yml')}`)
  })
})

describe('a plugin that does not start', () => {
  it.each([
    [
      'throws',
      /^dsh: \S+throws\.yml:1: row "throws" \(\S+throws\.mjs\) failed: failed to start: no luck today\n +at \S+ \(\S+throws\.mjs:3:9\)\n$/,
    ],
    [
      'waits',
      /^dsh: \S+waits\.yml:1: row "waits" \(\S+\) waiting: waits for the service "nothingProvidesThis": no row provides it\n$/,
    ],
    [
      'never',
      /^dsh: \S+never\.yml:1: row "never" \(\S+\) failed: not ready after 2500 ms: its apply has not settled; .+\n$/,
    ],
  ])('is told once, with its place, and the other tools work: %s', async (name, message) => {
    const called = await world.dsh([...GREET, '--patch', `${name}.yml`, '--ready-timeout', '2500'])
    expect(called).toMatchObject({ code: 0, stdout: 'Hello, Ada!\n', stderr: expect.stringMatching(message) })
  })

  it('ends the command when everything needs it', async () => {
    world.write({ 'required.yml': '- { name: ./throws.mjs, required: true }\n' })
    const failed = await world.dsh([...GREET, '--patch', 'required.yml'])
    expect(failed).toMatchObject({ code: 1, stdout: '' })
    expect(failed.stderr).toMatch(/no luck today[^]*dsh: a part that everything else needs did not start/)
  })

  it('does not hide the exit code of a command by never having started', async () => {
    const failed = await world.dsh(['call', 'grete', '--patch', 'never.yml', '--ready-timeout', '2500'])
    expect(failed).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('UNKNOWN_TOOL') })
  })

  it('is told with the line of its author when the registry refuses its tool', async () => {
    world.write({
      'twice.mjs':
        "import { apply as other } from './scratch-plugin/src/my-plugin.ts'\nexport const inject = ['tools']\nexport function apply(ctx) {\n  other(ctx)\n}\n",
    })
    world.write({ 'twice.yml': '- name: ./twice.mjs\n' })
    const called = await world.dsh([...GREET, '--patch', 'twice.yml'])
    expect(called).toMatchObject({ code: 0, stdout: 'Hello, Ada!\n' })
    expect(called.stderr).toMatch(
      /row "twice" .* tool "greet" is already registered[^\n]*\n +at \S+ \(\S+my-plugin\.ts:8:13\)\n$/,
    )
  })

  it('does not end a command by a promise or a timer that it lost sight of', async () => {
    world.write({
      'stray.mjs': "export const apply = () => void Promise.reject(new Error('stray'))\n",
      'stray.yml': '- name: ./stray.mjs\n',
      'timer.mjs': "export const apply = () => void setTimeout(() => { throw new Error('late') }, 1)\n",
      'timer.yml': '- name: ./timer.mjs\n',
    })
    const called = await world.dsh([...GREET, '--patch', 'stray.yml'])
    expect(called).toMatchObject({
      code: 0,
      stdout: 'Hello, Ada!\n',
      stderr: 'error host: unhandled rejection: stray\n',
    })
    const args = JSON.stringify({ command: 'sleep 0.2; echo on', description: 'Wait' })
    const late = await world.dsh(['call', 'bash', args, '--patch', 'timer.yml'])
    expect(late).toMatchObject({ code: 0, stdout: 'on\n', stderr: 'error host: uncaught exception: late\n' })
  })

  it.each([
    ['run', 'agents', ['run', 'hi']],
    ['call', 'tools', GREET],
    ['web', 'server', ['web', '--no-open', '--preset', 'headless']],
  ])('is missed by name when a patch takes away what dsh %s needs', async (_command, service, words) => {
    const users = ['tools', 'agents', 'tool-bash', 'tool-fs', 'tool-fs-search', 'jobs', 'tool-jobs', 'my-plugin']
    const gone = { agents: ['agents'], tools: users, server: [] }[service]!
    world.write({
      'gone.yml': gone.length === 0 ? '[]\n' : gone.map((id) => `- { id: ${id}, remove: true }\n`).join(''),
    })
    const failed = await world.dsh([...words, '--patch', 'gone.yml'])
    expect(failed).toMatchObject({ code: 2, stdout: '' })
    expect(failed.stderr).toMatch(new RegExp(`^dsh: the composition "\\w+", as patched, provides no "${service}"`))
  })

  it('is shown to the page, whose sessions work', async () => {
    const patches = ['throws.yml', 'waits.yml', 'never.yml'].flatMap((file) => ['--patch', file])
    const served = await world.serve([...GREET_PATCH, ...patches, '--ready-timeout', '2500'])
    const { problems } = await served.call('host.info', {})
    expect(problems.map(({ row }) => row)).toEqual(['throws', 'waits', 'never'])
    expect(problems.at(0)!.message).toContain('no luck today')
    const { id } = await served.call('sessions.create', {})
    const asked = await served.ask(id, 'Use the greet tool to greet Ada.', 1)
    expect(asked.of('tool/result').at(0)!.data).toMatchObject({ isError: false, content: [{ text: 'Hello, Ada!' }] })
    await served.stop()
  })
})

describe('a port that is taken', () => {
  it('ends the second server with the remedy, and leaves the first alone', async () => {
    const first = await world.serve()
    const second = await world.dsh(['web', '--no-open', '--port', first.port])
    expect(second).toMatchObject({ code: 1, stdout: '' })
    expect(second.stderr).toContain(`port ${first.port} on 127.0.0.1 is in use by another program.`)
    expect(second.stderr).toContain('Choose another with --port, or --port 0')
    expect(second.stderr).not.toMatch(/^\s+at /m)
    expect(await first.call('sessions.list', {})).toEqual(expect.any(Array))
    await first.stop()
  })

  it('is named as well when something else listens there', async () => {
    const other = createServer()
    const port = await new Promise<number>((resolve) =>
      other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port)),
    )
    const failed = await world.dsh(['web', '--no-open', '--port', String(port)])
    expect(failed).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(`port ${port} on 127.0.0.1 is in use`),
    })
    await new Promise((resolve) => other.close(resolve))
  })
})

describe('a model provider that fails', () => {
  const KEY = 'sk-wrong-and-secret-0123456789'

  it('refuses a bad key without showing it, and lets the tools work', async () => {
    const model = await startMockLlm({ apiKey: 'sk-right' })
    const env = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: KEY }
    const failed = await world.dsh(['run', 'Say hi', '--json', ...GREET_PATCH], { env })
    expect(failed.code).toBe(4)
    expect(failed.stderr).toMatch(/^dsh: AUTH: .*(401|key)/i)
    expect(JSON.parse(failed.stdout)).toMatchObject({ answer: '', reason: { kind: 'error', error: { code: 'AUTH' } } })
    expect(failed.stdout + failed.stderr).not.toContain(KEY)
    for (const file of readdirSync(`${world.home}/sessions`, { withFileTypes: true })) {
      if (file.isFile()) expect(readFileSync(`${world.home}/sessions/${file.name}`, 'utf8')).not.toContain(KEY)
    }
    // A wrong key is not tried again.
    expect(model.requests).toHaveLength(1)
    expect(await world.dsh(GREET, { env })).toMatchObject({ code: 0, stdout: 'Hello, Ada!\n', stderr: '' })
    await model.close()
  })

  it('says so when its key cannot be used and the offline model answers', async () => {
    const env = { OPENAI_BASE_URL: 'nonsense', OPENAI_API_KEY: KEY }
    const told = await world.dsh(['run', 'Use the greet tool to greet Ada.', ...GREET_PATCH], { env })
    expect(told).toMatchObject({ code: 0, stdout: 'Hello, Ada!\n' })
    expect(told.stderr).toMatch(
      /^dsh: the key of "openai" is not used, and the offline model answers: .*OPENAI_BASE_URL.*\n$/,
    )
  })

  it('is asked again after it disconnects in the middle of a stream', async () => {
    const answer = { kind: 'answer', text: 'A whole answer, in one piece.' } as const
    const model = await startMockLlm({ script: [{ ...answer, cut: { after: 2, how: 'disconnect' } }, answer] })
    const env = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: KEY }
    const told = await world.dsh(['run', 'Say something', '--patch', 'quick.yml'], { env })
    expect(told).toMatchObject({ code: 0, stdout: `${answer.text}\n`, stderr: '' })
    expect(model.requests).toHaveLength(2)
    await model.close()
  })

  it('is given up after the retries, with its own exit code', async () => {
    const model = await startMockLlm({
      script: () => ({ kind: 'answer', text: 'Never a whole answer.', cut: { after: 2, how: 'disconnect' } }),
    })
    const env = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: KEY }
    const failed = await world.dsh(['run', 'Say something', '--json', '--patch', 'quick.yml'], { env })
    expect(failed.code).toBe(4)
    expect(failed.stderr).toMatch(/^dsh: (STREAM_CLOSED|TRANSPORT): .+\n$/)
    expect(model.requests).toHaveLength(3)
    expect(JSON.parse(failed.stdout)).toMatchObject({ reason: { kind: 'error' }, calls: [] })
    await model.close()
  })

  it('leaves its session able to go on in the page once it is back', async () => {
    const cut = { kind: 'answer', text: 'Never a whole answer.', cut: { after: 2, how: 'disconnect' } } as const
    const model = await startMockLlm({ script: [cut, cut, cut] })
    const env = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: KEY }
    const served = await world.serve([...GREET_PATCH, '--patch', 'quick.yml'], { env })
    const { id } = await served.call('sessions.create', {})
    await served.ask(id, 'Say something', 1)
    const asked = await served.ask(id, 'Use the greet tool to greet Ada.', 2)
    expect(asked.of('turn/end').map(({ data }) => data.reason.kind)).toEqual(['error', 'completed'])
    expect(asked.of('llm/retry')).toHaveLength(2)
    expect(asked.of('assistant/message').at(-1)!.data.content).toEqual([{ type: 'text', text: 'Hello, Ada!' }])
    await served.stop()
    await model.close()
  })
})

describe('a tool that floods', () => {
  const command = "head -c 10485760 /dev/zero | tr '\\0' x"

  it('has its line of 10 MB cut, and says how long it was', async () => {
    const args = JSON.stringify({ command, description: 'One long line' })
    const { code, stdout } = await world.dsh(['call', 'bash', args, '--json'])
    expect(code).toBe(0)
    const { stdout: told } = JSON.parse(stdout) as { stdout: { text: string; truncated: boolean; totalBytes: number } }
    expect(told).toMatchObject({ truncated: true, totalBytes: 10_485_760 })
    expect(told.text.length).toBeLessThan(100_000)
  })

  it('leaves the server answering, in bounded memory', async () => {
    const served = await world.serve(GREET_PATCH)
    const { id } = await served.call('sessions.create', {})
    const flooded = await served.ask(id, `/bash ${JSON.stringify({ command, description: 'One long line' })}`, 1)
    expect(flooded.of('tool/result').at(0)!.data.isError).toBe(false)
    const asked = await served.ask(id, 'Use the greet tool to greet Ada.', 2)
    expect(asked.of('tool/result').at(1)!.data).toMatchObject({ content: [{ text: 'Hello, Ada!' }] })
    // At rest about 70 MiB; the whole line, its copies and its frames would be several times as much.
    expect(residentMiB(served.run.pid)).toBeLessThan(160)
    await served.stop()
  })
})

describe('a call that is refused or interrupted', () => {
  it('ends with the code of a refusal when a policy plugin says no, and the body never runs', async () => {
    world.write({
      'policy.mjs': `export const name = 'policy'
        export const apply = (ctx) => void ctx.on('tools/pre-execute', (exec, next) =>
          exec.name === 'bash' ? { kind: 'deny', reason: 'no shell on Mondays' } : next())`,
      'policy.yml': '- name: ./policy.mjs\n',
    })
    const touch = JSON.stringify({ command: `touch ${world.file('touched')}`, description: 'Touch' })
    const refused = await world.dsh(['call', 'bash', touch, '--patch', 'policy.yml', '--json'])
    expect(refused).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/^dsh: bash: DENIED: .*no shell on Mondays/),
    })
    expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: 'DENIED' } })
    expect(readdirSync(world.path)).not.toContain('touched')
    expect(await world.dsh([...GREET, '--patch', 'policy.yml'])).toMatchObject({ code: 0, stdout: 'Hello, Ada!\n' })
  })

  it.each(['run', 'call'] as const)('ends dsh %s by SIGINT with 130, its children gone', async (word) => {
    const waiting = new Waiting(world)
    const args = JSON.stringify({ command: waiting.command, description: 'Wait' })
    const run = world.start(word === 'run' ? ['run', `/bash ${args}`] : ['call', 'bash', args])
    await waiting.started()
    run.kill('SIGINT')
    const { code, stdout } = await run.ended
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' })
    expect(waiting.running()).toBe(false)
  })
})
