// The tutorial in the browser: the real page, server, loader and plugin; the model offline or a server over HTTP.
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startMockLlm } from '@deepseek-ai/dsh-llm-mock'
import { hasBrowser, launch, openPage, say } from './browser.ts'
import { GREET_PATCH, GREET_PLUGIN, World, type Served } from './harness.ts'

describe.skipIf(!hasBrowser)('the page in a browser (needs Chromium)', () => {
  let world: World
  let browser: Browser
  let complaints: readonly string[]
  let page: Page

  beforeAll(async () => {
    world = new World()
    world.write(GREET_PLUGIN)
    browser = await launch(world)
  })
  afterEach(() => page.context().close())
  afterAll(async () => {
    await browser.close()
    await world.remove()
  })

  async function open(served: Served): Promise<void> {
    ;({ page, complaints } = await openPage(browser, served))
  }

  /** The greeting asked for, its card opened, its answer read. */
  async function greet(): Promise<void> {
    await say(page, 'Use the greet tool to greet Ada.')
    const card = page.locator('[data-call]')
    await card.waitFor()
    await page.locator('[data-kind=prose]', { hasText: 'Hello, Ada!' }).waitFor()
    expect(await card.count()).toBe(1)
    expect(await card.getAttribute('data-state')).toBe('ok')
    expect(await card.textContent()).toContain('greet')
    await card.locator('button').first().click()
    await card.getByText('Hello, Ada!').waitFor()
  }

  it('shows a greet card and the answer of the offline model, and again after a reload', async () => {
    const served = await world.serve(GREET_PATCH)
    await open(served)
    await greet()
    expect(new URL(page.url()).searchParams.has('token')).toBe(false)
    await page.reload()
    await page.locator('[data-kind=prose]', { hasText: 'Hello, Ada!' }).waitFor()
    expect(await page.locator('[data-call]').textContent()).toContain('greet')
    expect(complaints).toEqual([])
    await served.stop()
  })

  it('shows a greet card and the answer of a model server, which was told the tool and its result', async () => {
    const model = await startMockLlm()
    const env = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'sk-test', OPENAI_MODEL: 'mock-model' }
    const served = await world.serve(GREET_PATCH, { env })
    await open(served)
    await greet()
    expect(complaints).toEqual([])
    expect(model.requests).toHaveLength(2)
    const [first, second] = model.requests.map(({ body }) => body as { tools: unknown[]; messages: unknown[] })
    expect(first).toMatchObject({ model: 'mock-model', stream: true })
    const greetTool = { type: 'function', function: expect.objectContaining({ name: 'greet' }) }
    expect(first?.tools).toContainEqual(greetTool)
    expect(second?.messages.at(-1)).toMatchObject({ role: 'tool', content: 'Hello, Ada!' })
    // What a provider caches by stays byte for byte the same.
    expect(JSON.stringify(second?.messages.at(0))).toBe(JSON.stringify(first?.messages.at(0)))
    expect(JSON.stringify(second?.tools)).toBe(JSON.stringify(first?.tools))
    await served.stop()
    await model.close()
  })
})
