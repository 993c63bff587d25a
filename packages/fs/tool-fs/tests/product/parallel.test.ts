// Many edits of one file at once: all land, or each that does not says why. Through an agent's turn and through bare calls.
import { readdirSync } from 'node:fs'
import Agents from '@deepseek-ai/dsh-agent'
import Llm from '../../../../llm/llm/src/index.ts'
import type { LlmAdapter, LlmChunk } from '../../../../llm/llm/src/index.ts'
import { Sessions } from '@deepseek-ai/dsh-session'
import SystemPrompt from '@deepseek-ai/dsh-system-prompt'
import { CallScheduler, type ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import { describe, expect, it } from 'vitest'
import * as readBeforeWrite from '../../../read-before-write/src/index.ts'
import { agentAt, errorOf, startWorld, temporaryFolder, told, type World } from '../support.ts'

const ROWS = Array.from({ length: 6 }, (_, index) => `row ${index}`)
const editOf = (index: number) => ({ path: 'a.txt', old_text: `row ${index}`, new_text: `ROW ${index} changed` })

/** As the agent's loop does. */
async function inOneBatch(world: World, calls: readonly { name: string; args: object }[]) {
  const scheduler = new CallScheduler<ToolExecutionResult>({ maxParallelCalls: 10 })
  const committed: ToolExecutionResult[] = []
  await Promise.all(
    calls.map(({ name, args }) =>
      scheduler.submit({
        mode: () => world.ctx.tools.executionMode({ name, arguments: args, agent: world.agent }),
        run: () => world.call(name, args),
        unstarted: () => expect.unreachable(),
        commit: (result) => void committed.push(result),
      }),
    ),
  )
  return committed
}

describe('six edits of one file in one message', () => {
  it('all land', async () => {
    const world = await startWorld()
    world.put('a.txt', `${ROWS.join('\n')}\n`)
    const results = await inOneBatch(
      world,
      ROWS.map((_, index) => ({ name: 'edit', args: editOf(index) })),
    )
    expect(results.map(({ isError }) => isError)).toEqual(ROWS.map(() => false))
    expect(world.text('a.txt')).toBe(ROWS.map((_, index) => `ROW ${index} changed\n`).join(''))
  })

  it('all land under read-before-write, after one read', async () => {
    const world = await startWorld({ plugins: async (ctx) => void (await ctx.plugin(readBeforeWrite)) })
    world.put('a.txt', `${ROWS.join('\n')}\n`)
    const calls = ROWS.map((_, index) => ({ name: 'edit', args: editOf(index) }))
    const results = await inOneBatch(world, [{ name: 'read', args: { path: 'a.txt' } }, ...calls])
    expect(results.map(({ isError }) => isError)).toEqual([false, ...ROWS.map(() => false)])
    expect(world.text('a.txt')).toBe(ROWS.map((_, index) => `ROW ${index} changed\n`).join(''))
  })

  it('each get a result of their own when one cannot be made', async () => {
    const world = await startWorld()
    world.put('a.txt', `${ROWS.join('\n')}\n`)
    const calls = [0, 1, 1, 2].map((index) => ({ name: 'edit', args: editOf(index) }))
    const results = await inOneBatch(world, calls)
    expect(results.map(({ isError }) => isError)).toEqual([false, false, true, false])
    expect(errorOf(results[2] ?? expect.unreachable()).code).toBe('FS_EDIT_NOT_FOUND')
  })

  it('land in a turn of a real agent, with six results in the order of the calls', async () => {
    const logs = temporaryFolder()
    const world = await startWorld({
      async plugins(ctx) {
        await ctx.plugin(Sessions, { dir: logs, fsync: 'never' })
        await ctx.plugin(SystemPrompt)
        await ctx.plugin(Llm)
        await ctx.plugin(Agents, {})
        await ctx.plugin(readBeforeWrite)
      },
    })
    world.put('a.txt', `${ROWS.join('\n')}\n`)
    const calls = [
      { name: 'read', args: { path: 'a.txt' } },
      ...ROWS.map((_, n) => ({ name: 'edit', args: editOf(n) })),
    ]
    world.ctx.llm.register(scripted([callsOf(calls), [{ type: 'text', text: 'done' }, finish('stop')]]))
    const agent = await world.ctx.agents.create({ cwd: world.dir, model: 'script/one' })
    agent.send('change the rows')
    await agent.whenIdle()
    const results = (await agent.session.read({ from: 0 })).filter(({ type }) => type === 'tool/result')
    expect(results.map(({ data }) => data)).toMatchObject(
      calls.map((_, index) => ({ callId: `call-${index}`, isError: false })),
    )
    expect(world.text('a.txt')).toBe(ROWS.map((_, index) => `ROW ${index} changed\n`).join(''))
    await agent.dispose()
  })
})

describe('writers that do not wait for each other', () => {
  it('all land when they edit different places', async () => {
    const world = await startWorld()
    world.put('a.txt', Array.from({ length: 50 }, (_, index) => `<${index}>\n`).join(''))
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        world.call('edit', { path: 'a.txt', old_text: `<${index}>`, new_text: `[${index}]` }),
      ),
    )
    expect(results.filter(({ isError }) => isError).map(told)).toEqual([])
    expect(world.text('a.txt')).toBe(Array.from({ length: 50 }, (_, index) => `[${index}]\n`).join(''))
    expect(readdirSync(world.dir)).toEqual(['a.txt'])
  })

  it('never tear a file that each writes whole', async () => {
    const world = await startWorld()
    const contents = Array.from({ length: 20 }, (_, index) => `${String(index).repeat(20_000)}\n`)
    await Promise.all(contents.map((content) => world.call('write', { path: 'a.txt', content })))
    expect(contents).toContain(world.text('a.txt'))
  })

  it('are told when another agent was there first', async () => {
    const world = await startWorld({ plugins: async (ctx) => void (await ctx.plugin(readBeforeWrite)) })
    world.put('a.txt', 'one\ntwo\n')
    const [ann, bob] = [agentAt(world.dir, 'ann'), agentAt(world.dir, 'bob')]
    for (const agent of [ann, bob]) await world.call('read', { path: 'a.txt' }, { agent })
    const results = await Promise.all([
      world.call('edit', { path: 'a.txt', old_text: 'one', new_text: '1' }, { agent: ann }),
      world.call('edit', { path: 'a.txt', old_text: 'two', new_text: '2' }, { agent: bob }),
    ])
    expect(results.map(({ isError }) => isError)).toEqual([false, true])
    expect(errorOf(results[1] ?? expect.unreachable()).code).toBe('FS_STALE_VERSION')
    expect(world.text('a.txt')).toBe('1\ntwo\n')
  })
})

