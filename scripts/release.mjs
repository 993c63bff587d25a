// `npm run release`: builds what changed, then packs, checks and lists what would be published; `--publish` publishes it.
import { register } from 'node:module'
import { checkNode } from './check-node.mjs'

checkNode(20, 19)
const args = process.argv.slice(2)
const { bootstrap, root } = await import('./bootstrap.mjs')
await bootstrap()
register(new URL('../packages/boot/loader/dist/hooks.js', import.meta.url), { data: { hosts: [] } })
const { release, USAGE } = await import('./release/main.ts')
if (args.includes('--help')) {
  process.stdout.write(USAGE)
} else {
  process.exitCode = await release(root, args)
}
