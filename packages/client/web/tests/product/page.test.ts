// The built page in Chromium against a host that replays frames.
import { chromium, type Browser, type Page } from 'playwright-core'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { model, startFakeHost, type FakeHost } from './fixtures/host.ts'
import { bash, fillScene, prompt, step } from './fixtures/scene.ts'

const packageDir = join(import.meta.dirname, '../..')
const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

describe.skipIf(!existsSync(executablePath))('the page (needs Chromium)', () => {
  let browser: Browser
  let host: FakeHost
  let page: Page
  let complaints: string[]

  beforeAll(async () => {
    if (!existsSync(join(packageDir, 'dist/page/index.html'))) {
      execFileSync(process.execPath, [join(packageDir, 'node_modules/vite/bin/vite.js'), 'build'], { cwd: packageDir })
    }
    browser = await chromium.launch({ executablePath, args })
  })
  afterAll(() => browser.close())

  beforeEach(async () => {
    host = await startFakeHost()
    complaints = []
    page = await openPage()
  })
  afterEach(async () => {
    await page.context().close()
    await host.close()
  })

  async function openPage(width = 1360, height = 900): Promise<Page> {
    const context = await browser.newContext({
      viewport: { width, height },
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    const opened = await context.newPage()
    opened.on('console', (message) => {
      const expected = message.text().startsWith('Failed to load resource: net::')
      if (['error', 'warning'].includes(message.type()) && !expected) complaints.push(message.text())
    })
    opened.on('pageerror', (error) => complaints.push(String(error)))
    return opened
  }

  const rowKinds = (): Promise<(string | undefined)[]> =>
    page
      .locator('[data-chat-list] [data-kind]')
      .evaluateAll((rows) => rows.map((row) => (row as HTMLElement).dataset['kind']))
  const list = () => page.locator('[data-chat-list]')
  const distanceFromEnd = (): Promise<number> =>
    list().evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight)

  it('draws a stored session at its end, with no complaint of the browser and no overflow at three widths', async () => {
    host.add('s', 'Lazy schemas')
    fillScene(host, 's')
    await page.goto(`${host.url}/s/s`)
    await page.getByText('MISSING_CREDENTIAL').waitFor()
    expect(await page.title()).toBe('Lazy schemas · dsh')
    await expect.poll(distanceFromEnd).toBeLessThan(2)
    for (const [callId, state] of Object.entries({
      b3: 'failed',
      b4: 'denied',
      b5: 'aborted',
      b6: 'unknown',
      b7: 'not-started',
    })) {
      await page.locator(`[data-call=${callId}]`).waitFor()
      expect(await page.locator(`[data-call=${callId}]`).getAttribute('data-state')).toBe(state)
    }
    for (const width of [390, 1180, 1360]) {
      await page.setViewportSize({ width, height: 844 })
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
      expect(await list().evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0)
      await expect.poll(distanceFromEnd).toBeLessThan(2)
    }
    expect(complaints).toEqual([])
  })

  it('stays within 12 requests and 450 KB with code on screen', async () => {
    const sizes: Promise<number>[] = []
    page.on('requestfinished', (request) => void sizes.push(request.sizes().then((size) => size.responseBodySize)))
    let requests = 0
    page.on('request', () => void requests++)
    host.add('s', 'Lazy schemas')
    fillScene(host, 's')
    await page.goto(`${host.url}/s/s`)
    await page.locator('.tok-k').first().waitFor()
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
    expect(requests).toBeLessThanOrEqual(12)
    expect(bytes).toBeLessThan(450 * 1024)
  })

  it('shows hostile text as text', async () => {
    const hostile =
      '<img src=x onerror="globalThis.hit=1"><script>globalThis.hit=1</script> [a](javascript:globalThis.hit=1) ![p](https://evil.example/p.png) &lt;b&gt; [ok](https://example.com/)'
    const asked: string[] = []
    page.on('request', (request) => void asked.push(request.url()))
    host.add('s', hostile)
    prompt(host, 's', 1, hostile)
    const card = { card: 'terminal', title: hostile } as const
    step(host, 's', 1, 0, {
      words: hostile,
      thought: hostile,
      calls: [
        bash('c', hostile, `${hostile}\n`, 1, { call: card }),
        { id: 'g', name: hostile, args: hostile, error: { code: 'X', message: hostile } },
      ],
    })
    await page.goto(`${host.url}/s/s`)
    const prose = page.locator('[data-kind=prose]')
    await prose.waitFor()
    expect(await prose.innerText()).toContain('<img src=x onerror')
    expect(
      await prose
        .locator('a')
        .evaluateAll((links) => links.map((link) => [link.getAttribute('href'), link.getAttribute('rel')])),
    ).toEqual([['https://example.com/', 'noreferrer']])
    expect(await page.locator('main img, main script').count()).toBe(0)
    expect(await page.evaluate(() => 'hit' in globalThis)).toBe(false)
    expect(asked.filter((url) => !url.startsWith(host.url) && !url.startsWith('data:'))).toEqual([])
    expect(complaints).toEqual([])
  })

  it('streams text and output, then settles without remounting the row', async () => {
    host.add('s', 'Live')
    prompt(host, 's', 1, 'go')
    await page.goto(`${host.url}/s/s`)
    await page.locator('[data-kind=prompt]').waitFor()
    host.live('s', { kind: 'attempt', turn: 1, step: 0, attempt: 1 })
    host.live('s', { kind: 'delta', block: 'text', text: 'Hello **wor' })
    await page.locator('.prose strong', { hasText: 'wor' }).waitFor()
    await page.locator('[data-kind=prose]').evaluate((row) => row.setAttribute('data-mark', 'kept'))
    step(host, 's', 1, 0, { words: 'Hello **world**', calls: [bash('c', 'make', '', 0, { open: true })] })
    await page.locator('[data-mark=kept] strong', { hasText: 'world' }).waitFor()
    await page.locator('[data-call=c][data-state=running]').waitFor()
    await page.locator('[data-call=c] [data-row]').click()
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`).join('')
    host.live('s', { kind: 'progress', callId: 'c', progress: { kind: 'text', text: lines } })
    await page.getByText('line 20').waitFor()
    expect(await page.getByText('8 earlier lines').count()).toBe(1)
    host.log(
      's',
      'tool/result',
      { turn: 1, step: 0, callId: 'c', content: [], isError: false, durationMs: 5 },
      { result: { card: 'terminal', output: lines, exitCode: 2 } },
    )
    await page.locator('[data-call=c][data-state=bad]').waitFor()
    await page.getByText('20 lines').waitFor()
    expect(complaints).toEqual([])
  })

  it('keeps the draft while offline, says so, and catches up', async () => {
    host.add('s', 'Cut')
    prompt(host, 's', 1, 'go')
    await page.goto(`${host.url}/s/s`)
    const composer = page.locator('[data-composer]')
    await composer.fill('unsent words')
    host.off()
    await page.locator('[data-offline]', { hasText: 'Offline' }).waitFor()
    expect(await page.getByRole('button', { name: 'Queue' }).isDisabled()).toBe(true)
    step(host, 's', 1, 0, { words: 'Said while away.' })
    host.log('s', 'turn/end', { turn: 1, reason: { kind: 'completed' } })
    host.on()
    await page.getByRole('button', { name: 'Retry now' }).click()
    await page.getByText('caught up, 2 events').waitFor()
    expect(await rowKinds()).toEqual(['prompt', 'prose'])
    expect(await composer.inputValue()).toBe('unsent words')
    await page.reload()
    await page.getByText('Said while away.').waitFor()
    expect(await composer.inputValue()).toBe('unsent words')
  })

  it('rests while nobody can see it, and goes on where it was', async () => {
    await page.clock.install()
    host.add('s', 'Unseen')
    prompt(host, 's', 1, 'go')
    await page.goto(`${host.url}/s/s`)
    await page.locator('[data-kind=prompt]').waitFor()
    const show = (state: string): Promise<void> =>
      page.evaluate((value) => {
        Object.defineProperty(document, 'visibilityState', { value, configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))
      }, state)
    expect(host.streams()).toEqual(['s'])
    await show('hidden')
    await page.clock.fastForward(11_000)
    // The list, and with it the title of the tab, stays current.
    await expect.poll(() => host.streams()).toEqual([''])
    step(host, 's', 1, 0, { words: 'Said while unseen.' })
    await show('visible')
    await page.getByText('Said while unseen.').waitFor()
    expect(await rowKinds()).toEqual(['prompt', 'prose'])
    await expect.poll(() => host.streams()).toEqual(['s'])
    expect(complaints).toEqual([])
  })

  it('works where the browser has no shared workers', async () => {
    await page.addInitScript(() => Reflect.deleteProperty(globalThis, 'SharedWorker'))
    host.add('s', 'Alone')
    prompt(host, 's', 1, 'go')
    await page.goto(`${host.url}/s/s`)
    await page.locator('[data-kind=prompt]').waitFor()
    await expect.poll(() => host.streams()).toEqual(['s'])
    host.off()
    await page.locator('[data-offline]').waitFor()
    step(host, 's', 1, 0, { words: 'Said while away.' })
    host.on()
    await page.getByText('Said while away.').waitFor()
    host.signOut()
    await page.getByText('npm start').waitFor()
  })

  it('says what to do when the server refuses the session cookie', async () => {
    host.signOut()
    await page.goto(host.url)
    await page.getByText('npm start').waitFor()
  })

  it('queues while a turn runs, takes a message back, steers and stops', async () => {
    host.add('s', 'Busy')
    prompt(host, 's', 1, 'go')
    await page.goto(`${host.url}/s/s`)
    const composer = page.locator('[data-composer]')
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    await composer.fill('second')
    await composer.press('Enter')
    await page.locator('[data-queued]', { hasText: 'second' }).waitFor()
    await page.getByRole('button', { name: 'Edit' }).click()
    await expect.poll(() => composer.inputValue()).toBe('second')
    await composer.press('Enter')
    await page.getByRole('button', { name: 'Steer now' }).click()
    await page.locator('[data-queued]', { hasText: 'Next step' }).waitFor()
    await composer.press('Escape')
    await expect.poll(() => host.calls.map(({ name }) => name)).toContain('sessions.cancel')
    expect(
      host.calls.filter(({ name }) => name === 'sessions.send').map(({ params }) => params['delivery'] ?? 'queue'),
    ).toEqual(['queue', 'queue', 'steer'])
  })

  it('starts a session from an example, with the keyboard', async () => {
    await page.goto(host.url)
    await page.getByText('Offline model: no key set.').waitFor()
    await page.locator('[data-example]').first().press('Enter')
    const composer = page.locator('[data-composer]')
    await expect.poll(() => composer.inputValue()).toMatch(/^Use the bash tool/)
    await composer.press('Enter')
    await page.waitForURL(/\/s\/new0$/)
    expect(host.calls.find(({ name }) => name === 'sessions.send')?.params).toMatchObject({ id: 'new0' })
    await composer.fill('/b')
    await page.getByRole('option', { name: /bash/ }).waitFor()
    await composer.press('Enter')
    expect(await composer.inputValue()).toBe('/bash ')
    await page.getByText('timeoutMs').waitFor()
  })

  it('walks and opens rows by keys as one tab stop', async () => {
    host.add('s', 'Keys')
    prompt(host, 's', 1, 'go')
    step(host, 's', 1, 0, { calls: [bash('one', 'true', 'a\n'), bash('two', 'false', 'b\n')] })
    host.log('s', 'turn/end', { turn: 1, reason: { kind: 'completed' } })
    await page.goto(`${host.url}/s/s`)
    await page.locator('[data-call=two]').waitFor()
    expect(await page.locator('[data-chat-list] [data-row][tabindex="0"]').count()).toBe(1)
    await page.keyboard.press('j')
    await page.keyboard.press('k')
    await page.keyboard.press('ArrowRight')
    const first = page.locator('[data-call=one] [data-row]')
    await expect.poll(() => first.getAttribute('aria-expanded')).toBe('true')
    await page.keyboard.press('c')
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('a')
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => first.getAttribute('aria-expanded')).toBe('false')
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('/')
    expect(await page.locator('[data-composer]').evaluate((area) => area === document.activeElement)).toBe(true)
  })

  it('renames in place, and asks before it deletes', async () => {
    host.add('s', 'Old name')
    await page.goto(`${host.url}/s/s`)
    await page.locator('[data-session=s] a').dblclick()
    await page.getByRole('textbox', { name: 'Rename' }).fill('New name')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.title()).toBe('New name · dsh')
    expect(host.calls.find(({ name }) => name === 'sessions.rename')?.params).toEqual({ id: 's', title: 'New name' })
    await page.locator('header').getByRole('button', { name: /More/ }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.waitForURL(`${host.url}/`)
    expect(host.calls.at(-1)).toEqual({ name: 'sessions.delete', params: { id: 's' } })
  })

  it('stores a key without showing it again', async () => {
    await page.goto(host.url)
    await page.getByRole('button', { name: 'Settings', exact: true }).click()
    const form = page.locator('[data-provider=deepseek]')
    await form.getByLabel('API key').fill('sk-secret')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByText('Saved').waitFor()
    expect(host.calls.at(-1)).toEqual({
      name: 'providers.configure',
      params: { provider: 'deepseek', settings: { apiKey: 'sk-secret' } },
    })
    expect(await form.getByLabel('API key').inputValue()).toBe('')
    await page.getByRole('radio', { name: 'Dark' }).click()
    await page.reload()
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
  })

  it('scrolls 5,000 events with few nodes, stays where a reader is, and counts what is new', async () => {
    host.add('s', 'Long')
    prompt(host, 's', 1, 'go')
    for (let at = 0; at < 1250; at++)
      step(host, 's', 1, at, { words: `Step ${at}`, calls: [bash(`c${at}`, `echo ${at}`, `${at}\n`)] })
    await page.goto(`${host.url}/s/s`)
    await page.getByText('Step 1249').waitFor()
    await expect.poll(distanceFromEnd).toBeLessThan(2)
    expect(await page.locator('[data-chat-list] *').count()).toBeLessThan(2000)
    const slowest = await list().evaluate(async (box) => {
      let worst = 0
      let last = performance.now()
      for (let frame = 0; frame < 60; frame++) {
        box.scrollTop -= 300
        await new Promise(requestAnimationFrame)
        worst = Math.max(worst, performance.now() - last)
        last = performance.now()
      }
      return worst
    })
    expect(slowest).toBeLessThan(500)
    const before = await list().evaluate((box) => box.scrollTop)
    step(host, 's', 1, 1250, { words: 'New at the end', calls: [] })
    await page.locator('[data-to-end]', { hasText: '1 new' }).waitFor()
    expect(Math.abs((await list().evaluate((box) => box.scrollTop)) - before)).toBeLessThan(2)
    await page.locator('[data-to-end]').click()
    await page.getByText('New at the end').waitFor()
    await expect.poll(distanceFromEnd).toBeLessThan(2)
    expect(complaints).toEqual([])
  })

  it('says which model it uses in the log and keeps unknown card kinds readable', async () => {
    host.add('s', 'Cards')
    prompt(host, 's', 1, 'go')
    host.log('s', 'session/model', { ...model, model: 'other-model' })
    step(host, 's', 1, 0, {
      calls: [{ id: 'c', name: 'chart', args: '{"a":1}', content: '[1,2]', result: { card: 'chart3d' } as never }],
    })
    await page.goto(`${host.url}/s/s`)
    await page.locator('[data-call=c] [data-row]').click()
    await page.getByText('shown as plain data: view chart3d is not known here').waitFor()
    await page.getByText('Model is now other-model').waitFor()
  })

  it('keeps a view that throws inside its own box', async () => {
    host.add('s', 'Broken')
    prompt(host, 's', 1, 'go')
    const result = { card: 'terminal', output: 5, exitCode: 1, notes: 'x' } as never
    step(host, 's', 1, 0, {
      words: 'Still here.',
      calls: [bash('c', 'true', '', 0, { result, call: { card: 'terminal', title: 7 } as never })],
    })
    await page.goto(`${host.url}/s/s`)
    await page.getByText('This view failed:').waitFor()
    await page.getByText('Still here.').waitFor()
    await page.getByRole('alert').getByRole('button', { name: 'Raw' }).click()
    await page.getByText('"output": 5').waitFor()
  })
})