describe('a call that is cancelled', () => {
  it('leaves the old file or the new one, and nothing beside it', async () => {
    const world = await startWorld()
    const [before, after] = ['old '.repeat(200_000), 'new '.repeat(200_000)]
    for (let ticks = 0; ticks < 20; ticks++) {
      world.put('a.txt', before)
      const controller = new AbortController()
      const running = world.call('write', { path: 'a.txt', content: after }, { signal: controller.signal })
      for (let tick = 0; tick < ticks; tick++) await new Promise<void>((resolve) => setImmediate(resolve))
      controller.abort()
      const result = await running
      expect(world.text('a.txt') === (result.isError ? before : after) || world.text('a.txt') === after).toBe(true)
      expect(readdirSync(world.dir)).toEqual(['a.txt'])
    }
  })
})

const finish = (reason: 'stop' | 'tool-calls'): LlmChunk => ({ type: 'finish', reason })

function callsOf(calls: readonly { name: string; args: object }[]): LlmChunk[] {
  const chunks = calls.map(({ name, args }, index): LlmChunk => ({
    type: 'tool-call',
    index,
    id: `call-${index}`,
    name,
    argumentsDelta: JSON.stringify(args),
  }))
  return [...chunks, finish('tool-calls')]
}

/** Answers each request with the next script. */
function scripted(scripts: LlmChunk[][]): LlmAdapter {
  const models = [{ provider: 'script', id: 'one' }]
  return {
    provider: 'script',
    status: () => ({ provider: 'script', label: 'Script', configured: true, models, configurable: false }),
    async *stream() {
      yield* scripts.shift() ?? [finish('stop')]
    },
  }
}
