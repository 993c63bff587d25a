import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import CodeRuntimeQuickjs from '../../../code-runtime/code-runtime-quickjs/src/index.ts'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import ToolRegistry, {
  contentText,
  cutMiddle,
  defineTool,
  type ToolDefinition,
  type ToolExecutionResult,
} from '@deepseek-ai/dsh-tools'
import type { SpillConfig } from '@deepseek-ai/dsh-spill'
import { startSpill, temporaryFolder, type Fixture } from './support.ts'

interface Calls extends Fixture {
  readonly call: (name: string, args?: unknown) => Promise<ToolExecutionResult>
}

async function start(config: Partial<SpillConfig> = {}, mode: 'native' | 'both' = 'native'): Promise<Calls> {
  const fixture = await startSpill(config, async (ctx) => {
    await ctx.plugin(ToolRegistry, { mode })
    if (mode === 'both') await ctx.plugin(CodeRuntimeQuickjs)
  })
  const { tools } = fixture.ctx
  const agent = { id: 'session-1', inject: () => {} }
  const { signal } = new AbortController()
  return { ...fixture, call: (name, args = {}) => tools.execute({ callId: 'c', name, arguments: args, signal, agent }) }
}

function tool(name: string, text: string, more: Partial<ToolDefinition> = {}): ToolDefinition {
  const made = defineTool({
    name,
    description: 'Says something long.',
    parameters: {},
    output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value }] },
    execute: () => text,
  })
  return { ...made, ...more }
}

const LONG = `${'head '.repeat(2000)}${'tail '.repeat(2000)}`
const NOTE = /\n\[(\d+) of (\d+) bytes are not shown here; the whole result is in (.+)\]\n/

describe('a result over the budget', () => {
  it('becomes head, a line that says where the whole is, and tail; the value stays', async () => {
    const { ctx, call } = await start({ inlineBytes: 4096 })
    ctx.tools.register(tool('talk', LONG))
    const result = await call('talk')
    const text = contentText(result.content)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4096)
    const [note = '', missing, total, path = ''] = NOTE.exec(text) ?? []
    expect(Number(total)).toBe(LONG.length)
    const [head = '', tail = ''] = text.split(note)
    expect(head.length + tail.length + Number(missing)).toBe(LONG.length)
    expect(LONG.startsWith(head) && LONG.endsWith(tail)).toBe(true)
    expect(readFileSync(path, 'utf8')).toBe(LONG)
    expect(result).toMatchObject({ isError: false, value: LONG })
  })

  it('is cut for failures as well, with their code', async () => {
    const { ctx, call } = await start({ inlineBytes: 2048 })
    const execute = (): never => {
      throw new Error(LONG)
    }
    ctx.tools.register(tool('fail', '', { execute }))
    const result = await call('fail')
    expect(Buffer.byteLength(contentText(result.content))).toBeLessThanOrEqual(2048)
    expect(contentText(result.content)).toMatch(NOTE)
    expect(result).toMatchObject({ isError: true, error: { code: 'TOOL_FAILED' } })
  })

  it('is cut once where the tool declares a smaller bound', async () => {
    const { ctx, call } = await start({ inlineBytes: 8192 })
    ctx.tools.register(tool('small', LONG, { maxResultBytes: 2000 }))
    const text = contentText((await call('small')).content)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2000)
    expect(text).toMatch(NOTE)
    expect(text).not.toContain('larger than its limit')
  })

  it('is the replacement of another listener too, and its block', async () => {
    const { ctx, call } = await start({ inlineBytes: 2048 })
    ctx.tools.register(tool('talk', 'short'))
    ctx.tools.register(tool('stop', 'short'))
    ctx.on('tools/post-execute', (exec) =>
      exec.name === 'talk'
        ? { kind: 'accept', content: [{ type: 'text', text: LONG }] }
        : { kind: 'block', feedback: [{ type: 'text', text: LONG }] },
    )
    expect(contentText((await call('talk')).content)).toMatch(NOTE)
    expect(contentText((await call('stop')).content)).toMatch(NOTE)
  })

  it('keeps head and tail, and says that the rest is lost, when the disk refuses', async () => {
    const file = join(temporaryFolder(), 'file')
    const { writeFileSync } = await import('node:fs')
    writeFileSync(file, '')
    const { ctx, call } = await start({ inlineBytes: 2048, dir: join(file, 'below') })
    ctx.tools.register(tool('talk', LONG))
    const result = await call('talk')
    const text = contentText(result.content)
    expect(result.isError).toBe(false)
    expect(text).toContain('bytes are not shown here; the rest is lost, since it could not be kept: ')
    expect(text.startsWith('head ') && text.endsWith('tail ')).toBe(true)
  })

  it('says how much was kept when a quota cut the file', async () => {
    const { ctx, call } = await start({ inlineBytes: 2048, maxFileBytes: 5000 })
    ctx.tools.register(tool('talk', LONG))
    const text = contentText((await call('talk')).content)
    expect(text).toMatch(/the first 5000 bytes of the result are in .*, the rest is lost: a file may take 5000 bytes\]/)
  })
})

describe('what is left alone', () => {
  it.each([
    ['within the budget', 'talk', 'x'.repeat(2048)],
    ['of read, which pages by itself', 'read', LONG],
  ])('is a result %s', async (_what, name, text) => {
    const { ctx, spill, call } = await start({ inlineBytes: 2048 })
    ctx.tools.register(tool(name, text))
    expect(contentText((await call(name)).content)).toBe(text)
    expect(await spill.list('session-1')).toEqual([])
  })

  it('are the calls of a program; the result of the program itself is cut once and kept', async () => {
    const { ctx, spill, call } = await start({ inlineBytes: 4096 }, 'both')
    ctx.tools.register(tool('talk', LONG))
    const counted = await call('run_code', { code: 'return (await tools.talk({})).length', description: 'count it' })
    expect(contentText(counted.content)).toBe(String(LONG.length))
    expect(await spill.list('session-1')).toEqual([])
    const returned = await call('run_code', { code: 'return await tools.talk({})', description: 'return it' })
    const text = contentText(returned.content)
    const path = NOTE.exec(text)?.[3] ?? ''
    expect(text.match(/bytes are (not shown|missing)/g)).toHaveLength(1)
    expect(readFileSync(path, 'utf8')).toBe(LONG)
    expect(await spill.list('session-1')).toHaveLength(1)
  })
})

describe('a cut', () => {
  it('stays within its bound, and between code points, for any text', () => {
    const text = fc
      .array(fc.string({ unit: 'grapheme', maxLength: 80 }), { maxLength: 12 })
      .map((all) => all.join('😀'))
    fc.assert(
      fc.property(text, fc.integer({ min: 64, max: 400 }), (whole, maxBytes) => {
        const bytes = Buffer.from(whole)
        fc.pre(bytes.length > maxBytes)
        const marked = cutMiddle(bytes, maxBytes, (missing) => `<${missing}>`)
        expect(Buffer.byteLength(marked)).toBeLessThanOrEqual(maxBytes)
        const [, head = '', missing, tail = ''] = /^(.*)<(\d+)>(.*)$/su.exec(marked) ?? []
        expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true)
        expect(Buffer.byteLength(head) + Number(missing) + Buffer.byteLength(tail)).toBe(bytes.length)
      }),
    )
  })
})
