// Ratios of bash-local over a raw spawn, in one run: `bash -c true`, and 100 MB of stdout with its peak memory.
// Run after a build: node packages/shell/bash-local/bench/bash.mjs. Prints one JSON line.
import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Context } from '@deepseek-ai/cordis'
import BashLocal from '@deepseek-ai/dsh-bash-local'

const HUNDRED_MB = 'head -c 100000000 /dev/zero'
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]

function raw(command) {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    child.stdout.on('data', () => {})
    child.stderr.on('data', () => {})
    child.on('error', reject)
    child.on('close', resolve)
  })
}

async function timed(work) {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** Alternates the two, so that a noisy neighbour hits both. */
async function compare(ours, theirs, rounds) {
  const a = []
  const b = []
  for (let i = 0; i < rounds; i++) {
    a.push(await timed(ours))
    b.push(await timed(theirs))
  }
  return { ms: median(a), rawMs: median(b), ratio: median(a) / median(b) }
}

async function main() {
  const ctx = new Context()
  await ctx.plugin(BashLocal)
  const { shell } = ctx
  const run = (command) => shell.run(shell.resolve({ command }))
  if (process.argv[2] === 'rss') {
    await run(HUNDRED_MB)
    process.stdout.write(String(process.resourceUsage().maxRSS / 1024))
    return ctx.fiber.dispose()
  }
  await compare(
    () => run('true'),
    () => raw('true'),
    20,
  )
  const bashTrue = await compare(
    () => run('true'),
    () => raw('true'),
    300,
  )
  const bash100mb = await compare(
    () => run(HUNDRED_MB),
    () => raw(HUNDRED_MB),
    15,
  )
  // A process of its own: the peak of this one already holds both ways.
  const rss = spawnSync(process.execPath, [fileURLToPath(import.meta.url), 'rss'], { encoding: 'utf8' })
  process.stdout.write(`${JSON.stringify({ bashTrue, bash100mb: { ...bash100mb, peakRssMb: Number(rss.stdout) } })}\n`)
  await ctx.fiber.dispose()
}

await main()
