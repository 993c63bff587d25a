// What changes on disk while `dsh web` runs: plugins, what they import, their rows. The command as a process, the page in Chromium.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Browser } from 'playwright-core'
import type { SessionEvent } from '@deepseek-ai/dsh-session'
import { hasBrowser, launch, openPage, say } from './browser.ts'
import { World, type Served } from './harness.ts'

const plugin = ({ description = 'Greet a person.', pause = 0, extra = '' } = {}): string => `
import type { Context } from '@deepseek-ai/cordis'
import { defineTool } from '@deepseek-ai/dsh-tools'
import { greeting } from './words/greeting.js'

export const inject = ['tools', 'sessions']
export function apply(ctx: Context, config: { mark?: string } = {}) {
  ctx.tools.register(
    defineTool({
      name: 'greet',
      description: '${description}',
      parameters: { name: { type: 'string', required: true }${extra} },
      output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value }] },
      async execute({ name }) {
        await new Promise((resolve) => setTimeout(resolve, ${pause}))
        // A service that is read late has to be there for a call that began before a reload.
        return \`\${greeting}, \${name}\${config.mark ?? '!'} \${typeof ctx.sessions.create}\`
      },
    }),
  )
}
`
const helper = (greeting: string): string => `export const greeting: string = '${greeting}'\n`

let world: World
let served: Served
beforeEach(async () => {
  world = new World()
  world.write({
    'src/greet.ts': plugin(),
    'src/words/greeting.ts': helper('Hello'),
    'cordis.yml': '- name: ./src/greet.ts\n',
  })
  served = await world.serve(['--patch', 'cordis.yml'])
})
afterEach(async () => {
  await served.stop()
  await world.remove()
})

const save = (name: string, text: string): void => writeFileSync(world.file(name), text)
const printed = (pattern: RegExp): Promise<unknown> =>
  expect.poll(() => served.run.stderr, { timeout: 5000 }).toMatch(pattern)

function results(id: string): string[] {
  const log = readFileSync(join(world.home, 'sessions', `${id}.jsonl`), 'utf8')
  const events = log
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as SessionEvent)
  return events.flatMap((event) =>
    event.type === 'tool/result' ? event.data.content.map((block) => (block.type === 'text' ? block.text : '')) : [],
  )
}

async function greets(id: string, name: string, text: string): Promise<void> {
  await served.call('sessions.send', { id, text: `/greet ${JSON.stringify({ name })}` })
  await expect.poll(() => results(id).at(-1), { timeout: 5000 }).toBe(text)
}

describe('a change on disk', () => {
  it('counts from the next call of the same session on: plugin, helper, config and rows', async () => {
    const { id } = await served.call('sessions.create', {})
    await greets(id, 'Ada', 'Hello, Ada! function')

    save('src/words/greeting.ts', helper('Bonjour'))
    await printed(/^dsh: reloaded greet \(greeting\.ts\) in \d+ ms$/m)
    await greets(id, 'Alan', 'Bonjour, Alan! function')

    save('src/greet.ts', plugin().replace('${greeting}, ', '${greeting} '))
    await printed(/^dsh: reloaded greet \(greet\.ts\) in \d+ ms$/m)
    await greets(id, 'Grace', 'Bonjour Grace! function')

    save('cordis.yml', "- { name: ./src/greet.ts, config: { mark: '?' } }\n")
    await printed(/^dsh: reloaded greet \(config\) in \d+ ms$/m)
    await greets(id, 'Edsger', 'Bonjour Edsger? function')

    save('cordis.yml', '[]\n')
    await printed(/^dsh: removed greet$/m)
    expect((await served.call('tools.list', {})).map(({ name }) => name)).not.toContain('greet')
    save('cordis.yml', '- name: ./src/greet.ts\n')
    await printed(/^dsh: added greet in \d+ ms$/m)
    await greets(id, 'Barbara', 'Bonjour Barbara! function')
    expect(results(id)).toHaveLength(5)
  })

  it('that is broken keeps the old version, and says why until it is whole again', async () => {
    const { id } = await served.call('sessions.create', {})
    save('src/words/greeting.ts', "export const greeting: string = 'Hel")
    await printed(/kept the old version of greet: .*greeting\.ts:1:33: Unterminated string/)
    await greets(id, 'Ada', 'Hello, Ada! function')
    const { reloads } = await served.call('host.info', {})
    expect(reloads[0]).toMatchObject({ rows: [{ row: 'greet', kind: 'kept' }], tools: [], breaksCache: false })
    expect(reloads[0]?.rows[0]?.error).toMatch(/Unterminated string/)

    rmSync(world.file('src/words/greeting.ts'))
    await printed(/kept the old version of greet: .*Cannot find module .*greeting\.js/)
    save('src/words/greeting.ts', helper('Salut'))
    await printed(/reloaded greet \(greeting\.ts\)/)
    await greets(id, 'Alan', 'Salut, Alan! function')

    save(
      'src/greet.ts',
      'export const inject = ["tools"]\nexport const apply = () => { throw new Error("not today") }\n',
    )
    await printed(/kept the old version of greet: failed to start: not today/)
    await greets(id, 'Grace', 'Salut, Grace! function')

    save('cordis.yml', '- { nme: ./src/greet.ts }\n')
    await printed(/kept everything as it was: .*cordis\.yml:1:5: unknown field "nme"/)
    await greets(id, 'Edsger', 'Salut, Edsger! function')
  })

  it('leaves a running call to the version that it began with', async () => {
    save('src/greet.ts', plugin({ pause: 1500 }))
    await printed(/reloaded greet/)
    const { id } = await served.call('sessions.create', {})
    await served.call('sessions.send', { id, text: '/greet {"name":"Ada"}' })
    const log = join(world.home, 'sessions', `${id}.jsonl`)
    await expect.poll(() => readFileSync(log, 'utf8')).toContain('tool/call')
    save('src/words/greeting.ts', helper('Bonjour'))
    await printed(/reloaded greet \(greeting\.ts\)/)
    expect(results(id)).toEqual([])
    await expect.poll(() => results(id), { timeout: 5000 }).toEqual(['Hello, Ada! function'])
    await greets(id, 'Alan', 'Bonjour, Alan! function')
  })

  it('counts once however an editor saves it', async () => {
    save('src/words/.greeting.swp', helper('Bonjour'))
    renameSync(world.file('src/words/.greeting.swp'), world.file('src/words/greeting.ts'))
    await printed(/reloaded greet \(greeting\.ts\)/)
    // The same bytes again are no change, and neither is a file taken away and put back.
    save('src/words/greeting.ts', helper('Bonjour'))
    renameSync(world.file('src/greet.ts'), world.file('src/greet.ts~'))
    await new Promise((resolve) => setTimeout(resolve, 100))
    save('src/greet.ts', plugin())
    save('src/words/greeting.ts', helper('Salut'))
    await expect.poll(() => served.run.stderr.match(/reloaded greet/g)?.length).toBe(2)
    expect(served.run.stderr).not.toMatch(/kept/)
  })
})

