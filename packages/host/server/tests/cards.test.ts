import { contentText } from '@deepseek-ai/dsh-tools'
import type { ToolCallView, ToolDefinition, ToolResultView } from '@deepseek-ai/dsh-tools'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { calls, startHost, tempFolder, type TestHost } from './host.ts'
import { SseClient } from './sse-client.ts'

let host: TestHost
let folder: Awaited<ReturnType<typeof tempFolder>>

beforeEach(async () => {
  folder = await tempFolder()
  host = await startHost(folder.path)
})
afterEach(async () => {
  await host.dispose()
  await folder.remove()
})

type Presenters = Pick<ToolDefinition, 'presentCall' | 'presentResult'>

function register(presenters: Presenters): () => void {
  return host.ctx.tools.register({
    name: 'run',
    description: 'Runs.',
    parameters: { type: 'object', properties: { command: { type: 'string' } } },
    output: {
      schema: { type: 'object', properties: {}, additionalProperties: true },
      render: () => [{ type: 'text', text: 'out' }],
      presentationMeta: () => ({ exitCode: 3 }),
    },
    execute: () => ({}),
    ...presenters,
  })
}

const terminal: Presenters = {
  presentCall: (args: { command: string }): ToolCallView => ({ card: 'terminal', title: args.command }),
  presentResult: (args: { command: string }, { content, meta }): ToolResultView => ({
    card: 'terminal',
    title: `${args.command} (${contentText(content)})`,
    exitCode: (meta as { exitCode: number }).exitCode,
  }),
}

/** Runs one turn with one call, and gives what a reader is sent of it. */
async function turn(args = '{"command":"ls"}', name = 'run'): Promise<{ id: string; frames: SseClient }> {
  const { id } = await host.value('sessions.create', {})
  host.script.push(() => calls(name, args))
  await host.value('sessions.send', { id, text: 'go' })
  await host.ctx.agents.get(id)?.whenIdle()
  return { id, frames: await replay(id) }
}

async function replay(id: string, from = 0): Promise<SseClient> {
  const reader = await SseClient.open(`${host.origin}/api/sessions/${id}/events?from=${from}`, {
    authorization: `Bearer ${host.token}`,
  })
  await reader.until(({ caughtUp }) => caughtUp.length === 1)
  reader.close()
  return reader
}

const call = (reader: SseClient) => reader.events.find(({ event }) => event.type === 'tool/call')
const result = (reader: SseClient) => reader.events.find(({ event }) => event.type === 'tool/result')

describe('cards', () => {
  it('come with the call and the result, and again on replay from the log', async () => {
    register(terminal)
    const { id, frames } = await turn()
    expect(call(frames)?.call).toEqual({ card: 'terminal', title: 'ls' })
    expect(result(frames)?.result).toEqual({ card: 'terminal', title: 'ls (out)', exitCode: 3 })
    await host.ctx.agents.get(id)?.dispose()
    // The arguments of the result's card come from its call, also for a reader that begins behind the call.
    const seq = result(frames)?.event.seq ?? 0
    expect(result(await replay(id, seq))?.result).toEqual({ card: 'terminal', title: 'ls (out)', exitCode: 3 })
  })

  it('are missing when the tool is gone, and back when it is', async () => {
    const remove = register(terminal)
    const { id, frames } = await turn()
    expect(call(frames)?.call).toBeDefined()
    remove()
    const without = await replay(id)
    expect([call(without)?.call, result(without)?.result]).toEqual([undefined, undefined])
    expect(without.seqs).toEqual(frames.seqs)
    register(terminal)
    expect(call(await replay(id))?.call).toBeDefined()
  })

  it('are missing when a presenter throws, which is told once', async () => {
    register({
      presentCall: () => {
        throw new Error('no card today')
      },
      presentResult: () => {
        throw new Error('nor this')
      },
    })
    const { id, frames } = await turn()
    await replay(id)
    expect([call(frames)?.call, result(frames)?.result]).toEqual([undefined, undefined])
    expect(host.log.filter((line) => line.includes('no card today'))).toHaveLength(1)
    expect(host.log.filter((line) => line.includes('nor this'))).toHaveLength(1)
  })

  it('are missing when a presenter returns no view or one that is not JSON', async () => {
    const loop: Record<string, unknown> = { card: 'generic', title: 'x' }
    loop['self'] = loop
    for (const view of [42, 'text', { title: 'no card' }, null, loop, { card: 'generic', title: 10n }]) {
      const remove = register({ presentCall: () => view as never, presentResult: () => view as never })
      const { frames } = await turn()
      expect([call(frames)?.call, result(frames)?.result]).toEqual([undefined, undefined])
      expect(frames.events.at(-1)?.event.type).toBe('turn/end')
      remove()
    }
  })

  it('are missing when the arguments are not JSON, and made of {} when they are empty', async () => {
    register(terminal)
    const broken = (await turn('{"command":')).frames
    expect(call(broken)?.call).toBeUndefined()
    expect(call(broken)?.event.data).toMatchObject({ arguments: '{"command":' })
    const empty = (await turn('')).frames
    expect(call(empty)?.event).toBeDefined()
    expect(call((await turn('{}', 'unknown_tool')).frames)?.call).toBeUndefined()
  })
})
