import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, expect, it } from 'vitest'

const packageDir = fileURLToPath(new URL('../..', import.meta.url))
const entry = new URL('../../dist/index.js', import.meta.url).href
const temp = mkdtempSync(join(tmpdir(), 'dsh-cordis-'))
afterAll(() => rmSync(temp, { recursive: true, force: true }))

interface Ended {
  code: number | null
  out: string
}

function node(source: string, onLine?: (line: string, kill: (signal: NodeJS.Signals) => void) => void): Promise<Ended> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  const collect = (chunk: Buffer): void => {
    out += chunk.toString()
    onLine?.(out, (signal) => child.kill(signal))
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, out })))
}

it('stops plugins in order on SIGTERM and exits with 143', async () => {
  let sent = false
  const ended = await node(
    `import { createHost } from '${entry}'
     const host = createHost({ handleSignals: true })
     await host.ctx.plugin({ name: 'p', apply: () => () => console.log('undone') })
     setInterval(() => {}, 1000)
     console.log('ready')`,
    (out, kill) => {
      if (sent || !out.includes('ready')) return
      sent = true
      kill('SIGTERM')
    },
  )
  expect(ended.out).toContain('undone')
  expect(ended.code).toBe(143)
})

it('ends at once on a second signal when a plugin does not stop', async () => {
  let sent = 0
  const ended = await node(
    `import { createHost } from '${entry}'
     const host = createHost({ handleSignals: true, shutdownTimeoutMs: 60000 })
     await host.ctx.plugin({ name: 'stuck', apply: (ctx) => { ctx.effect(() => () => { console.log('stopping'); return new Promise(() => {}) }, 'stuck') } })
     setInterval(() => {}, 1000)
     console.log('ready')`,
    (out, kill) => {
      if (sent === 0 && out.includes('ready')) {
        sent = 1
        kill('SIGINT')
      } else if (sent === 1 && out.includes('stopping')) {
        sent = 2
        kill('SIGINT')
      }
    },
  )
  expect(ended.code).toBe(130)
})

it('ends after the time limit when a plugin never stops', async () => {
  let sent = false
  const ended = await node(
    `import { createHost } from '${entry}'
     const host = createHost({ handleSignals: true, shutdownTimeoutMs: 50 })
     await host.ctx.plugin({ name: 'stuck', apply: (ctx) => { ctx.effect(() => () => new Promise(() => {}), 'stuck') } })
     setInterval(() => {}, 1000)
     console.log('ready')`,
    (out, kill) => {
      if (sent || !out.includes('ready')) return
      sent = true
      kill('SIGTERM')
    },
  )
  expect(ended.out).toContain('still stopping after 50 ms')
  expect(ended.code).toBe(143)
})

it('survives a throw in a timer of a plugin and says where', async () => {
  const ended = await node(
    `import { createHost } from '${entry}'
     createHost({ containFaults: true })
     setTimeout(function faulty() { throw new Error('stray') }, 1)
     setTimeout(() => { console.log('alive'); process.exit(0) }, 30)`,
  )
  expect(ended.out).toContain('uncaught exception: Error: stray')
  expect(ended.out).toContain('faulty')
  expect(ended.out).toContain('alive')
  expect(ended.code).toBe(0)
})

it('survives a stray rejection of a plugin and says so', async () => {
  const ended = await node(
    `import { createHost } from '${entry}'
     createHost({ handleSignals: true })
     void Promise.reject(new Error('stray'))
     setTimeout(() => { console.log('alive'); process.exit(0) }, 20)`,
  )
  expect(ended.out).toContain('unhandled rejection: Error: stray')
  expect(ended.out).toContain('alive')
  expect(ended.code).toBe(0)
})

it('refuses a second copy of itself, naming both', async () => {
  const copy = join(temp, 'copy')
  cpSync(join(packageDir, 'upstream'), join(copy, 'upstream'), { recursive: true })
  symlinkSync(join(packageDir, 'node_modules'), join(copy, 'node_modules'))
  const second = pathToFileURL(join(copy, 'upstream/index.js')).href
  const ended = await node(
    `await import('${entry}')
     await import('${entry}')
     await import('${second}').then(() => console.log('loaded'), (error) => console.log(error.code, error.message))`,
  )
  expect(ended.out).toContain('DUPLICATE_CORDIS')
  expect(ended.out).toContain(second)
})
