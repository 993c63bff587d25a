// Who writes a file has seen it as it is: each way in which that is not so, for each kind of caller, and across a restart.
import { rmSync } from 'node:fs'
import { createScope, disposeAndJoin, fiberTable } from '@deepseek-ai/cordis'
import { FsError } from '@deepseek-ai/dsh-fs'
import type { ToolAgent } from '@deepseek-ai/dsh-tools'
import { beforeEach, describe, expect, it } from 'vitest'
import * as readBeforeWrite from '@deepseek-ai/dsh-read-before-write'
import { messageOf, outcome, startFolder, startWorld, type Folder, type World } from './support.ts'

let folder: Folder
let world: World
let agent: ToolAgent

beforeEach(async () => {
  folder = startFolder()
  folder.put('a.txt', 'one\ntwo\n')
  world = await startWorld(folder)
  agent = await world.agentOf('s1')
})

const read = (path = 'a.txt', who: ToolAgent | undefined = agent, where = world) => where.call(who, 'read', { path })
const edit = (old_text: string, new_text: string, who: ToolAgent | undefined = agent, where = world) =>
  where.call(who, 'edit', { path: 'a.txt', old_text, new_text })
const write = (content: string, path = 'a.txt', who: ToolAgent | undefined = agent) =>
  world.call(who, 'write', { path, content })

describe('a file that the agent has not read', () => {
  it('is not edited', async () => {
    const result = await edit('one', '1')
    expect(outcome(result)).toBe('FS_NOT_OBSERVED')
    expect(messageOf(result)).toMatch(/you have not read it\. Read it first, then repeat the call/)
    expect(folder.text('a.txt')).toBe('one\ntwo\n')
  })

  it('is not overwritten', async () => {
    const result = await write('gone\n')
    expect(outcome(result)).toBe('FS_NOT_OBSERVED')
    expect(messageOf(result)).toContain('it exists')
    expect(folder.text('a.txt')).toBe('one\ntwo\n')
  })

  it('may be created, and then belongs to what the agent has seen', async () => {
    expect(outcome(await write('new\n', 'new.txt'))).toBe('ok')
    expect(outcome(await write('newer\n', 'new.txt'))).toBe('ok')
    expect(outcome(await world.call(agent, 'edit', { path: 'new.txt', old_text: 'newer', new_text: 'x' }))).toBe('ok')
  })

  it('stays one when another agent reads it', async () => {
    const other = await world.agentOf('s2')
    await read('a.txt', other)
    expect(outcome(await edit('one', '1'))).toBe('FS_NOT_OBSERVED')
    expect(outcome(await edit('one', '1', other))).toBe('ok')
  })

  it('stays one when the read fails', async () => {
    await world.call(agent, 'read', { path: '.' })
    await world.call(agent, 'list_dir', {})
    expect(outcome(await edit('one', '1'))).toBe('FS_NOT_OBSERVED')
  })
})

describe('a file that the agent has read', () => {
  it('is edited again and again, each time as the agent left it', async () => {
    await read()
    for (const [from, to] of [
      ['one', '1'],
      ['1', 'un'],
      ['two', 'deux'],
    ] as const) {
      expect(outcome(await edit(from, to))).toBe('ok')
    }
    expect(outcome(await write('whole\n'))).toBe('ok')
    expect(folder.text('a.txt')).toBe('whole\n')
  })

  it('is known by every path that leads to it', async () => {
    await read(folder.at('../' + folder.dir.split('/').at(-1) + '/a.txt'))
    expect(outcome(await edit('one', '1'))).toBe('ok')
  })

  it('is stale once somebody else has changed it, also in the same size, until it is read again', async () => {
    await read()
    folder.put('a.txt', 'ONE\ntwo\n')
    const result = await edit('two', '2')
    expect(outcome(result)).toBe('FS_STALE_VERSION')
    expect(messageOf(result)).toMatch(
      /changed since you read it, possibly by a shell command, another agent or the person\. Read it again/,
    )
    expect(outcome(await write('gone\n'))).toBe('FS_STALE_VERSION')
    expect(folder.text('a.txt')).toBe('ONE\ntwo\n')
    await read()
    expect(outcome(await edit('two', '2'))).toBe('ok')
    expect(folder.text('a.txt')).toBe('ONE\n2\n')
  })

  it('is not made anew after somebody removed it, until the agent has looked', async () => {
    await read()
    rmSync(folder.at('a.txt'))
    const result = await write('again\n')
    expect(outcome(result)).toBe('FS_STALE_VERSION')
    expect(messageOf(result)).toContain('removed since you read it')
    expect(outcome(await edit('one', '1'))).toBe('FS_NOT_FOUND')
    expect(outcome(await read())).toBe('FS_NOT_FOUND')
    expect(outcome(await write('again\n'))).toBe('ok')
  })

  it('is to be read when it appeared after the agent found nothing', async () => {
    await read('b.txt')
    folder.put('b.txt', 'theirs\n')
    const result = await write('mine\n', 'b.txt')
    expect(outcome(result)).toBe('FS_NOT_OBSERVED')
    expect(messageOf(result)).toContain('was not there when you looked, and is now')
    expect(folder.text('b.txt')).toBe('theirs\n')
  })

  it('stays known after an edit that could not be made', async () => {
    await read()
    expect(outcome(await edit('nowhere', 'x'))).toBe('FS_EDIT_NOT_FOUND')
    expect(outcome(await edit('one', '1'))).toBe('ok')
  })
})

