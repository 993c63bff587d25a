// `dsh web` from spawn to its first answer, and the first page in a real browser.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../bootstrap.mjs'
import { median } from './measure.mjs'

const BIN = join(root, 'packages/boot/cli/dist/bin.js')
const CHROMIUM = '/usr/bin/chromium'

/** Starts a server with a home of its own and resolves once it has answered with 200. */
async function start(home) {
  const startedAt = performance.now()
  const env = { ...process.env, HOME: home, DSH_HOME: join(home, '.dsh') }
  const child = spawn(process.execPath, [BIN, 'web', '--port', '0', '--no-open'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await new Promise((resolve, reject) => {
    let out = ''
    child.stdout.on('data', (chunk) => {
      out += chunk
      const found = /http:\S+/.exec(out)
      if (found !== null) resolve(found[0])
    })
    child.on('close', (code) => reject(new Error(`dsh web ended with ${code}`)))
  })
  const response = await fetch(url)
  await response.arrayBuffer()
  if (!response.ok) throw new Error(`dsh web answered ${response.status}`)
  const ms = performance.now() - startedAt
  const stop = () => new Promise((resolve) => (child.once('close', resolve), child.kill('SIGTERM')))
  return { url, ms, pid: child.pid, stop }
}

async function withHome(work) {
  const home = mkdtempSync(join(tmpdir(), 'dsh-bench-'))
  try {
    return await work(home)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

async function boot() {
  return withHome(async (home) => {
    const times = []
    const sizes = []
    for (let round = 0; round < 16; round++) {
      const server = await start(home)
      times.push(server.ms)
      sizes.push(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1024)
      await server.stop()
    }
    return [
      { id: 'boot', value: median(times.slice(1)), unit: 'ms to HTTP 200', budget: 450 },
      { id: 'boot-rss', value: median(sizes), unit: 'MB RSS', budget: 120 },
    ]
  })
}

async function firstPage() {
  if (!existsSync(CHROMIUM)) {
    console.error('bench: first-page skipped, chromium is not installed')
    return []
  }
  const { chromium } = await import('playwright-core')
  return withHome(async (home) => {
    const server = await start(home)
    const args = [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ]
    const browser = await chromium.launch({ executablePath: CHROMIUM, args })
    try {
      const paints = []
      let requests = 0
      let transferred = 0
      for (let round = 0; round < 12; round++) {
        const context = await browser.newContext()
        const page = await context.newPage()
        requests = 0
        transferred = 0
        const network = await context.newCDPSession(page)
        await network.send('Network.enable')
        network.on('Network.requestWillBeSent', () => requests++)
        network.on('Network.loadingFinished', (event) => (transferred += event.encodedDataLength))
        await page.goto(server.url)
        await page.waitForSelector('textarea')
        await page.waitForTimeout(300)
        paints.push(
          await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Infinity),
        )
        await context.close()
      }
      return [
        { id: 'first-page', value: median(paints), unit: 'ms first paint', budget: 250 },
        { id: 'first-page-requests', value: requests, unit: 'requests', budget: 12 },
        { id: 'first-page-size', value: transferred / 1024, unit: 'KB transferred', budget: 450 },
      ]
    } finally {
      await browser.close()
      await server.stop()
    }
  })
}

export const benches = [boot, firstPage]
