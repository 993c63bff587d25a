// bash-local against a raw spawn of the same command.
import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Context } from '../../packages/core/cordis/dist/index.js'
import BashLocal from '../../packages/shell/bash-local/dist/index.js'
import { against } from './measure.mjs'

const HUNDRED_MB = 'head -c 100000000 /dev/zero'

function raw(command) {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    child.stdout.on('data', () => {})
    child.stderr.on('data', () => {})
    child.on('error', reject)
    child.on('close', resolve)
  })
}

async function bash() {
  const ctx = new Context()
  await ctx.plugin(BashLocal)
  const { shell } = ctx
  const run = (command) => shell.run(shell.resolve({ command }))
  const quick = await against(
    () => run('true'),
    () => raw('true'),
    { rounds: 300, warmup: 20 },
  )
  const large = await against(
    () => run(HUNDRED_MB),
    () => raw(HUNDRED_MB),
    { rounds: 15, warmup: 1 },
  )
  await ctx.fiber.dispose()
  // A process of its own: the peak of this one already holds both ways.
  const child = fileURLToPath(new URL('bash-child.mjs', import.meta.url))
  const peak = spawnSync(process.execPath, [child, HUNDRED_MB], { encoding: 'utf8' })
  return [
    { id: 'bash-true', value: quick.ratio, unit: '× raw spawn', reference: quick.reference, budget: 1.1 },
    { id: 'bash-100mb', value: large.ratio, unit: '× raw spawn', reference: large.reference, budget: 1.1 },
    { id: 'bash-100mb-rss', value: Number(peak.stdout), unit: 'MB peak RSS', budget: 110 },
  ]
}

export const benches = [bash]
