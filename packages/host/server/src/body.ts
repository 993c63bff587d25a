// Reading a request body: bounded, declared as JSON, and an error that says where the JSON breaks.
import type { IncomingMessage } from 'node:http'
import { jsonErrorOffset } from './json-position.ts'
import { ServerError } from './errors.ts'

/**
 * Reads and parses the body. Throws `UNSUPPORTED_MEDIA_TYPE`, `BODY_TOO_LARGE` or `INVALID_JSON`. An empty body is an empty object.
 * After `BODY_TOO_LARGE` the rest of the body is unread: answer with `Connection: close`.
 */
export async function readJsonBody(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const type = request.headers['content-type'] ?? ''
  // Also keeps out cross-site form posts, which cannot have this type without a preflight.
  if (!/^application\/json\s*(?:;|$)/i.test(type.trim())) {
    throw new ServerError(`send the parameters as application/json, not "${type}"`, 'UNSUPPORTED_MEDIA_TYPE')
  }
  const bytes = await readBounded(request, maxBytes)
  if (bytes.length === 0) return {}
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    throw new ServerError('the body is not UTF-8', 'INVALID_JSON', { cause: error })
  }
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new ServerError(describe(text), 'INVALID_JSON', { cause: error })
  }
}

function describe(text: string): string {
  const offset = jsonErrorOffset(text)
  const before = text.slice(0, offset).split('\n')
  const column = (before.at(-1) ?? '').length + 1
  const place = `position ${offset} (line ${before.length}, column ${column})`
  if (offset >= text.length) return `the body is not JSON: it ends too early, at ${place}`
  return `the body is not JSON: unexpected ${JSON.stringify(text.slice(offset, offset + 20))} at ${place}`
}

async function readBounded(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLarge = (): ServerError =>
    new ServerError(`the body is larger than ${maxBytes} bytes, the limit of this server`, 'BODY_TOO_LARGE')
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge()
  return new Promise<Buffer>((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const settle = (finish: () => void): void => {
      request.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose)
      finish()
    }
    const onData = (chunk: Buffer): void => {
      size += chunk.length
      if (size <= maxBytes) chunks.push(chunk)
      else settle(() => reject(tooLarge()))
    }
    const onEnd = (): void => settle(() => resolve(Buffer.concat(chunks)))
    const onError = (error: Error): void => settle(() => reject(error))
    const onClose = (): void => settle(() => reject(new Error('the connection ended inside the body')))
    request.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose)
  })
}
