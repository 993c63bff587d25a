// `pnpm bench`: measures what has a budget, prints a table and writes bench-results.json. Names as arguments select parts.
import { cpus, totalmem } from 'node:os'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bootstrap, root } from './bootstrap.mjs'

const PARTS = ['tools', 'code', 'agent', 'shell', 'fs', 'search', 'web', 'reload', 'install']

const asked = process.argv.slice(2)
const unknown = asked.filter((part) => !PARTS.includes(part))
if (unknown.length > 0) {
  console.error(`bench: unknown part ${unknown.join(', ')}; known: ${PARTS.join(', ')}`)
  process.exit(2)
}

await bootstrap()
const results = []
for (const part of asked.length > 0 ? asked : PARTS) {
  const { benches } = await import(`./bench/${part}.mjs`)
  for (const bench of benches) {
    for (const result of await bench()) {
      const ok = result.value <= result.budget
      results.push({ ...result, ok })
      print({ ...result, ok })
    }
  }
}

const [cpu] = cpus()
const machine = `${cpus().length} × ${cpu?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB`
writeFileSync(
  join(root, 'bench-results.json'),
  `${JSON.stringify({ machine, node: process.version, results }, null, 2)}\n`,
)
const missed = results.filter((result) => !result.ok)
console.log(
  `\n${results.length - missed.length} of ${results.length} within budget on ${machine}, Node ${process.version}`,
)
process.exit(0)

function print({ id, value, unit, ratio, budget, ok }) {
  const relative = ratio === undefined ? '' : `(${figure(ratio)}×)`
  console.log(
    `${ok ? '  ' : '! '}${id.padEnd(20)} ${figure(value).padStart(9)} ${unit.padEnd(18)} budget ${figure(budget).padStart(6)} ${relative}`,
  )
}

function figure(value) {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
}
