// One process that asks every question of the search tools, for its peak memory; prints megabytes.
import { searchHost } from './search-host.mjs'

const [, , tree, questions] = process.argv
const host = await searchHost(tree)
for (const { tool, args } of JSON.parse(questions)) await host.call(tool, args)
process.stdout.write(String(process.resourceUsage().maxRSS / 1024))
await host.dispose()
