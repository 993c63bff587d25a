// `node scripts/run-ts.mjs SCRIPT.ts …`: runs a TypeScript script of this workspace, with the loader's own hooks. Needs a build.
import { existsSync } from 'node:fs'
import { register } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const hooks = new URL('../packages/boot/loader/dist/hooks.js', import.meta.url)
const [script] = process.argv.slice(2)
if (script === undefined) throw new Error('usage: node scripts/run-ts.mjs SCRIPT.ts …')
if (!existsSync(hooks)) throw new Error('nothing is built yet; run "npm run build" first')

register(hooks, { data: { hosts: [] } })
process.argv.splice(1, 1)
process.argv[1] = resolve(script)
await import(pathToFileURL(resolve(script)).href)
