// The file and search tools in the browser: cards live and after a reload, and long ones that stay smooth.
import { readFileSync } from 'node:fs'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, launch, openPage, say } from './browser.ts'
import { World, type Served } from './harness.ts'

const LONG = 5000
const HITS = 10_000
const SOURCES = {
  'src/one.ts': 'export const one = 1\nexport const two = 2\nexport const three = 3\n',
  'src/other.ts': 'import { one } from "./one.ts"\nconsole.log(one)\n',
}

describe.skipIf(!hasBrowser)('files and search in a browser (needs Chromium)', () => {
  let world: World
  let served: Served
  let browser: Browser
  let page: Page
  let complaints: readonly string[]

  beforeAll(async () => {
    world = new World()
    world.write({
      'long.txt': lines(LONG, (index) => `line ${index}`),
      'hits.txt': lines(HITS, (index) => `needle ${index}`),
    })
    served = await world.serve()
    browser = await launch(world)
  })
  afterEach(async () => {
    expect(complaints).toEqual([])
    await page.context().close()
  })
  afterAll(async () => {
    await browser.close()
    await served.stop()
    await world.remove()
  })

  /** The newest card once it has settled, open. */
  async function settled(page: Page, notThis?: string | null): Promise<Locator> {
    const card = page.locator('[data-call]').last()
    await expect
      .poll(async () => (await card.count()) > 0 && (await card.getAttribute('data-call')) !== notThis, {
        timeout: 20_000,
      })
      .toBe(true)
    await expect.poll(() => card.getAttribute('data-state'), { timeout: 20_000 }).toMatch(/^(ok|bad|failed|denied)$/)
    const row = card.getByRole('button').first()
    if ((await row.getAttribute('aria-expanded')) !== 'true') await row.click()
    return card
  }

  /** Calls a tool and gives its card. */
  async function call(tool: string, args: unknown): Promise<Locator> {
    const cards = page.locator('[data-call]')
    const last = (await cards.count()) > 0 ? await cards.last().getAttribute('data-call') : undefined
    await say(page, `/${tool} ${JSON.stringify(args)}`)
    return settled(page, last)
  }

  const edits = [
    { old_text: 'one = 1', new_text: 'one = 11' },
    { old_text: 'three = 3', new_text: 'three = 33' },
  ]
  it.each([
    ['read', { path: 'src/one.ts' }, ['export const two = 2']],
    ['edit', { path: 'src/one.ts', old_text: 'two = 2', new_text: 'two = 22' }, ['export const two = 22', /^\+1 −1/]],
    ['multi_edit', { path: 'src/one.ts', edits }, ['export const one = 11', 'export const three = 33', /^\+2 −2/]],
    ['grep', { pattern: 'one\\b', path: 'src' }, ['src/one.ts', 'src/other.ts', /^3 hits/]],
    ['glob', { pattern: '**/*.ts' }, ['src/one.ts', 'src/other.ts']],
  ])('shows a %s card, live and again from the log alone', async (tool, args, wanted) => {
    world.write(SOURCES)
    ;({ page, complaints } = await openPage(browser, served))
    if (tool.endsWith('edit')) await call('read', { path: 'src/one.ts' })
    const card = await call(tool, args)
    for (const text of wanted) await card.getByText(text).first().waitFor()
    const told = tidy(await card.textContent())
    if (tool === 'multi_edit') {
      const after = 'export const one = 11\nexport const two = 2\nexport const three = 33\n'
      expect(readFileSync(world.file('src/one.ts'), 'utf8')).toBe(after)
    }

    world.write({ 'src/one.ts': 'all new\n', 'src/other.ts': 'new as well\n' })
    await page.reload()
    const again = await settled(page)
    for (const text of wanted) await again.getByText(text).first().waitFor()
    expect(tidy(await again.textContent())).toBe(told)
  })

  it('says on the card why an edit was refused, and that nothing was changed', async () => {
    world.write(SOURCES)
    ;({ page, complaints } = await openPage(browser, served))
    const before = readFileSync(world.file('src/other.ts'), 'utf8')
    const unread = await call('edit', { path: 'src/other.ts', old_text: 'one', new_text: 'two' })
    await unread.getByText('not read before').waitFor()
    await unread.getByText('not applied').waitFor()
    await call('read', { path: 'src/other.ts' })
    const ambiguous = await call('edit', { path: 'src/other.ts', old_text: 'one', new_text: 'two' })
    await ambiguous.getByText('text found more than once').waitFor()
    expect(readFileSync(world.file('src/other.ts'), 'utf8')).toBe(before)
  })

  it('stays smooth with a diff of 5,000 lines and 10,000 hits', async () => {
    ;({ page, complaints } = await openPage(browser, served))
    await call('read', { path: 'long.txt' })
    const changed = lines(LONG, (index) => (index % 2 === 0 ? `line ${index}` : `LINE ${index}`))
    const diff = await call('write', { path: 'long.txt', content: changed })
    await diff.getByText('LINE 1').first().waitFor()
    await smooth(diff, 100_000)
    const hits = await call('grep', { pattern: 'needle', path: 'hits.txt', limit: HITS })
    await hits.getByText('needle').first().waitFor()
    // The log keeps so much of a card.
    await smooth(hits, 20_000)
    // Drawn as needed: what is not in sight is no element.
    expect(await page.locator('*').count()).toBeLessThan(6000)
  })

  /** Shows all of a card and scrolls through it, to the end and back: of ten frames nine come within a fifth of a second, on a busy machine too. */
  async function smooth(card: Locator, least: number): Promise<void> {
    await card.getByRole('button', { name: /^Show all/ }).click()
    const { height, frames } = await card.evaluate(async (element) => {
      const boxes = [
        document.scrollingElement,
        ...document.querySelectorAll('[data-chat-list]'),
        ...element.querySelectorAll('*'),
      ]
      const tallest = boxes.reduce((a, b) =>
        (b?.scrollHeight ?? 0) - (b?.clientHeight ?? 0) > (a?.scrollHeight ?? 0) - (a?.clientHeight ?? 0) ? b : a,
      )
      const frames: number[] = []
      let last = performance.now()
      if (tallest === null) return { height: 0, frames }
      for (let step = 0; step <= 60; step++) {
        tallest.scrollTop = (tallest.scrollHeight * (step <= 30 ? step : 60 - step)) / 30
        await new Promise(requestAnimationFrame)
        const now = performance.now()
        frames.push(now - last)
        last = now
      }
      return { height: tallest.scrollHeight, frames: frames.toSorted((a, b) => a - b) }
    })
    expect(height).toBeGreaterThan(least)
    const slow = frames.at(Math.floor(frames.length * 0.9)) ?? Infinity
    console.log(`${height} px; frames: median ${Math.round(frames.at(30) ?? 0)} ms, 90 % within ${Math.round(slow)} ms`)
    expect(slow).toBeLessThan(200)
  }
})

function lines(count: number, line: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => `${line(index + 1)}\n`).join('')
}

/** Without the time a call took. */
const tidy = (text: string | null): string => (text ?? '').replace(/\d+(\.\d+)? (ms|s)/g, '')
