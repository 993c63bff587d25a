// One process that runs one command through bash-local, for its peak memory; prints megabytes.
import { Context } from '../../packages/core/cordis/dist/index.js'
import BashLocal from '../../packages/shell/bash-local/dist/index.js'

const ctx = new Context()
await ctx.plugin(BashLocal)
const { shell } = ctx
await shell.run(shell.resolve({ command: process.argv[2] }))
process.stdout.write(String(process.resourceUsage().maxRSS / 1024))
await ctx.fiber.dispose()