describe('a plugin that did not start', () => {
  it('starts once its file is right', async () => {
    await served.stop()
    save('src/greet.ts', 'export const apply = (\n')
    served = await world.serve(['--patch', 'cordis.yml'])
    expect((await served.call('host.info', {})).problems).toMatchObject([{ row: 'greet' }])
    save('src/greet.ts', plugin())
    await printed(/reloaded greet \(greet\.ts\)/)
    expect((await served.call('host.info', {})).problems).toEqual([])
    const { id } = await served.call('sessions.create', {})
    await greets(id, 'Ada', 'Hello, Ada! function')
  })
})

it('watches nothing when told so', async () => {
  await served.stop()
  served = await world.serve(['--patch', 'cordis.yml', '--no-watch'])
  save('src/words/greeting.ts', helper('Bonjour'))
  await new Promise((resolve) => setTimeout(resolve, 300))
  const { id } = await served.call('sessions.create', {})
  await greets(id, 'Ada', 'Hello, Ada! function')
  expect(served.run.stderr).toBe('')
})

describe.skipIf(!hasBrowser)('the page', () => {
  let browser: Browser
  let browserWorld: World
  beforeAll(async () => {
    browserWorld = new World()
    browser = await launch(browserWorld)
  })
  afterAll(async () => {
    await browser.close()
    await browserWorld.remove()
  })

  it('says what changed for models, and shows what is broken until it is put away', async () => {
    const { page, complaints } = await openPage(browser, served)
    await say(page, '/greet {"name":"Ada"}')
    await expect.poll(() => page.locator('[data-chat-list]').textContent()).toContain('Hello, Ada!')

    const changed = plugin({ description: 'Greet somebody.', extra: ", loud: { type: 'boolean' }" })
    save('src/greet.ts', changed)
    const note = page.locator('[data-reload]')
    await expect.poll(() => note.textContent()).toContain('greet runs in its new version')
    await note.getByRole('button', { name: 'Show' }).click()
    const dialog = page.getByRole('dialog', { name: 'Plugin changes' })
    const text = (): Promise<string | null> => dialog.textContent()
    await expect.poll(text).toMatch(/greet is described differently.*Greet a person\..*Greet somebody\./s)
    await expect.poll(text).toMatch(/"loud"/)
    await expect.poll(text).toMatch(/not served from the provider’s cache/)
    await page.keyboard.press('Escape')

    save('src/greet.ts', 'export const apply = (\n')
    await expect.poll(() => note.textContent()).toContain('greet is broken; its old version runs')
    await note.getByRole('button', { name: 'Show' }).click()
    await expect.poll(text).toMatch(/cannot load .*greet\.ts/)
    await page.keyboard.press('Escape')

    // The session lives on, in the version that works.
    await say(page, '/greet {"name":"Alan"}')
    await expect.poll(() => page.locator('[data-chat-list]').textContent()).toContain('Hello, Alan!')
    if (process.env['SHOTS'] !== undefined) await page.screenshot({ path: join(process.env['SHOTS'], 'reload.png') })
    expect(complaints).toEqual([])
  })
})
