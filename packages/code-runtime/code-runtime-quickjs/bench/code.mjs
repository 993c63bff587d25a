// What programs cost: medians in milliseconds, beside bare round trips to a worker thread on the same machine.
import { Worker } from 'node:worker_threads'
import { Context, disposeAndJoin } from '@deepseek-ai/cordis'
import CodeRuntimeQuickjs from '../dist/index.js'

const ROUNDS = 15
const bindings = [{ global: 'tools', names: ['echo'], call: async (_name, argument) => argument }]

async function median(body) {
  const times = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = performance.now()
    await body()
    times.push(performance.now() - start)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)]
}

const echo = new Worker(
  `const { parentPort } = require('node:worker_threads'); parentPort.on('message', (m) => parentPort.postMessage(m))`,
  {
    eval: true,
  },
)
let answered = () => {}
echo.on('message', () => answered())
const roundTrips = async () => {
  for (let index = 0; index < 1000; index += 1) {
    await new Promise((resolve) => {
      answered = resolve
      echo.postMessage('[1,0,0,{"i":1}]')
    })
  }
}

const ctx = new Context()
const fiber = await ctx.plugin(CodeRuntimeQuickjs, {})
const run = (program) => ctx.codeRuntime.run({ program, bindings })
await run('return 1')
await roundTrips()

const bare = await median(roundTrips)
const rows = [
  ['1,000 bare round trips', bare],
  ['empty program', await median(() => run(''))],
  [
    '1,000 calls, one after the other',
    await median(() => run('for (let i = 0; i < 1000; i++) await tools.echo({ i })')),
  ],
  [
    '1,000 calls at once',
    await median(() => run('await Promise.all(Array.from({ length: 1000 }, (_, i) => tools.echo({ i })))')),
  ],
  ['1 MB text as result', await median(() => run('return "x".repeat(1e6)'))],
  [
    '1 MB of 2,000 records as result',
    await median(() =>
      run(
        'return Array.from({ length: 2000 }, (_, id) => ({ id, path: "src/" + id, text: "x".repeat(460), ok: true }))',
      ),
    ),
  ],
]
for (const [what, ms] of rows)
  console.log(`${what.padEnd(34)} ${ms.toFixed(2).padStart(8)} ms ${(ms / bare).toFixed(2).padStart(7)}×`)
await disposeAndJoin(fiber)
await echo.terminate()
