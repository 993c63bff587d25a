// Looks after HTTP responses before the library reads them: signs of life, error bodies of every shape, answers that are no stream.
import { scrub } from './failures.ts'
import type { Sourced } from './connection.ts'

const LONGEST_BEGINNING = 120

/** Reports each arrival of bytes: comments that keep a connection alive never become chunks. */
export function observed(response: Response, onBytes: () => void): Response {
  if (response.body === null) return response
  const body = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, controller) {
        onBytes()
        controller.enqueue(bytes)
      },
    }),
  )
  return replaced(response, body)
}

/**
 * The same response with its error under `error`: the library reads no other place and would drop `{"detail": …}` or
 * `{"message": …}` of servers that are compatible in all else. A body that does not end leaves the status.
 */
export async function withErrorBody(response: Response): Promise<Response> {
  let text: string
  try {
    text = await response.text()
  } catch {
    return replaced(response, '') // aborted: silent for too long, or cancelled
  }
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return replaced(response, text) // no JSON: the library takes the text
  }
  if (typeof parsed === 'object' && parsed !== null && 'error' in parsed) return replaced(response, text)
  return replaced(
    response,
    JSON.stringify({ error: { ...(isRecord(parsed) ? parsed : {}), message: messageOf(parsed) } }),
  )
}

function messageOf(body: unknown): string {
  if (isRecord(body)) {
    for (const field of ['message', 'detail', 'msg']) {
      const value = body[field]
      if (typeof value === 'string') return value
      if (value !== undefined && value !== null) return JSON.stringify(value)
    }
  }
  return JSON.stringify(body)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function replaced(response: Response, body: ConstructorParameters<typeof Response>[0]): Response {
  const { status, statusText } = response
  const headers = new Headers(response.headers)
  // They describe the body as it came over the wire.
  headers.delete('content-length')
  headers.delete('content-encoding')
  return new Response(body, { status, statusText, headers })
}

/** The content type when it is not an event stream: a login page, a proxy, another API. */
export function foreignType(response: Response): string | undefined {
  const type = response.headers.get('content-type')?.trim() ?? ''
  return type === '' || /^text\/event-stream\b/i.test(type) ? undefined : type
}

/** The first words of a body nobody has read yet, in one line; then lets go of it. */
export async function beginning(response: Response, key: Sourced | undefined): Promise<string> {
  const reader = response.body?.getReader()
  try {
    const first = await reader?.read()
    // Scrubbed before it is cut: half a key would not be found.
    const text = scrub(new TextDecoder().decode(first?.value ?? new Uint8Array()), key)
    return Array.from(
      text
        .slice(0, 4 * LONGEST_BEGINNING)
        .replace(/\s+/g, ' ')
        .trim(),
    )
      .slice(0, LONGEST_BEGINNING)
      .join('')
  } catch {
    return '' // the type alone says enough
  } finally {
    reader?.cancel().catch(() => {}) // closed already is as good
  }
}
