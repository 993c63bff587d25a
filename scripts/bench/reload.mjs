// From the save of a plugin’s file to the moment when its new version is what models are offered, in a running `dsh web`.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../bootstrap.mjs'
import { median } from './measure.mjs'

const BIN = join(root, 'packages/boot/cli/dist/bin.js')

const plugin = (round) => `import type { Context } from '@deepseek-ai/cordis'
import { defineTool } from '@deepseek-ai/dsh-tools'
export const inject = ['tools']
export const apply = (ctx: Context): void => void ctx.tools.register(defineTool({
  name: 'round', description: 'Round ${round}.', parameters: {},
  output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value }] },
  execute: () => 'round ${round}',
}))
`

async function reload() {
  const folder = mkdtempSync(join(tmpdir(), 'dsh-bench-reload-'))
  const file = join(folder, 'plugin.ts')
  writeFileSync(file, plugin(0))
  writeFileSync(join(folder, 'cordis.yml'), '- name: ./plugin.ts\n')
  const env = { ...process.env, HOME: folder, DSH_HOME: join(folder, '.dsh') }
  const child = spawn(process.execPath, [BIN, 'web', '--port', '0', '--no-open', '--patch', 'cordis.yml'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  try {
    const [url] = await new Promise((resolve, reject) => {
      let out = ''
      child.stdout.on('data', (chunk) => {
        out += chunk
        const found = /http:\S+/.exec(out)
        if (found !== null) resolve(found)
      })
      void ended.then((code) => reject(new Error(`dsh web ended with ${code}`)))
    })
    const { origin, searchParams } = new URL(url)
    const headers = { authorization: `Bearer ${searchParams.get('token')}`, 'content-type': 'application/json' }
    const description = async () => {
      const response = await fetch(`${origin}/api/tools.list`, { method: 'POST', headers, body: '{}' })
      return (await response.json()).value.find(({ name }) => name === 'round')?.description
    }
    const times = []
    for (let round = 1; round <= 25; round++) {
      const began = performance.now()
      writeFileSync(file, plugin(round))
      while ((await description()) !== `Round ${round}.`) {
        if (performance.now() - began > 10_000) throw new Error('the change was not taken over within 10 s')
      }
      times.push(performance.now() - began)
      // The next change is one of its own.
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    return [{ id: 'reload', value: median(times.slice(5)), unit: 'ms from save to use', budget: 250 }]
  } finally {
    child.kill('SIGTERM')
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
}

export const benches = [reload]
