// The fence: what the policy refuses is refused with its rule, and what a person then lets pass is exactly what they were shown.
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  existsSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Approval, type ApprovalAnswer, type PendingApproval } from '@deepseek-ai/dsh-approval'
import { SandboxPolicyService, type SandboxMode } from '@deepseek-ai/dsh-sandbox'
import { Sessions, type Session } from '@deepseek-ai/dsh-session'
import type { ToolAgent, ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { changeOf, errorOf, startWorld, temporaryFolder, told, type World } from '../support.ts'

const HOME = process.env['HOME']
let home: string
let outside: string

beforeEach(() => {
  // Not below the folder for temporary files: a policy lets that be written.
  home = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-tool-fs-home-')))
  process.env['HOME'] = home
  outside = join(home, 'elsewhere')
  mkdirSync(outside)
  mkdirSync(join(home, '.ssh'))
  writeFileSync(join(home, '.ssh', 'id_ed25519'), 'secret key\n')
})

afterEach(() => {
  process.env['HOME'] = HOME
  rmSync(home, { recursive: true, force: true })
})

interface Fenced extends World {
  readonly session: Session
  readonly asked: PendingApproval[]
  as(name: string, args: unknown): Promise<ToolExecutionResult>
}

interface FenceOptions {
  readonly mode?: SandboxMode
  readonly approvals?: boolean
  /** Of the session. Default: the world's folder. */
  readonly cwd?: () => string
  /** What a person says to each question; omitted: nobody is there. */
  readonly answer?: (question: PendingApproval, world: World) => ApprovalAnswer
}

async function startFenced({
  mode = 'workspace-write',
  approvals = true,
  cwd,
  answer,
}: FenceOptions = {}): Promise<Fenced> {
  const logs = temporaryFolder()
  const world = await startWorld({
    async plugins(ctx) {
      await ctx.plugin(Sessions, { dir: logs, fsync: 'never' })
      await ctx.plugin(SandboxPolicyService, { mode })
      if (approvals) await ctx.plugin(Approval)
    },
  })
  const folder = cwd?.() ?? world.dir
  const session = await world.ctx.sessions.create({ id: 's1', cwd: folder })
  const agent = { id: 's1', cwd: folder, session, inject() {} } as ToolAgent
  const asked: PendingApproval[] = []
  if (approvals && answer !== undefined) {
    const { approval } = world.ctx
    approval.registerAnswerer({ canAnswer: () => true })
    approval.subscribe((id) => {
      for (const question of approval.pending(id)) {
        if (asked.some((each) => each.id === question.id)) continue
        asked.push(question)
        const said = answer(question, world)
        queueMicrotask(() => approval.answer(question.id, said))
      }
    })
  }
  return { ...world, session, asked, as: (name, args) => world.call(name, args, { agent }) }
}

const once: ApprovalAnswer = { kind: 'allow', grant: { kind: 'once' } }
const justification = 'The person asked for it.'

describe('the fence', () => {
  it('lets the workspace be written and read, whatever path leads to it', async () => {
    const world = await startFenced()
    expect((await world.as('write', { path: 'a/b.txt', content: 'x\n' })).isError).toBe(false)
    expect((await world.as('edit', { path: world.at('a/../a/b.txt'), old_text: 'x', new_text: 'y' })).isError).toBe(
      false,
    )
    expect(world.text('a/b.txt')).toBe('y\n')
  })

  it('refuses to write outside, names the rule, and says where and how', async () => {
    const world = await startFenced()
    const path = join(outside, 'a.txt')
    const error = errorOf(await world.as('write', { path, content: 'x' }))
    expect(error.code).toBe('FS_SANDBOX_DENIED')
    expect(error.message).toContain('outside-writable-roots')
    expect(error.message).toContain(world.dir)
    expect(error.message).toContain('sandbox_permissions: "danger-full-access"')
    expect(existsSync(path)).toBe(false)
  })

  it('is not led outside by a link', async () => {
    const world = await startFenced()
    symlinkSync(outside, world.at('out'))
    for (const path of ['out/a.txt', 'out/new/a.txt', '../../../..' + join(outside, 'a.txt')]) {
      expect(errorOf(await world.as('write', { path, content: 'x' })).code).toBe('FS_SANDBOX_DENIED')
    }
    expect(existsSync(join(outside, 'a.txt'))).toBe(false)
  })

  it('keeps what is run later from being written, inside the workspace too', async () => {
    const world = await startFenced()
    world.put('.git/config', '[core]\n')
    const error = errorOf(await world.as('edit', { path: '.git/config', old_text: '[core]', new_text: '[x]' }))
    expect(error).toMatchObject({ code: 'FS_SANDBOX_DENIED' })
    expect(error.message).toContain('protected-path')
  })

  it('lets nothing be written in read-only mode, and asks for no more than is needed', async () => {
    const world = await startFenced({ mode: 'read-only' })
    world.put('a.txt', 'x\n')
    const inside = errorOf(await world.as('edit', { path: 'a.txt', old_text: 'x', new_text: 'y' }))
    expect(inside.message).toContain('read-only-mode')
    expect(inside.message).toContain('sandbox_permissions: "workspace-write"')
    const beyond = errorOf(await world.as('write', { path: join(outside, 'a'), content: 'y' }))
    expect(beyond.message).toContain('sandbox_permissions: "danger-full-access"')
  })

  it('refuses to read and to list what holds credentials', async () => {
    const world = await startFenced()
    const read = errorOf(await world.as('read', { path: '~/.ssh/id_ed25519' }))
    expect(read).toMatchObject({ code: 'FS_SANDBOX_DENIED' })
    expect(read.message).toContain('denied-read')
    expect(read.message).toContain('ask the person')
    expect(errorOf(await world.as('list_dir', { path: join(home, '.ssh') })).code).toBe('FS_SANDBOX_DENIED')
    symlinkSync(join(home, '.ssh'), world.at('keys'))
    expect(errorOf(await world.as('read', { path: 'keys/id_ed25519' })).code).toBe('FS_SANDBOX_DENIED')
    expect(errorOf(await world.as('edit', { path: 'keys/id_ed25519', old_text: 'key', new_text: 'x' })).code).toBe(
      'FS_SANDBOX_DENIED',
    )
  })

  it('lets files outside be read', async () => {
    const world = await startFenced()
    writeFileSync(join(outside, 'a.txt'), 'hello\n')
    expect(told(await world.as('read', { path: '~/elsewhere/a.txt' }))).toContain('hello')
  })

  it('lets a folder that may not be a workspace be read, credentials apart, and says why it is not written', async () => {
    const world = await startFenced({ cwd: () => home })
    writeFileSync(join(home, 'notes.txt'), 'hello\n')
    expect(told(await world.as('read', { path: 'notes.txt' }))).toContain('hello')
    expect((await world.as('list_dir', {})).isError).toBe(false)
    expect(errorOf(await world.as('read', { path: '.ssh/id_ed25519' })).code).toBe('FS_SANDBOX_DENIED')
    const refused = errorOf(await world.as('write', { path: 'notes.txt', content: 'x' }))
    expect(refused).toMatchObject({ code: 'SANDBOX_POLICY_INVALID' })
    expect(readFileSync(join(home, 'notes.txt'), 'utf8')).toBe('hello\n')
  })

  it('is not there in danger-full-access', async () => {
    const world = await startFenced({ mode: 'danger-full-access' })
    expect((await world.as('write', { path: join(outside, 'a.txt'), content: 'x' })).isError).toBe(false)
    expect(readFileSync(join(outside, 'a.txt'), 'utf8')).toBe('x')
  })

  it('follows a change of mode of the session', async () => {
    const world = await startFenced()
    await world.ctx.sandboxPolicy.setMode(world.session, 'read-only')
    expect(errorOf(await world.as('write', { path: 'a.txt', content: 'x' })).code).toBe('FS_SANDBOX_DENIED')
  })
})

describe('escalation', () => {
  const wide = { sandbox_permissions: 'danger-full-access', justification }

  it('shows the person the change and then makes exactly that one', async () => {
    const world = await startFenced({ answer: () => once })
    const path = join(outside, 'a.txt')
    writeFileSync(path, ['1', '2', '3', '4', '5', '6', '7', '8', '9', ''].join('\n'))
    const content = ['1', '2', '3', '4', 'five', '6', '7', '8', '9', ''].join('\n')
    const result = await world.as('write', { path, content, ...wide })
    expect(changeOf(result).operation).toBe('replaced')
    expect(readFileSync(path, 'utf8')).toBe(content)
    expect(world.asked).toMatchObject([
      {
        toolName: 'write',
        reason: justification,
        subject: { kind: 'diff', path, before: '2\n3\n4\n5\n6\n7\n8\n', after: '2\n3\n4\nfive\n6\n7\n8\n' },
        widening: { files: { from: 'workspace-write', to: 'danger-full-access' } },
      },
    ])
  })

  it('shows what an edit takes out and puts in, and a new file whole', async () => {
    const world = await startFenced({ answer: () => once })
    const path = join(outside, 'a.txt')
    expect((await world.as('write', { path, content: 'one\n', ...wide })).isError).toBe(false)
    expect((await world.as('edit', { path, old_text: 'one', new_text: 'two', ...wide })).isError).toBe(false)
    expect(readFileSync(path, 'utf8')).toBe('two\n')
    expect(world.asked.map(({ subject }) => subject)).toEqual([
      { kind: 'diff', path, before: null, after: 'one\n' },
      { kind: 'diff', path, before: 'one', after: 'two' },
    ])
  })

  it('holds for one call', async () => {
    const world = await startFenced({ answer: () => once })
    const path = join(outside, 'a.txt')
    await world.as('write', { path, content: 'x', ...wide })
    expect(errorOf(await world.as('write', { path, content: 'y' })).code).toBe('FS_SANDBOX_DENIED')
    expect(readFileSync(path, 'utf8')).toBe('x')
  })

  it('writes nothing when the file has changed while the person was asked', async () => {
    const path = join(outside, 'a.txt')
    writeFileSync(path, 'one\n')
    const world = await startFenced({
      answer: () => {
        writeFileSync(path, 'something else\n')
        return once
      },
    })
    const error = errorOf(await world.as('edit', { path, old_text: 'one', new_text: 'two', ...wide }))
    expect(error.code).toBe('FS_STALE_VERSION')
    expect(error.message).toContain('while the person was asked')
    expect(readFileSync(path, 'utf8')).toBe('something else\n')
  })

  it('writes nothing when the person says no, with their words', async () => {
    const world = await startFenced({ answer: () => ({ kind: 'reject', feedback: 'not there' }) })
    const path = join(outside, 'a.txt')
    const error = errorOf(await world.as('write', { path, content: 'x', ...wide }))
    expect(error.code).toBe('APPROVAL_REJECTED')
    expect(error.message).toContain('not there')
    expect(existsSync(path)).toBe(false)
  })

  it('says at once that nobody is there', async () => {
    const world = await startFenced()
    const result = await world.as('write', { path: join(outside, 'a'), content: 'x', ...wide })
    expect(errorOf(result).code).toBe('APPROVAL_UNAVAILABLE')
  })

  it('keeps what may not be read from the question and from the log', async () => {
    const world = await startFenced({ answer: () => ({ kind: 'reject' }) })
    await world.as('write', { path: join(home, '.ssh', 'id_ed25519'), content: 'mine\n', ...wide })
    expect(world.asked).toHaveLength(1)
    expect(JSON.stringify(world.asked)).not.toContain('secret key')
    expect(JSON.stringify(world.asked)).toContain('cannot be shown: FS_SANDBOX_DENIED')
  })

  it('asks nobody about an edit of a file that is not there', async () => {
    const world = await startFenced({ answer: () => once })
    const result = await world.as('edit', { path: join(outside, 'a'), old_text: 'x', new_text: 'y', ...wide })
    expect(errorOf(result).code).toBe('FS_NOT_FOUND')
    expect(world.asked).toEqual([])
  })

  it('is offered only where there is a fence and somebody to ask', async () => {
    const parameters = (world: World): string[] =>
      Object.keys(world.ctx.tools.schemas().find(({ name }) => name === 'write')?.parameters.properties ?? {})
    expect(parameters(await startFenced())).toContain('sandbox_permissions')
    const alone = await startFenced({ approvals: false })
    expect(parameters(alone)).toEqual(['path', 'content'])
    const refused = errorOf(await alone.as('write', { path: 'a', content: 'x', ...wide }))
    expect(refused.code).toBe('INVALID_ARGS')
    expect(refused.message).toContain('nothing can be widened on this host')
    const denied = errorOf(await alone.as('write', { path: join(outside, 'a'), content: 'x' }))
    expect(denied.message).toContain('Nobody can allow it on this host')
  })
})
