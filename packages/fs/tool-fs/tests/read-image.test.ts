// read_image: what it takes for a picture, what it refuses, and who is offered it.
import { Service, type Context } from '@deepseek-ai/cordis'
import { SandboxPolicyService } from '@deepseek-ai/dsh-sandbox'
import { contentText } from '@deepseek-ai/dsh-tools'
import { describe, expect, it } from 'vitest'
import { startWorld, type World } from './support.ts'

/** One pixel each. */
const FILES = {
  'image/png': 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'image/gif': 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7',
  'image/webp': 'UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==',
  'image/jpeg':
    '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA=',
} as const
const PNG = Buffer.from(FILES['image/png'], 'base64')

/** A model service whose only model reads what the test says. */
class Models extends Service {
  input: readonly string[] = ['text', 'image']
  constructor(ctx: Context) {
    super(ctx, 'llm')
  }
  resolve() {
    return { provider: 'p', model: 'm' }
  }
  inputOf() {
    return this.input
  }
}

const start = (config = {}): Promise<World> =>
  startWorld({ config, plugins: async (ctx) => void (await ctx.plugin(Models)) })

describe('read_image', () => {
  it.each(Object.entries(FILES))('shows a picture of type %s, whatever its name', async (mediaType, data) => {
    const world = await start()
    world.put('dot.txt', Buffer.from(data, 'base64'))
    const result = await world.call('read_image', { path: 'dot.txt' })
    const bytes = Buffer.from(data, 'base64').length
    expect(result).toMatchObject({
      isError: false,
      value: { path: world.at('dot.txt'), mediaType, width: 1, height: 1, bytes, data },
      content: [
        { type: 'text', text: `${world.at('dot.txt')}: 1 × 1 pixels` },
        { type: 'image', mediaType, data },
      ],
    })
  })

  it.each([
    ['text.png', 'no picture', /text\.png".*it is no picture/],
    ['empty.png', '', /it is no picture/],
    ['cut.png', PNG.subarray(0, 12), /it is no picture, or a damaged one/],
    [
      'drawing.svg',
      '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"/>',
      /a picture of type svg; PNG, JPEG, GIF and WebP can be shown/,
    ],
  ])('refuses %s', async (name, bytes, message) => {
    const world = await start()
    world.put(name, bytes)
    const result = await world.call('read_image', { path: name })
    expect(result).toMatchObject({ isError: true, error: { code: 'FS_NOT_TEXT' } })
    expect(contentText(result.content)).toMatch(message)
  })

  it('says what is there and what to do when a file is missing, a folder or too large', async () => {
    const world = await start({ imageMaxBytes: 1024 })
    world.put('large.png', Buffer.concat([PNG, Buffer.alloc(2000)]))
    world.put('folder/dot.png', PNG)
    const failures = await Promise.all(
      ['none.png', 'folder', 'large.png'].map((path) => world.call('read_image', { path })),
    )
    expect(failures.map((each) => each.isError && each.error.code)).toEqual([
      'FS_NOT_FOUND',
      'FS_NOT_REGULAR_FILE',
      'FS_TOO_LARGE',
    ])
    expect(contentText(failures.at(-1)?.content ?? [])).toMatch(/large\.png.*\nMake it smaller with a command first/s)
  })

  it('keeps to the fence around reads', async () => {
    const world = await startWorld({
      plugins: async (ctx, dir) => {
        await ctx.plugin(Models)
        await ctx.plugin(SandboxPolicyService, { deniedReads: [`${dir}/secret`] })
      },
    })
    world.put('secret/dot.png', PNG)
    expect(await world.call('read_image', { path: 'secret/dot.png' })).toMatchObject({
      isError: true,
      error: { code: 'FS_SANDBOX_DENIED' },
    })
  })
})

describe('who is offered read_image', () => {
  const names = (world: World): string[] => world.ctx.tools.schemas().map(({ name }) => name)

  it('is nobody on a host without models', async () => {
    const world = await startWorld()
    expect(names(world)).not.toContain('read_image')
    world.put('dot.png', PNG)
    const result = await world.call('read', { path: 'dot.png' })
    expect(contentText(result.content)).not.toMatch(/read_image/)
  })

  it('is whoever uses a model that reads images, from the moment on that it does', async () => {
    const world = await start()
    expect(names(world)).toContain('read_image')
    world.put('dot.png', PNG)
    const result = await world.call('read', { path: 'dot.png' })
    expect(contentText(result.content)).toMatch(/\nTo look at a picture, use read_image\.\n/)
    const models = (world.ctx as unknown as { llm: Models }).llm
    models.input = ['text']
    world.ctx.emit('llm/changed')
    expect(names(world)).not.toContain('read_image')
    models.input = ['text', 'image']
    world.ctx.emit('llm/changed')
    expect(names(world)).toContain('read_image')
  })
})
