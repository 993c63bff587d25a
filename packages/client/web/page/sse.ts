// Reads the server-sent event format from decoded text. Pure: knows nothing of connections.

export interface SseMessage {
  readonly event: string
  readonly data: string
  readonly id?: string
}

/** Feed it text in pieces of any size; it calls `onMessage` once for each complete event. */
export function createSseParser(onMessage: (message: SseMessage) => void): (chunk: string) => void {
  let rest = ''
  let event = ''
  let id: string | undefined
  let data: string[] = []

  const dispatch = (): void => {
    if (data.length > 0)
      onMessage({ event: event || 'message', data: data.join('\n'), ...(id === undefined ? {} : { id }) })
    event = ''
    id = undefined
    data = []
  }
  const line = (text: string): void => {
    if (text === '') return dispatch()
    if (text.startsWith(':')) return
    const colon = text.indexOf(':')
    const field = colon < 0 ? text : text.slice(0, colon)
    const value = colon < 0 ? '' : text.slice(text[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'data') data.push(value)
    else if (field === 'event') event = value
    else if (field === 'id') id = value
  }

  return (chunk) => {
    rest += chunk
    // A lone CR at the very end may be half of CRLF: it waits for the next piece.
    const lines = rest.split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    for (const text of lines) line(text)
  }
}