describe('the session log', () => {
  const observed = async (who: ToolAgent) => {
    const { session } = who as Awaited<ReturnType<World['agentOf']>>
    return (await session.read({ from: 0 })).filter(({ type }) => type === 'fs/observed').map(({ data }) => data)
  }

  it('holds what was seen, once as long as it stays the same', async () => {
    await read()
    await edit('one', '1')
    for (let time = 0; time < 5; time++) await read()
    await read('nothing.txt')
    expect(await observed(agent)).toMatchObject([
      { key: folder.at('a.txt'), observation: { kind: 'present' } },
      { key: folder.at('a.txt'), observation: { kind: 'present' } },
      { key: folder.at('nothing.txt'), observation: { kind: 'absent' } },
    ])
  })

  it('makes a session that is opened again know its files, and see that one has changed', async () => {
    folder.put('b.txt', 'bee\n')
    await read()
    await read('b.txt')
    await edit('one', '1')
    await world.end()
    folder.put('b.txt', 'changed while nobody worked\n')

    const again = await startWorld(folder)
    const resumed = await again.agentOf('s1')
    expect(outcome(await edit('two', '2', resumed, again))).toBe('ok')
    expect(folder.text('a.txt')).toBe('1\n2\n')
    const stale = await again.call(resumed, 'write', { path: 'b.txt', content: 'x' })
    expect(outcome(stale)).toBe('FS_STALE_VERSION')
    expect(outcome(await edit('2', '3', await again.agentOf('s2'), again))).toBe('FS_NOT_OBSERVED')
  })

  it('keeps a thousand files known across a restart', async () => {
    const session = (agent as Awaited<ReturnType<World['agentOf']>>).session
    await read()
    for (let index = 0; index < 1000; index++) {
      session.append('fs/observed', { key: `/elsewhere/${index}`, observation: { kind: 'absent' } })
    }
    await world.end()
    const again = await startWorld(folder)
    expect(outcome(await edit('one', '1', await again.agentOf('s1'), again))).toBe('ok')
  })

  it('makes a plugin that is loaded again know them too', async () => {
    const bare = await startWorld(folder, { policy: null })
    const plugin = await bare.ctx.plugin(readBeforeWrite)
    const who = await bare.agentOf('s3')
    await read('a.txt', who, bare)
    await disposeAndJoin(plugin)
    await bare.ctx.plugin(readBeforeWrite)
    expect(outcome(await edit('one', '1', who, bare))).toBe('ok')
  })

  it('is left alone once it is closed', async () => {
    const { session } = agent as Awaited<ReturnType<World['agentOf']>>
    await session.close()
    expect(outcome(await read())).toBe('ok')
    expect(world.log.filter((line) => line.includes('fs/observed'))).toEqual([])
  })
})

describe('agents without a session', () => {
  const bare = (id: string): ToolAgent => ({ id, cwd: folder.dir, inject() {} })

  it('are held to the rule in memory, each on its own', async () => {
    const [ann, bob] = [bare('ann'), bare('bob')]
    await read('a.txt', ann)
    expect(outcome(await edit('one', '1', bob))).toBe('FS_NOT_OBSERVED')
    expect(outcome(await edit('one', '1', ann))).toBe('ok')
  })

  it('of a scope of their own share nothing with the agent above', async () => {
    const child = bare('child')
    createScope(world.ctx, agent)
    const scope = createScope(world.ctx, child, { parent: agent })
    await read()
    expect(outcome(await edit('one', '1', child))).toBe('FS_NOT_OBSERVED')
    await read('a.txt', child)
    expect(outcome(await edit('one', '1', child))).toBe('ok')
    expect(outcome(await edit('two', '2'))).toBe('FS_STALE_VERSION')
    await scope.dispose()
  })
})

describe('calls without an agent', () => {
  const path = (): string => folder.at('a.txt')

  it('write by default: there is nobody who could have read', async () => {
    expect(outcome(await world.call(undefined, 'write', { path: path(), content: 'x\n' }))).toBe('ok')
  })

  it('are one reader where the host says so', async () => {
    const tracked = await startWorld(folder, { policy: { withoutAgent: 'track' } })
    const change = () => tracked.call(undefined, 'edit', { path: path(), old_text: 'one', new_text: '1' })
    expect(outcome(await change())).toBe('FS_NOT_OBSERVED')
    await tracked.call(undefined, 'read', { path: path() })
    expect(outcome(await change())).toBe('ok')
  })
})

describe('the plugin', () => {
  it('is not needed: without it files are written unread', async () => {
    const bare = await startWorld(folder, { policy: null })
    expect(outcome(await edit('one', '1', await bare.agentOf('s9'), bare))).toBe('ok')
  })

  it('takes its listeners along when it ends', async () => {
    const bare = await startWorld(folder, { policy: null })
    const plugin = await bare.ctx.plugin(readBeforeWrite)
    await disposeAndJoin(plugin)
    expect(fiberTable(bare.ctx).map(({ name }) => name)).not.toContain('read-before-write')
    expect(outcome(await edit('one', '1', await bare.agentOf('s9'), bare))).toBe('ok')
  })

  it('stands beside other policies, each of which may refuse', async () => {
    world.ctx.on('fs/intent', async (intent, next) => {
      if (intent.path.endsWith('.lock')) throw new FsError('lock files are written by tools alone', 'FS_INVALID_EDIT')
      return next()
    })
    expect(outcome(await write('x', 'a.lock'))).toBe('FS_INVALID_EDIT')
    expect(outcome(await edit('one', '1'))).toBe('FS_NOT_OBSERVED')
  })

  it('refuses a configuration that it cannot mean', () => {
    expect(readBeforeWrite.Config['~standard'].validate({ withoutAgent: 'never' })).toEqual({
      issues: [
        {
          message: 'read-before-write: withoutAgent is "never"; expected "allow" or "track"',
          path: ['withoutAgent'],
        },
      ],
    })
  })
})
