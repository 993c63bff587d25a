// Cards from the log alone, live and on replay, and what becomes of the tools when services come and go.
import { rmSync } from 'node:fs'
import { createHost, disposeAndJoin } from '@deepseek-ai/cordis'
import { Approval } from '@deepseek-ai/dsh-approval'
import { FsLocal } from '@deepseek-ai/dsh-fs-local'
import { SandboxPolicyService } from '@deepseek-ai/dsh-sandbox'
import SystemPrompt from '@deepseek-ai/dsh-system-prompt'
import { ToolRegistry, type Json, type PresentedResult, type ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as toolFs from '@deepseek-ai/dsh-tool-fs'
import { Config } from '@deepseek-ai/dsh-tool-fs'
import { startWorld, type World } from './support.ts'

/** What a session log keeps of a result, after a trip through JSON. */
function logged({ content, isError, meta }: ToolExecutionResult): PresentedResult {
  return JSON.parse(JSON.stringify({ content, isError, meta })) as PresentedResult
}

async function viewOf(world: World, name: string, args: object) {
  const result = await world.call(name, args)
  const tool = world.ctx.tools.get(name)
  rmSync(world.dir, { recursive: true, force: true }) // a card asks no file
  return tool?.presentResult?.(args as never, logged(result))
}

describe('the card of a change', () => {
  it('shows the hunks of an edit and the receipt', async () => {
    const world = await startWorld()
    world.put('a.txt', 'one\r\ntwo\r\nthree\r\n')
    expect(await viewOf(world, 'edit', { path: 'a.txt', old_text: 'two', new_text: '2' })).toEqual({
      card: 'diff',
      diffs: [
        {
          path: world.at('a.txt'),
          oldText: 'one\r\ntwo\r\nthree\r\n',
          newText: 'one\r\n2\r\nthree\r\n',
          oldStart: 1,
          newStart: 1,
        },
      ],
      remarks: [
        '+1 -1 lines; new bytes: 5-6; all other bytes are unchanged, which was checked.',
        'UTF-8, CRLF line endings',
      ],
    })
  })

  it('shows a new file whole, as one that was not there', async () => {
    const world = await startWorld()
    expect(await viewOf(world, 'write', { path: 'n.txt', content: 'x\ny\n' })).toMatchObject({
      card: 'diff',
      notes: ['created'],
      diffs: [{ oldText: null, newText: 'x\ny\n', oldStart: 1, newStart: 1 }],
    })
  })

  it('never shows a line that stayed as removed and added', async () => {
    const world = await startWorld()
    const rows = Array.from({ length: 200 }, (_, index) => `row ${index}`)
    world.put('a.txt', `${rows.join('\n')}\n`)
    const changed = rows.with(20, 'TWENTY').with(150, 'HUNDRED FIFTY').join('\n')
    const view = await viewOf(world, 'write', { path: 'a.txt', content: `${changed}\n` })
    const diffs = view?.card === 'diff' ? view.diffs : []
    expect(diffs.map(({ oldStart }) => oldStart)).toEqual([18, 148])
    expect(diffs.map(({ newText }) => newText.split('\n').length - 1)).toEqual([7, 7])
  })

  it('carries a change of five thousand lines, and bounds a larger one', async () => {
    const world = await startWorld()
    const rows = (word: string, count: number): string => `${word} of some length and more\n`.repeat(count)
    world.put('a.txt', rows('old', 2500))
    const view = await viewOf(world, 'write', { path: 'a.txt', content: rows('new', 2500) })
    expect(view).toMatchObject({ diffs: [{ newText: rows('new', 2500) }] })
    const large = await startWorld()
    const result = await large.call('write', { path: 'b.txt', content: rows('new', 100_000) })
    expect(JSON.stringify(result.meta).length).toBeLessThan(600_000)
    expect(
      large.ctx.tools.get('write')?.presentResult?.({ path: 'b.txt', content: '' } as never, logged(result)),
    ).toMatchObject({ remarks: [expect.any(String), 'More has changed than is shown here.'] })
  })

  it('falls back for a failure and for a log that holds something else', async () => {
    const world = await startWorld()
    const tool = world.ctx.tools.get('edit')
    const args = { path: 'a', old_text: 'a', new_text: 'b' }
    const present = (isError: boolean, meta: Json) =>
      tool?.presentResult?.(args as never, { content: [], isError, meta })
    expect(present(true, null)).toBeUndefined()
    expect(present(false, { diffs: [{ path: 'a', oldText: 'a', newText: 'b' }] })).toBeUndefined()
    expect(tool?.presentCall?.(args as never)).toMatchObject({ card: 'diff', title: 'a' })
  })
})

describe('the card of a read', () => {
  it('shows the lines with their numbers, how many there are, and the language', async () => {
    const world = await startWorld()
    world.put('a.ts', Array.from({ length: 20 }, (_, index) => `const x${index} = ${index}\n`).join(''))
    expect(await viewOf(world, 'read', { path: 'a.ts', offset: 5, limit: 2 })).toEqual({
      card: 'read',
      path: world.at('a.ts'),
      offset: 5,
      lines: [
        { number: 5, text: 'const x4 = 4' },
        { number: 6, text: 'const x5 = 5' },
      ],
      totalLines: 20,
      lang: 'typescript',
    })
  })

  it.each([
    ['an empty file', '', []],
    ['one empty line', '\n', [{ number: 1, text: '' }]],
    [
      'two empty lines',
      '\n\n',
      [
        { number: 1, text: '' },
        { number: 2, text: '' },
      ],
    ],
  ])('tells %s apart', async (_what, content, lines) => {
    const world = await startWorld()
    world.put('a', content)
    expect(await viewOf(world, 'read', { path: 'a' })).toMatchObject({ card: 'read', lines, totalLines: lines.length })
  })
})

describe('the plugin', () => {
  it('registers five tools, of which those that only look may overlap', async () => {
    const { tools } = (await startWorld()).ctx
    expect(tools.schemas().map(({ name }) => name)).toEqual(['read', 'list_dir', 'write', 'edit', 'multi_edit'])
    const mode = (name: string, args: object) => tools.executionMode({ name, arguments: args, agent: undefined }).kind
    expect(mode('read', { path: 'a' })).toBe('parallel')
    expect(mode('list_dir', {})).toBe('parallel')
    expect(mode('write', { path: 'a', content: '' })).toBe('exclusive')
    expect(mode('edit', { path: 'a', old_text: 'a', new_text: 'b' })).toBe('exclusive')
  })

  it('follows the services that change what it can do, and leaves nothing behind', async () => {
    const host = createHost({ write: () => {} })
    onTestFinished(() => host.dispose())
    const { ctx } = host
    await ctx.plugin(ToolRegistry)
    await ctx.plugin(FsLocal)
    const plugin = await ctx.plugin(toolFs)
    const offered = (): boolean =>
      'sandbox_permissions' in (ctx.tools.schemas().find(({ name }) => name === 'edit')?.parameters.properties ?? {})
    expect(offered()).toBe(false)
    const policy = await ctx.plugin(SandboxPolicyService, {})
    expect(offered()).toBe(false)
    const approval = await ctx.plugin(Approval)
    expect(offered()).toBe(true)
    await disposeAndJoin(approval)
    expect(offered()).toBe(false)
    await disposeAndJoin(policy)
    expect(ctx.tools.schemas()).toHaveLength(5)
    await disposeAndJoin(plugin)
    expect(ctx.tools.schemas()).toEqual([])
  })

  it('tells a model how to work with files where there is a prompt, and only while it is there', async () => {
    const host = createHost({ write: () => {} })
    onTestFinished(() => host.dispose())
    const { ctx } = host
    await ctx.plugin(ToolRegistry)
    await ctx.plugin(FsLocal)
    await ctx.plugin(SystemPrompt)
    const plugin = await ctx.plugin(toolFs)
    expect(ctx.systemPrompt.assemble().system).toContain('Read a file before you change it.')
    await disposeAndJoin(plugin)
    expect(ctx.systemPrompt.assemble().system).not.toContain('Read a file')
  })

  it('refuses a configuration that it cannot mean, naming the field', () => {
    const issues = (config: unknown) => {
      const result = Config['~standard'].validate(config)
      return 'issues' in result ? result.issues.map(({ message }) => message) : []
    }
    expect(issues({ readLimit: 0 })).toEqual(['tool-fs: readLimit is 0; expected a whole number from 1 to 1000000'])
    expect(issues({ readlimit: 5 })).toEqual([expect.stringContaining('unknown field "readlimit"')])
    expect(issues({})).toEqual([])
  })
})
