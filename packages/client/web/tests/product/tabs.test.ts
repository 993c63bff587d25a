// Twenty tabs of one browser on the real server: they share their connections, and one that is stalled costs the others nothing.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { existsSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { contentText } from '@deepseek-ai/dsh-tools'
import { says, startHost, tempFolder, type TestHost } from '../../../../host/server/tests/host.ts'

const TABS = 20
const STEPS = 10
const LINES = 200
const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const args = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync']

/** Connections that the server has open, and the most it had. */
function countConnections() {
  const open = new Set<Socket>()
  let most = 0
  const listener = (message: unknown): void => {
    const { socket } = message as { socket: Socket }
    if (open.has(socket)) return
    open.add(socket)
    most = Math.max(most, open.size)
    socket.once('close', () => open.delete(socket))
  }
  subscribe('http.server.request.start', listener)
  return {
    most: (): number => most,
    open: (): number => open.size,
    stop: () => unsubscribe('http.server.request.start', listener),
  }
}

/** A tool that prints its lines at once but waits before the last one when `gate` says so. */
function printingTool(host: TestHost, gate: (step: number) => Promise<void> | undefined): void {
  host.ctx.tools.register({
    name: 'print',
    description: 'Prints.',
    parameters: { type: 'object', properties: { step: { type: 'integer' } }, additionalProperties: true },
    output: { schema: {}, render: (_: unknown, value: unknown) => [{ type: 'text', text: String(value) }] },
    presentCall: ({ step }) => ({ card: 'terminal', title: `print ${String(step)}` }),
    presentResult: (_: unknown, { content }) => ({ card: 'terminal', output: contentText(content), exitCode: 0 }),
    async execute({ step }, exec) {
      let all = ''
      for (let line = 1; line <= LINES; line++) {
        if (line === LINES) await gate(Number(step))
        const text = `line ${line} of ${String(step)}\n`
        all += text
        exec.report({ kind: 'text', text })
        if (line % 20 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      return all
    },
  })
}

describe.skipIf(!existsSync(executablePath))('twenty tabs (need Chromium)', () => {
  let folder: Awaited<ReturnType<typeof tempFolder>>
  let host: TestHost
  let browser: Browser
  let context: BrowserContext

  beforeEach(async () => {
    folder = await tempFolder()
    host = await startHost(folder.path)
    host.server.page(join(import.meta.dirname, '../../dist/page'))
    browser = await chromium.launch({ executablePath, args })
    context = await browser.newContext({ viewport: { width: 900, height: 1400 } })
  })
  afterEach(async () => {
    await browser.close()
    await host.dispose()
    await folder.remove()
  })

  /** Every row on the page, in order: calls by their id, texts by their words. */
  const rows = (page: Page): Promise<string[]> =>
    page.locator('[data-chat-list] [data-kind]').evaluateAll((all) =>
      all.map((row) => {
        const call = row.matches('[data-call]') ? row : row.querySelector('[data-call]')
        return (
          call?.getAttribute('data-call') ?? (row as HTMLElement).innerText.replace(/^You\n+/, '').split('\n')[0] ?? ''
        )
      }),
    )

  it('show a flood once and in order over few connections, a stalled and a late one among them', async () => {
    let release: () => void = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    let reached: () => void = () => {}
    const half = new Promise<void>((resolve) => (reached = resolve))
    printingTool(host, (step) => (step === STEPS / 2 ? (reached(), released) : undefined))
    for (let step = 1; step <= STEPS; step++) {
      host.script.push(async function* () {
        yield { type: 'text', text: `Step ${step}` }
        yield { type: 'tool-call', index: 0, id: `c${step}`, name: 'print', argumentsDelta: JSON.stringify({ step }) }
        yield { type: 'finish', reason: 'tool-calls' }
      })
    }
    host.script.push(() => says('All printed.'))

    const connections = countConnections()
    const { id } = await host.value('sessions.create', {})
    const open = async (): Promise<Page> => {
      const page = await context.newPage()
      await page.goto(`${host.origin}/s/${id}`)
      return page
    }
    const entry = await context.newPage()
    await entry.goto(host.server.url)
    await entry.goto(`${host.origin}/s/${id}`)
    const tabs = [entry, ...(await Promise.all(Array.from({ length: TABS - 2 }, open)))]
    const [first, stalled] = tabs as [Page, Page]
    await Promise.all(tabs.map((page) => page.locator('[data-composer]').waitFor()))

    const composer = first.locator('[data-composer]')
    await composer.fill('print')
    // A connection that is not free, or not known to be good, keeps the button shut.
    await first.getByRole('button', { name: 'Send' }).click()
    await half
    // Blocks the main thread of the tab while the rest comes.
    const block = stalled.evaluate(() => {
      for (const end = Date.now() + 4000; Date.now() < end;);
    })
    const late = await open()
    for (const page of [first, late]) {
      await page.locator(`[data-call=c${STEPS / 2}][data-state=running]`).waitFor()
      // Its card opens by itself when the call has run for a while.
      await page.getByText(`line ${LINES - 1} of ${STEPS / 2}`).waitFor()
      // As many lines as were printed: none came twice, none is missing.
      await page.getByText(`${LINES - 1 - 12} earlier lines`).waitFor()
    }
    release()
    const others = [...tabs.filter((page) => page !== stalled), late]
    const expected = [
      'print',
      ...Array.from({ length: STEPS }, (_, index) => [`Step ${index + 1}`, `c${index + 1}`]).flat(),
      'All printed.',
    ]
    const check = async (page: Page): Promise<void> => {
      await page.getByText('All printed.').waitFor()
      expect(await rows(page)).toEqual(expected)
    }
    await Promise.all(others.map(check))
    await block
    await check(stalled)

    // Any tab may send, the one that was stalled included. The turn before is then folded into one row.
    const later: string[] = []
    const sinceThen = async (page: Page): Promise<string[]> => {
      const all = await rows(page)
      return all.slice(all.indexOf('All printed.') + 1)
    }
    for (const page of [late, stalled]) {
      host.script.push(() => says('Yes.'))
      await page.locator('[data-composer]').fill('still there?')
      await page.getByRole('button', { name: 'Send' }).click()
      later.push('still there?', 'Yes.')
      await Promise.all([...others, stalled].map((each) => expect.poll(() => sinceThen(each)).toEqual(later)))
    }
    expect(connections.most()).toBeLessThanOrEqual(6)
    await expect.poll(connections.open).toBeLessThanOrEqual(6)
    connections.stop()
  }, 60_000)
})
