// Boots the permission-gate example over the headless preset from what was built, makes the calls of its argument one after the other, and
// prints their outcomes and what was asked as one JSON line. `ANSWER`: what a person says to each question; without it nobody is there.
import { createHost } from '@deepseek-ai/cordis'
import { boot, compose } from '../../../../boot/loader/dist/index.js'
import { presetFiles } from '../../../../preset/presets/dist/index.js'

const hostURL = new URL('../../../../preset/presets/package.json', import.meta.url).href
const [patch, calls] = process.argv.slice(2)
const log = []
const host = createHost({ write: (line) => log.push(line) })
const report = await boot(compose({ presets: presetFiles('headless'), patches: [patch] }), { ctx: host.ctx, hostURL })
const { approval, tools } = host.ctx
const asked = []
if (process.env.ANSWER !== undefined) {
  approval.registerAnswerer({ canAnswer: () => true })
  approval.subscribe(() => {
    const [pending] = approval.pending('')
    if (pending === undefined) return
    asked.push({ subject: pending.subject, reason: pending.reason })
    approval.answer(pending.id, JSON.parse(process.env.ANSWER))
  })
}
const outcomes = []
for (const [name, args] of JSON.parse(calls)) {
  const { signal } = new AbortController()
  const result = await tools.execute({ callId: `c${outcomes.length}`, name, arguments: args, signal })
  outcomes.push(result.isError ? { code: result.error.code, message: result.error.message } : { value: result.value })
}
await host.dispose()
const rows = report.rows.filter(({ state }) => state !== 'active')
process.stdout.write(`${JSON.stringify({ rows, asked, outcomes, log })}\n`)
