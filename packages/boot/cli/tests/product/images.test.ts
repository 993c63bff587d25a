// Pictures from a file to a model over HTTP and to the page: the command as a process, an OpenAI-compatible server, Chromium.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startMockLlm, type MockLlm, type MockRequest } from '../../../../testing/llm-mock/src/index.ts'
import { hasBrowser, launch, openPage, say } from './browser.ts'
import { World, type Served } from './harness.ts'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const IMAGE = { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }

let world: World
let model: MockLlm
let served: Served
beforeEach(async () => {
  world = new World()
  writeFileSync(world.file('dot.png'), Buffer.from(PNG, 'base64'))
  world.write({
    'eyes.yml': `
- id: eyes
  name: '@deepseek-ai/dsh-llm-openai'
  config:
    provider: eyes
    baseURL: \${env.MODEL_URL}
    models: [{ id: sees, input: [text, image] }, blind]
- id: llm
  config+: { default: eyes/sees }
`,
  })
  model = await startMockLlm({ script: (request) => answerTo(request) })
  served = await world.serve(['--patch', 'eyes.yml'], { env: { MODEL_URL: model.url } })
})
afterEach(async () => {
  await served.stop()
  await model.close()
  await world.remove()
})

const wanted = { id: 'call_1', name: 'read_image', arguments: '{"path":"dot.png"}' }
const messagesOf = ({ body }: MockRequest) => body['messages'] as { role: string; content: unknown }[]
const toolsOf = ({ body }: MockRequest): string[] =>
  ((body['tools'] ?? []) as { function: { name: string } }[]).map((tool) => tool.function.name)

/** Asks for the picture once, then says what it has got. */
function answerTo(request: MockRequest) {
  const messages = messagesOf(request)
  const asks = messages.at(-1)?.role === 'user' && messages.at(-1)?.content === 'look'
  return asks ? { kind: 'answer' as const, toolCalls: [wanted] } : { kind: 'answer' as const, text: 'seen' }
}

describe('a picture', () => {
  it('reaches a model that reads images, stays in the log, and is a line for one that does not', async () => {
    const { id } = await served.call('sessions.create', {})
    await served.ask(id, 'look', 1)
    expect(toolsOf(await model.request(1))).toContain('read_image')
    expect(messagesOf(await model.request(2)).at(-1)).toEqual({
      role: 'user',
      content: [{ type: 'text', text: 'From the call call_1:' }, IMAGE],
    })
    const log = readFileSync(join(world.home, 'sessions', `${id}.jsonl`), 'utf8')
    expect(log.split(PNG)).toHaveLength(2)

    await served.call('sessions.setModel', { id, model: { provider: 'eyes', model: 'blind' } })
    await served.ask(id, 'and now?', 2)
    const third = await model.request(3)
    expect(third.body['model']).toBe('blind')
    expect(JSON.stringify(third.body)).not.toContain(PNG)
    expect(toolsOf(third)).not.toContain('read_image')
    expect(JSON.stringify(messagesOf(third))).toContain('not shown, since this model reads no images')

    await served.call('sessions.setModel', { id, model: { provider: 'eyes', model: 'sees' } })
    await served.ask(id, 'and now?', 3)
    const fourth = await model.request(4)
    expect(toolsOf(fourth)).toContain('read_image')
    expect(JSON.stringify(fourth.body)).toContain(PNG)
  })

  it('of a session that was stopped is sent again when it goes on', async () => {
    const { id } = await served.call('sessions.create', {})
    await served.ask(id, 'look', 1)
    await served.stop()
    served = await world.serve(['--patch', 'eyes.yml'], { env: { MODEL_URL: model.url } })
    await served.call('sessions.open', { id })
    await served.ask(id, 'again?', 2)
    expect(messagesOf(await model.request(3))).toContainEqual({
      role: 'user',
      content: [{ type: 'text', text: 'From the call call_1:' }, IMAGE],
    })
  })

  it('is told by the command line as what it is', async () => {
    const flags = ['--patch', 'eyes.yml']
    const env = { MODEL_URL: model.url }
    const shown = await world.dsh(['call', 'read_image', '{"path":"dot.png"}', ...flags], { env })
    expect(shown).toMatchObject({ code: 0, stdout: `${world.file('dot.png')}: 1 × 1 pixels\n[image/png, 70 bytes]\n` })
    const { stdout } = await world.dsh(['call', 'read_image', '{"path":"dot.png"}', ...flags, '--json'], { env })
    expect(JSON.parse(stdout)).toMatchObject({ mediaType: 'image/png', width: 1, height: 1, bytes: 70, data: PNG })
    const without = await world.dsh(['call', 'read_image', '{"path":"dot.png"}'])
    expect(without.code).toBe(2)
  })
})

describe.skipIf(!hasBrowser)('the page', () => {
  let browser: Browser | undefined
  afterAll(() => browser?.close())

  it('shows a picture on its card, live and from the log', async () => {
    browser = await launch(world)
    const { page, complaints } = await openPage(browser, served)
    await say(page, 'look')
    const image = page.locator('[data-call] img')
    const shown = async (): Promise<unknown> => {
      const row = page.locator('[data-call]').getByRole('button').first()
      if ((await row.getAttribute('aria-expanded')) !== 'true') await row.click()
      return image.evaluate((each: HTMLImageElement) => [each.complete, each.naturalWidth, each.alt])
    }
    await expect.poll(() => page.locator('[data-chat-list]').textContent()).toContain('seen')
    expect(await shown()).toEqual([true, 1, '[image/png, 70 bytes]'])
    await page.reload()
    await expect.poll(() => page.locator('[data-chat-list]').textContent()).toContain('seen')
    expect(await shown()).toEqual([true, 1, '[image/png, 70 bytes]'])
    expect(complaints).toEqual([])
  })
})
