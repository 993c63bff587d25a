// A browser for the product tests: Chromium without a window, and what every page of it must keep to.
import { existsSync } from 'node:fs'
import { chromium, type Browser, type Page } from 'playwright-core'
import type { Served, World } from './harness.ts'

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export const hasBrowser = existsSync(executablePath)

export const launch = (world: World): Promise<Browser> => chromium.launch({ executablePath, args, env: world.env })

export interface OpenPage {
  readonly page: Page
  /** Errors and warnings of the console, uncaught errors, breaches of the content policy. A test expects none. */
  readonly complaints: readonly string[]
}

/** A fresh profile at the address that the server printed. */
export async function openPage(browser: Browser, served: Served): Promise<OpenPage> {
  const complaints: string[] = []
  const page = await (await browser.newContext()).newPage()
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  await page.exposeFunction('complain', (text: string) => complaints.push(text))
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      ;(globalThis as unknown as { complain(text: string): void }).complain(
        `${event.violatedDirective} ${event.blockedURI}`,
      )
    })
  })
  await page.goto(served.url.href)
  return { page, complaints }
}

/** Sends a message. */
export async function say(page: Page, text: string): Promise<void> {
  const composer = page.locator('[data-composer]')
  await composer.fill(text)
  await composer.press('Enter')
}
