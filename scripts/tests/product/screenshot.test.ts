// The picture of the page in the README: the real `dsh web`, the real browser, the offline model. UPDATE_DOCS=1 writes it to docs/images.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeFiles } from './markdown.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const entry = join(root, 'packages/boot/cli/dist/bin.js')
const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const browserArgs = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
const greetPrompt = 'Use the greet tool to greet Ada.'
const bashPrompt = '/bash command="ls -1; exit 3" description="List the folder, then fail on purpose"'

describe.skipIf(!existsSync(executablePath))('the picture of the page (needs Chromium)', () => {
  const temp = mkdtempSync(join(tmpdir(), 'dsh-picture-'))
  // What the picture shows of paths: a folder with a name a person would choose.
  const folder = join(temp, 'my-project')
  let server: ChildProcess
  let browser: Browser
  let page: Page

  beforeAll(async () => {
    writeFiles(join(root, 'docs/user/develop/basic/tool.md'), folder)
    writeFileSync(join(folder, 'README.md'), '# My project\n')
    const home = join(temp, 'home')
    mkdirSync(home)
    const args = [entry, 'web', '--port', '0', '--no-open', '--patch', './scratch-plugin/cordis.yml']
    server = spawn(process.execPath, args, {
      cwd: folder,
      env: { PATH: process.env['PATH'], HOME: home, DSH_HOME: join(home, '.dsh') },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const url = await address(server)
    browser = await chromium.launch({ executablePath, args: browserArgs })
    page = await browser.newPage({ viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1, colorScheme: 'light' })
    await page.goto(url)
  })
  afterAll(async () => {
    await browser?.close()
    if (server !== undefined && server.exitCode === null && server.signalCode === null) {
      const exit = once(server, 'exit')
      server.kill('SIGTERM')
      await exit
    }
    rmSync(temp, { recursive: true, force: true })
  })

  async function send(text: string): Promise<void> {
    const composer = page.getByRole('combobox', { name: 'Message, / for tools' })
    await composer.fill(text)
    await composer.press('Enter')
  }

  it('shows a greet card with its answer and a bash card with its exit code', async () => {
    const chat = page.locator('[data-chat-list]')
    const call = (tool: string) => chat.locator('[data-kind=call]').filter({ hasText: tool })
    await send(greetPrompt)
    await chat.locator('[data-kind=prose]').filter({ hasText: 'Hello, Ada!' }).waitFor()
    await call('greet').waitFor()

    await send(bashPrompt)
    // A command that fails opens its card by itself; the turn before folds into one row.
    await call('README.md').getByText('exit 3').first().waitFor()
    await chat.locator('[data-kind=prose]').filter({ hasText: '[exit code: 3]' }).waitFor()
    await chat.getByText('1 call').click()
    await call('greet').locator('[data-row]').click()
    await call('greet').getByText('Hello, Ada!').waitFor()
    expect(await call('greet').innerText()).toContain('name\nAda')

    const picture = join(temp, 'ui.png')
    await page.mouse.move(0, 0)
    await page.screenshot({ path: picture, animations: 'disabled', caret: 'hide' })
    expect(statSync(picture).size).toBeLessThan(150 * 1024)
    if (process.env['UPDATE_DOCS'] === '1') copyFileSync(picture, join(root, 'docs/images/ui.png'))
  })
})

/** The printed address: the first line of standard output. Rejects when the process ends before. */
async function address(child: ChildProcess): Promise<string> {
  const lines = createInterface({ input: child.stdout! })
  const [line] = (await Promise.race([
    once(lines, 'line'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`dsh web ended with ${String(code)}`))),
  ])) as [string]
  const url = /http:\S+/.exec(line)?.[0]
  if (url === undefined) throw new Error(`no address in ${JSON.stringify(line)}`)
  return url
}
