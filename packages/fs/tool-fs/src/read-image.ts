// The read_image tool: a picture for a model that can look at it. What it is tells its content, not its name.
import { imageSize } from 'image-size'
import { FsError, type FsTarget } from '@deepseek-ai/dsh-fs'
import { defineTool, type ImageType, type ToolDefinition, type ToolExecution } from '@deepseek-ai/dsh-tools'
import { advising } from './errors.ts'
import { FILE_PATH, IMAGE_VALUE, type ImageValue } from './schema.ts'
import { readPolicyOf, targetOf, type FsToolSetup } from './services.ts'

const MEDIA_TYPES = new Map<string | undefined, ImageType>([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
])

export function readImageTool(setup: FsToolSetup): ToolDefinition {
  return defineTool({
    name: 'read_image',
    description: `Shows you a picture from a file: PNG, JPEG, GIF or WebP, up to ${megabytes(setup.config.imageMaxBytes)}. Use it for \
screenshots, diagrams and photos; text files are for read.`,
    parameters: { path: FILE_PATH },
    output: {
      schema: IMAGE_VALUE,
      render: (_args, { path, mediaType, width, height, data }) => [
        { type: 'text', text: `${path}: ${width} × ${height} pixels` },
        { type: 'image', mediaType, data },
      ],
    },
    isConcurrencySafe: () => true,
    execute: ({ path }, exec) => advising('image', () => readImage(setup, path, exec)),
    presentCall: ({ path }) => ({ card: 'generic', title: path, kind: 'read', locations: [{ path }] }),
  })
}

async function readImage({ services, config }: FsToolSetup, path: string, exec: ToolExecution): Promise<ImageValue> {
  const target = await targetOf(services, path, exec)
  const policy = await readPolicyOf(services, exec)
  const { signal } = exec
  const bytes = await services.fs.readBytes(target, { signal, policy, maxBytes: config.imageMaxBytes })
  return {
    path: target.path,
    ...described(bytes, target),
    bytes: bytes.length,
    data: Buffer.from(bytes).toString('base64'),
  }
}

function described(bytes: Uint8Array, { path }: FsTarget): Pick<ImageValue, 'mediaType' | 'width' | 'height'> {
  const { type, width, height } = sizeOf(bytes)
  const mediaType = MEDIA_TYPES.get(type)
  if (mediaType !== undefined && width > 0 && height > 0) return { mediaType, width, height }
  const what = type === undefined ? 'it is no picture, or a damaged one' : `it is a picture of type ${type}`
  throw new FsError(
    `cannot show ${JSON.stringify(path)}: ${what}; PNG, JPEG, GIF and WebP can be shown, others after a conversion`,
    'FS_NOT_TEXT',
  )
}

function sizeOf(bytes: Uint8Array): { type?: string | undefined; width: number; height: number } {
  try {
    return imageSize(bytes)
  } catch {
    return { width: 0, height: 0 } // not known to the library, or cut
  }
}

function megabytes(bytes: number): string {
  return `${Math.round((bytes / 1024 / 1024) * 10) / 10} MiB`
}
