// What a host offers beside: files for long results, and a policy that denies reads.
import { mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import Spill from '@deepseek-ai/dsh-spill'
import { contentText, type ToolExecutionInput } from '@deepseek-ai/dsh-tools'
import { describe, expect, it, onTestFinished } from 'vitest'
import { SandboxPolicyService } from '../../../../sandbox/sandbox/src/index.ts'
import { pathsOf, startWorld } from './world.ts'

interface Truncated {
  shown: number
  next: number
  file: { path: string }
}

function temporary(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-search-spill-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

describe('with spill', () => {
  it('keeps the whole of a long result in a file, once, and cuts nothing twice', async () => {
    const dir = temporary()
    const world = await startWorld({}, async (ctx) => void (await ctx.plugin(Spill, { dir, inlineBytes: 16_384 })))
    for (let file = 0; file < 10; file++) world.write(`f${file}`, `hit ${'x'.repeat(90)}\n`.repeat(100))
    const result = await world.call('grep', { pattern: 'hit' })
    const text = contentText(result.content)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(16_384)
    expect(text).not.toContain('bytes are not shown')
    if (result.isError) throw new Error(text)
    const { truncated } = (result.value as never as { completeness: { truncated: Truncated } }).completeness
    expect(truncated).toMatchObject({ total: 1000, exact: true, next: truncated.shown, file: { complete: true } })
    expect(text).toContain(`all of them are in ${truncated.file.path}`)
    const lines = readFileSync(truncated.file.path, 'utf8').trimEnd().split('\n')
    expect(lines).toHaveLength(1000)
    expect(lines[0]).toBe(`f0:1:hit ${'x'.repeat(90)}`)
    await world.grep({ pattern: 'hit', offset: 100 })
    await world.grep({ pattern: 'nothing' })
    expect(await world.ctx.spill.list('session-1')).toHaveLength(1)
  })

  it('keeps long lists of paths and of counts', async () => {
    const dir = temporary()
    const world = await startWorld({}, async (ctx) => void (await ctx.plugin(Spill, { dir })))
    for (let file = 0; file < 150; file++) world.write(`f${String(file).padStart(3, '0')}`, 'hit\n')
    const kept = async (name: 'grep' | 'glob', args: object): Promise<string[]> => {
      const { content } = await world.call(name, args)
      const [, path = ''] = /all of them are in (.*)\]/.exec(contentText(content)) ?? []
      return readFileSync(path, 'utf8').trimEnd().split('\n')
    }
    const paths = Array.from({ length: 150 }, (_, at) => `f${String(at).padStart(3, '0')}`)
    expect(await kept('glob', { pattern: '*' })).toEqual(paths)
    expect(await kept('grep', { pattern: 'hit', mode: 'files', limit: 10 })).toEqual(paths)
    expect(await kept('grep', { pattern: 'hit', mode: 'count', limit: 10 })).toEqual(paths.map((path) => `${path}: 1`))
  })

  it('gives a program the value, and keeps no file for it', async () => {
    const dir = temporary()
    const world = await startWorld({}, async (ctx) => void (await ctx.plugin(Spill, { dir })))
    world.write('f', `hit ${'x'.repeat(90)}\n`.repeat(3000))
    const parent = Symbol('outer') as ToolExecutionInput['parent']
    const result = await world.call('grep', { pattern: 'hit', limit: 3000 }, { parent })
    expect(result).toMatchObject({ value: { completeness: { complete: true } } })
    expect(await world.ctx.spill.list('session-1')).toEqual([])
  })

  it('works on without it', async () => {
    let dispose: (() => unknown) | undefined
    const dir = temporary()
    const world = await startWorld({}, async (ctx) => {
      const fiber = ctx.plugin(Spill, { dir })
      await fiber
      dispose = () => fiber.dispose()
    })
    world.write('f', 'hit\n'.repeat(300))
    expect((await world.grep({ pattern: 'hit' })).completeness.truncated?.file).toBeDefined()
    await dispose?.()
    expect((await world.grep({ pattern: 'hit' })).completeness.truncated).toEqual({
      shown: 250,
      total: 300,
      exact: true,
      next: 250,
    })
  })
})

describe('with a policy that denies reads', () => {
  function policy(mode: 'read-only' | 'danger-full-access') {
    return async (ctx: Context, folder: string): Promise<void> => {
      const deniedReads = [join(folder, 'secret'), join(folder, 'a [x]{y}!*.key'), join(folder, 'not-there')]
      await ctx.plugin(SandboxPolicyService, { mode, network: 'none', deniedReads })
    }
  }

  it('leaves out what is denied, says so, and refuses to be sent there', async () => {
    const world = await startWorld({}, policy('read-only'))
    for (const path of ['secret/deep/a', 'a [x]{y}!*.key', 'a xy!z.key', 'open', 'secrets']) world.write(path, 'foo\n')
    symlinkSync('secret/deep', join(world.folder, 'way-in'))
    for (const args of [
      {},
      { include_ignored: true },
      { glob: '*' },
      { glob: 'secret/**' },
      { mode: 'files' },
      { mode: 'count' },
    ]) {
      const value = await world.grep({ pattern: 'foo', ...args })
      expect(pathsOf(value)).toEqual('glob' in args && args.glob !== '*' ? [] : ['a xy!z.key', 'open', 'secrets'])
      expect(value.completeness).toMatchObject({ complete: false })
      expect(value.completeness.skipped).toContainEqual({
        rule: 'denied',
        count: 2,
        examples: ['a [x]{y}!*.key', 'secret'],
      })
      expect(value.text).toContain("2 denied by this session's policy (a [x]{y}!*.key, secret)")
    }
    expect((await world.glob({ pattern: '**', include_ignored: true })).paths).toEqual([
      'a xy!z.key',
      'open',
      'secrets',
    ])
    for (const path of ['secret', 'secret/deep', 'secret/deep/a', 'way-in', 'way-in/a', 'a [x]{y}!*.key']) {
      expect(await world.call('grep', { pattern: 'foo', path })).toMatchObject({
        isError: true,
        error: { code: 'SEARCH_DENIED' },
      })
    }
  })

  it('denies nothing in a session with full access', async () => {
    const world = await startWorld({}, policy('danger-full-access'))
    world.write('secret/a', 'foo\n')
    expect(pathsOf(await world.grep({ pattern: 'foo' }))).toEqual(['secret/a'])
  })
})
