// One process that makes one edit in one file, for its peak memory; prints megabytes.
import { Context } from '../../packages/core/cordis/dist/index.js'
import FsLocal from '../../packages/fs/fs-local/dist/index.js'

const [path, oldText, newText] = process.argv.slice(2)
const ctx = new Context()
await ctx.plugin(FsLocal)
const { fs } = ctx
await fs.edit(await fs.resolve(path), [{ oldText, newText }])
process.stdout.write(String(process.resourceUsage().maxRSS / 1024))
await ctx.fiber.dispose()
