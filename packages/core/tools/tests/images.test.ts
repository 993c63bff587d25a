// Pictures in what a tool renders: which are taken, how they are bounded, and how those of a program's calls reach the model.
import { Context } from '@deepseek-ai/cordis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ToolRegistry, contentText, defineTool, type ContentBlock } from '@deepseek-ai/dsh-tools'
import { boundContent } from '../src/bound.ts'

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const image: ContentBlock = { type: 'image', mediaType: 'image/png', data: PIXEL }
const text = (value: string): ContentBlock => ({ type: 'text', text: value })

let ctx: Context
beforeEach(async () => {
  ctx = new Context()
  await ctx.plugin(ToolRegistry)
})
afterEach(() => ctx.fiber.dispose())

async function rendered(blocks: unknown, maxResultBytes?: number) {
  const dispose = ctx.tools.register(
    defineTool({
      name: 'look',
      description: 'Look at something.',
      parameters: {},
      output: { schema: { type: 'string' }, render: () => blocks as ContentBlock[] },
      ...(maxResultBytes === undefined ? {} : { maxResultBytes }),
      execute: () => 'seen',
    }),
  )
  const { signal } = new AbortController()
  const result = await ctx.tools.execute({ callId: '1', name: 'look', arguments: {}, signal })
  dispose()
  return result
}

describe('an image block', () => {
  it('is part of the content, frozen, and a line of its text', async () => {
    const { content, isError } = await rendered([text('a dot'), image])
    expect(isError).toBe(false)
    expect(content).toEqual([text('a dot'), image])
    expect(Object.isFrozen(content[1])).toBe(true)
    expect(contentText(content)).toBe('a dot\n[image/png, 70 bytes]')
  })

  it.each([
    ['a type that nobody shows', { ...image, mediaType: 'image/svg+xml' }, /an image block of type "image\/svg\+xml"/],
    ['no type', { type: 'image', data: PIXEL }, /an image block of type undefined/],
    ['no data', { type: 'image', mediaType: 'image/png' }, /no base64/],
    ['empty data', { ...image, data: '' }, /no base64/],
    ['a data URL', { ...image, data: `data:image/png;base64,${PIXEL}` }, /no base64/],
    ['base64 without its padding', { ...image, data: PIXEL.slice(0, -1) }, /no base64/],
    ['broken lines', { ...image, data: `${PIXEL.slice(0, 4)}\n\n\n\n${PIXEL.slice(4)}` }, /no base64/],
  ])('with %s fails the call', async (_what, block, message) => {
    const result = await rendered([block])
    expect(result).toMatchObject({ isError: true, error: { code: 'INVALID_TOOL_OUTPUT' } })
    expect(contentText(result.content)).toMatch(message)
  })
})

describe('a bound', () => {
  it('leaves an image whole or takes it out, and says so', async () => {
    expect((await rendered([text('a dot'), image], 500)).content).toEqual([text('a dot'), image])
    const { content } = await rendered([text('a dot'), image], 90)
    expect(content.map(({ type }) => type)).not.toContain('image')
    expect(contentText(content)).toMatch(
      /^a dot\n\[image\/png, 70 bytes\] left out: the result is larger than its limit$/,
    )
  })

  it.each([0, 1, 50, 100, 150, 200, 300, 400, 1000])('of %i bytes holds for text and images together', (bytes) => {
    const content = boundContent([text('x'.repeat(120)), image, image, text('y'.repeat(60))], bytes)
    const size = content.reduce(
      (sum, block) => sum + (block.type === 'text' ? Buffer.byteLength(block.text) : block.data.length),
      0,
    )
    expect(size).toBeLessThanOrEqual(Math.max(bytes, 0))
    for (const block of content) if (block.type === 'image') expect(block.data).toBe(PIXEL)
  })
})
