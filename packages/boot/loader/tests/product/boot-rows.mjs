// Boots the composition files of its arguments from the built loader and prints, as one JSON line, what came of it:
// the report, the answer of `CALL` (`{name, arguments}`), what plugins left in `globalThis.seen`, and figures.
import module, { createRequire, syncBuiltinESMExports } from 'node:module'
import { createHost } from '@deepseek-ai/cordis'

// Before the loader takes it: whether module hooks are registered.
let hooks = false
const { register } = module
module.register = (...args) => {
  hooks = true
  return register(...args)
}
syncBuiltinESMExports()
const { boot, compose, dump } = await import('../../dist/index.js')

// The presets package has every part of the host as a dependency, as the command line has.
const hostURL = new URL('../../../../preset/presets/package.json', import.meta.url).href
const preset = process.env.PRESET
const before = performance.now()
const composition = compose({ presets: preset === undefined ? [] : [preset], patches: process.argv.slice(2) })
const composed = performance.now()
const host = createHost({ write() {} })
const report = await boot(composition, { ctx: host.ctx, hostURL, readyTimeoutMs: 5000 })
const result = { report, composeMs: composed - before, bootMs: report.ms, dump: dump(composition) }

const tools = await import(createRequire(hostURL).resolve('@deepseek-ai/dsh-tools'))
const cordis = await import('@deepseek-ai/cordis')
const seen = globalThis.seen ?? {}
result.seen = {
  ...seen.plain,
  ...(seen.tools === undefined ? {} : { sameTools: seen.tools === tools }),
  ...(seen.cordis === undefined ? {} : { sameCordis: seen.cordis === cordis }),
  ...(seen.Upstream === undefined ? {} : { sameUpstream: seen.Upstream === cordis.Context }),
}
if (process.env.CALL !== undefined) {
  const call = JSON.parse(process.env.CALL)
  result.answer = await host.ctx.tools.execute({ callId: 'call-1', signal: new AbortController().signal, ...call })
}
result.hooks = hooks
await host.dispose()
process.stdout.write(`${JSON.stringify(result)}\n`)
