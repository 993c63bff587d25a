// Carries out one behaviour on an HTTP response, in the wire format of chat completions.
import type { ServerResponse } from 'node:http'
import type { MockAnswer, MockBehaviour, MockToolCall, MockUsage } from './behaviour.ts'
import type { MockRequest } from './server.ts'

export async function perform(behaviour: MockBehaviour, request: MockRequest, response: ServerResponse): Promise<void> {
  switch (behaviour.kind) {
    case 'answer':
      return stream(behaviour, request, response)
    case 'empty':
      return stream({ kind: 'answer' }, request, response)
    case 'error': {
      const { body = { error: { message: `mock error ${behaviour.status}` } } } = behaviour
      const type = typeof body === 'string' ? 'text/plain' : 'application/json'
      response.writeHead(behaviour.status, { 'content-type': type, ...behaviour.headers })
      response.write(typeof body === 'string' ? body : JSON.stringify(body))
      if (behaviour.stall === true) await request.closed
      else response.end()
      return
    }
    case 'reset':
      response.destroy(new Error('reset on purpose'))
      return
    case 'stall':
      await request.closed
      return
    case 'malformed-json':
      return whole(
        response,
        `${event(delta(request, { content: 'Hel' }))}data: {"choices": [{"delta": {"content": "lo\n\n`,
      )
    case 'stream-error':
      return whole(response, event({ error: behaviour.error }))
    case 'not-sse':
      return whole(
        response,
        behaviour.body ?? '<html><body>Sign in</body></html>',
        behaviour.contentType ?? 'text/html',
      )
    case 'empty-body':
      return whole(response, '')
    case 'raw':
      return whole(response, behaviour.body, behaviour.contentType)
    default:
      return unknown(behaviour)
  }
}

function unknown(behaviour: never): never {
  throw new Error(`unknown mock behaviour ${JSON.stringify(behaviour)}`)
}

function whole(response: ServerResponse, body: string, contentType = 'text/event-stream'): void {
  response.writeHead(200, { 'content-type': contentType }).end(body)
}

/** A pause is cut into that many, with a comment after each when the connection is kept alive. */
const PAUSE_PARTS = 10

async function stream(answer: MockAnswer, request: MockRequest, response: ServerResponse): Promise<void> {
  const { delayMs = 0, cut } = answer
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  response.flushHeaders()
  let sent = 0
  const parts = delayMs > 0 ? PAUSE_PARTS : 0
  for (const fields of deltas(answer)) {
    if (cut !== undefined && sent >= cut.after) return end(cut.how, request, response)
    for (let part = 0; part < parts; part++) {
      await pause(delayMs / PAUSE_PARTS, response)
      if (response.destroyed) return
      if (answer.keepalive === true) response.write(': keep-alive\n\n')
    }
    response.write(event(delta(request, fields)))
    sent++
  }
  if (cut !== undefined) return end(cut.how, request, response)
  const hasCalls = (answer.toolCalls ?? []).length > 0
  const finish = answer.finish === undefined ? (hasCalls ? 'tool_calls' : 'stop') : answer.finish
  if (finish !== null) response.write(event(delta(request, {}, finish)))
  const usage = answer.usage === undefined ? defaultUsage(request) : answer.usage
  if (usage !== null) response.write(event({ ...delta(request, {}), choices: [], usage }))
  response.end('data: [DONE]\n\n')
}

async function end(how: 'disconnect' | 'stall' | 'end', request: MockRequest, response: ServerResponse): Promise<void> {
  if (how === 'stall') await request.closed
  else if (how === 'end') response.end()
  else {
    // Destroying right away could take back bytes that are still in the buffer.
    await new Promise<void>((resolve) => response.write(': cut\n\n', () => resolve()))
    response.destroy(new Error('disconnect on purpose'))
  }
}

function pause(delayMs: number, response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      response.off('close', done)
      resolve()
    }
    const timer = setTimeout(done, delayMs)
    response.once('close', done)
  })
}

function defaultUsage(request: MockRequest): MockUsage | null {
  const options = request.body['stream_options']
  const asked =
    typeof options === 'object' && options !== null && 'include_usage' in options && options.include_usage === true
  return asked ? { prompt_tokens: 20, completion_tokens: 5 } : null
}

function event(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`
}

function delta(
  request: MockRequest,
  fields: Record<string, unknown>,
  finish: string | null = null,
): Record<string, unknown> {
  const model = request.body['model'] ?? 'mock-model'
  const choices = [{ index: 0, delta: fields, finish_reason: finish }]
  return { id: 'chatcmpl-mock', object: 'chat.completion.chunk', created: 0, model, choices }
}

function* deltas(answer: MockAnswer): Generator<Record<string, unknown>, void, void> {
  const { pieceLength = 8, callStyle = 'fragments', reasoningField = 'reasoning_content' } = answer
  for (const piece of pieces(answer.reasoning ?? '', pieceLength)) yield { [reasoningField]: piece }
  for (const piece of pieces(answer.text ?? '', pieceLength)) yield { content: piece }
  for (const [index, call] of (answer.toolCalls ?? []).entries()) {
    for (const part of callDeltas(call, index, callStyle, pieceLength)) yield { tool_calls: [part] }
  }
}

let calls = 0

function* callDeltas(
  call: MockToolCall,
  index: number,
  style: NonNullable<MockAnswer['callStyle']>,
  pieceLength: number,
): Generator<Record<string, unknown>, void, void> {
  const id = call.id === undefined ? `call_mock_${++calls}` : call.id
  const head = { ...(id === null ? {} : { id }), type: 'function' }
  const text = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments)
  if (style === 'whole' || style === 'whole-same-index') {
    yield { index: style === 'whole' ? index : 0, ...head, function: { name: call.name, arguments: text } }
    return
  }
  const place = style === 'no-index' ? {} : { index }
  yield { ...place, ...head, function: { name: call.name, arguments: '' } }
  for (const piece of pieces(text, pieceLength)) {
    if (style === 'repeat-id') yield { ...place, ...head, function: { name: call.name, arguments: piece } }
    else yield { ...place, function: { arguments: piece } }
  }
}

function pieces(text: string, length: number): string[] {
  const characters = Array.from(text)
  const result: string[] = []
  for (let start = 0; start < characters.length; start += length)
    result.push(characters.slice(start, start + length).join(''))
  return result
}
