// Boots the composition file of the first argument and reloads its only plugin 1,000 times; then imports as many versions of it without
// a loader. Prints as JSON what is left of each. Needs --expose-gc.
import { pathToFileURL } from 'node:url'
import { Context, fiberTable, hooksOf } from '@deepseek-ai/cordis'
import { boot, compose } from '@deepseek-ai/dsh-loader'

const ROUNDS = 1000
const [file, plugin] = process.argv.slice(2)
const recompose = () => compose({ presets: [], patches: [file] })
const ctx = new Context()
await boot(recompose(), { ctx, recompose, hostURL: import.meta.url })

async function heap() {
  for (let round = 0; round < 3; round++) {
    await new Promise((resolve) => setImmediate(resolve))
    gc()
  }
  return process.memoryUsage().heapUsed
}
const registered = () => ({
  fibers: fiberTable(ctx.root).length,
  effects: ctx.fiber.getEffects().length,
  listeners: Object.values(hooksOf(ctx)).flatMap((list) => [...(list ?? [])]).length,
})
async function grown(work) {
  for (let round = 0; round < 100; round++) await work(`warm-${round}`)
  const before = await heap()
  for (let round = 0; round < ROUNDS; round++) await work(round)
  return ((await heap()) - before) / ROUNDS
}

const kinds = new Set()
await ctx.loader.reload([plugin])
const before = registered()
const reloads = await grown(async () => {
  const { rows } = await ctx.loader.reload([plugin])
  for (const { kind } of rows) kinds.add(kind)
})
const after = registered()
// What is called is compiled, and stays so with its module.
const imports = await grown(async (round) => {
  const { apply } = await import(`${pathToFileURL(plugin).href}?dsh-version=bare-${round}`)
  Function.prototype.toString.call(apply)
  apply({ on() {} })
})
console.log(JSON.stringify({ before, after, kinds: [...kinds], reloads, imports }))
await ctx.fiber.dispose()
