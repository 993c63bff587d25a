// A turn with one tool call, and the session log.
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '../../packages/core/cordis/dist/index.js'
import ToolRegistry, { defineTool } from '../../packages/core/tools/dist/index.js'
import Agents from '../../packages/core/agent/dist/index.js'
import Sessions from '../../packages/core/session/dist/index.js'
import SystemPrompt from '../../packages/core/system-prompt/dist/index.js'
import Llm from '../../packages/llm/llm/dist/index.js'
import { median, time } from './measure.mjs'

const TURNS = 20
// Rounds of turns: the compiler goes on replacing code for thousands of turns.
const WARM_UP = 500
const ROUNDS = 700
const EVENTS = 100_000
const SLICE = 5_000

/** A model that calls one tool and then answers. */
const model = {
  provider: 'bench',
  status: () => ({
    provider: 'bench',
    label: 'Bench',
    configured: true,
    configurable: false,
    models: [{ provider: 'bench', id: 'one' }],
  }),
  async *stream({ messages }) {
    if (messages.at(-1)?.role === 'tool') {
      yield { type: 'text', text: 'done' }
      yield { type: 'finish', reason: 'stop' }
    } else {
      yield { type: 'tool-call', index: 0, id: `call-${messages.length}`, name: 'add', argumentsDelta: '{"a":1,"b":2}' }
      yield { type: 'finish', reason: 'tool-calls' }
    }
  },
}

async function turns() {
  const dir = mkdtempSync(join(tmpdir(), 'dsh-bench-'))
  const ctx = new Context()
  await ctx.plugin(SystemPrompt)
  await ctx.plugin(ToolRegistry)
  await ctx.plugin(Sessions, { dir })
  await ctx.plugin(Llm)
  await ctx.plugin(Agents)
  ctx.llm.register(model)
  ctx.tools.register(
    defineTool({
      name: 'add',
      description: 'Adds.',
      parameters: { a: { type: 'number', required: true }, b: { type: 'number', required: true } },
      output: { schema: { type: 'number' }, render: (_args, value) => [{ type: 'text', text: String(value) }] },
      execute: (args) => args.a + args.b,
    }),
  )
  const { agents } = ctx
  const times = []
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    // A fresh agent each round: a conversation that only grows would measure its length.
    const agent = await agents.create({ ephemeral: true, cwd: dir })
    const ms = await time(async () => {
      for (let turn = 0; turn < TURNS; turn++) {
        agent.send('go')
        await agent.whenIdle()
      }
    })
    times.push((ms / TURNS) * 1000)
    await agent.dispose()
  }
  await ctx.fiber.dispose()
  rmSync(dir, { recursive: true, force: true })
  return [{ id: 'turn-one-call', value: median(times.slice(WARM_UP)), unit: 'µs', budget: 100 }]
}

async function append() {
  const dir = mkdtempSync(join(tmpdir(), 'dsh-bench-'))
  const ctx = new Context()
  await ctx.plugin(Sessions, { dir })
  const { sessions } = ctx
  const data = (turn) => ({
    turn,
    message: { id: 'message', content: [{ type: 'text', text: 'some words of a person' }], source: { kind: 'user' } },
  })
  let files = 0
  const round = async () => {
    const session = await sessions.create({ cwd: dir })
    const file = openSync(join(dir, `plain-${files++}`), 'w')
    const spent = { ours: 0, plain: 0 }
    // In slices by turns: what else the machine does then slows down both alike.
    for (let from = 0; from < EVENTS; from += SLICE) {
      spent.plain += await time(() => {
        for (let seq = from; seq < from + SLICE; seq++) {
          writeSync(file, `${JSON.stringify({ seq, time: Date.now(), type: 'user/message', data: data(seq) })}\n`)
        }
      })
      // What is queued at the end of a slice, 64 KiB at most, is written in the next one, and by the close.
      spent.ours += await time(() => {
        for (let seq = from; seq < from + SLICE; seq++) session.append('user/message', data(seq))
      })
    }
    spent.plain += await time(() => closeSync(file))
    spent.ours += await time(() => session.close())
    return spent
  }
  await round()
  const rounds = []
  for (let count = 0; count < 7; count++) rounds.push(await round())
  const ratio = median(rounds.map(({ ours, plain }) => ours / plain))
  const reference = median(rounds.map(({ plain }) => plain))
  await ctx.fiber.dispose()
  rmSync(dir, { recursive: true, force: true })
  return [{ id: 'session-append', value: ratio, unit: '× plain writeSync', reference, budget: 1.5 }]
}

export const benches = [turns, append]
