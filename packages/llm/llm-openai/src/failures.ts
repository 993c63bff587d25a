// Gives every way a request can fail its code and a sentence that says what to do. No key leaves this file.
import type { LlmFailure, LlmFailureCode } from '@deepseek-ai/dsh-llm'
import { shownURL, type Sourced } from './connection.ts'

/** What a message may name. */
export interface RequestFacts {
  readonly provider: string
  readonly model: string
  readonly key: Sourced | undefined
  readonly baseURL: string
  /** The answer had begun. */
  readonly started: boolean
}

interface Verdict {
  readonly code: LlmFailureCode
  readonly says: string
  readonly advice: string
}

const LONGEST_DETAIL = 300
const LONGEST_READ = 8000

/** Total: anything that the library or the network throws. */
export function failureOf(error: unknown, facts: RequestFacts): LlmFailure {
  const status = fieldOf(error, 'status')
  const headers = fieldOf(error, 'headers')
  const get = headers instanceof Headers ? (name: string) => headers.get(name) : () => null
  const retryAfterMs = retryAfter(get, Date.now())
  const requestId = get('x-request-id')
  const { code, says, advice } = verdictOf(error, typeof status === 'number' ? status : undefined, facts)
  return {
    code,
    message: scrub(`"${facts.provider}" ${says}; ${advice}.`, facts.key),
    ...(typeof status === 'number' ? { status } : {}),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(requestId === null ? {} : { requestId: scrub(requestId, facts.key) }),
  }
}

function verdictOf(error: unknown, status: number | undefined, facts: RequestFacts): Verdict {
  if (status !== undefined) return verdictOfStatus(status, error, facts)
  if (fieldOf(error, 'error') !== undefined) return verdictInStream(error, facts)
  if (error instanceof SyntaxError) {
    return { code: 'MALFORMED_RESPONSE', says: 'sent an event that is not JSON', advice: 'try again' }
  }
  return verdictOfTransport(error, facts)
}

function verdictOfStatus(status: number, error: unknown, facts: RequestFacts): Verdict {
  const text = textOf(error)
  const says = `answered ${status}${detailOf(error, facts.key)}`
  const at = `${facts.provider}/${facts.model}`
  if (status !== 408 && QUOTA_TEXT.test(text))
    return { code: 'QUOTA', says, advice: 'check the balance or plan of the account' }
  if (status === 402) return { code: 'QUOTA', says, advice: 'check the balance or plan of the account' }
  if (status === 429) return { code: 'RATE_LIMIT', says, advice: 'wait a little and try again' }
  if (status === 401 || status === 403 || (status === 400 && KEY_TEXT.test(text))) {
    return { code: 'AUTH', says, advice: keyAdvice(facts.key) }
  }
  if (status === 413 || CONTEXT_TEXT.test(text)) {
    return {
      code: 'CONTEXT_WINDOW_EXCEEDED',
      says,
      advice: 'start a new session or choose a model with a larger context',
    }
  }
  if (status === 404 || MODEL_TEXT.test(text)) {
    return {
      code: 'UNKNOWN_MODEL',
      says,
      advice: `check the model ${at} and the base URL ${shownURL(facts.baseURL) ?? ''}`,
    }
  }
  if (status === 408) return { code: 'TIMEOUT', says, advice: 'try again' }
  if (status >= 500) return { code: 'SERVER', says, advice: 'try again later' }
  if (status >= 400) return { code: 'INVALID_REQUEST', says, advice: `see whether ${at} supports what was asked` }
  return { code: 'UNKNOWN', says, advice: `check the base URL ${shownURL(facts.baseURL) ?? ''}` }
}

/** An error event inside a stream that had begun: the status said 200, only its words tell more. */
function verdictInStream(error: unknown, facts: RequestFacts): Verdict {
  const text = textOf(error)
  const says = `stopped its answer with an error${detailOf(error, facts.key)}`
  const wire = fieldOf(fieldOf(error, 'error'), 'code')
  if (typeof wire === 'number' && wire >= 400 && wire < 600) return { ...verdictOfStatus(wire, error, facts), says }
  if (QUOTA_TEXT.test(text)) return { code: 'QUOTA', says, advice: 'check the balance or plan of the account' }
  if (/rate.?limit|too many requests/i.test(text))
    return { code: 'RATE_LIMIT', says, advice: 'wait a little and try again' }
  if (CONTEXT_TEXT.test(text)) {
    return {
      code: 'CONTEXT_WINDOW_EXCEEDED',
      says,
      advice: 'start a new session or choose a model with a larger context',
    }
  }
  if (/invalid_request/i.test(text)) return { code: 'INVALID_REQUEST', says, advice: 'word the request differently' }
  return { code: 'SERVER', says, advice: 'try again' }
}

function verdictOfTransport(error: unknown, facts: RequestFacts): Verdict {
  const where = shownURL(facts.baseURL) ?? 'its address'
  const code = systemCode(error)
  if (isTimeout(error, code)) {
    return {
      code: 'TIMEOUT',
      says: `could not be reached in time at ${where}`,
      advice: 'check the network and try again',
    }
  }
  if (facts.started) {
    return {
      code: 'STREAM_CLOSED',
      says: `closed the connection before its answer was complete${paren(code)}`,
      advice: 'try again',
    }
  }
  if (code === 'ECONNREFUSED') {
    return {
      code: 'TRANSPORT',
      says: `refused the connection at ${where}`,
      advice: 'see whether the server runs there',
    }
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return {
      code: 'TRANSPORT',
      says: `has an address that cannot be found, ${where}`,
      advice: 'check the network and the base URL',
    }
  }
  if (code !== undefined || isConnectionError(error)) {
    return {
      code: 'TRANSPORT',
      says: `could not be reached at ${where}${paren(code)}`,
      advice: 'check the network and try again',
    }
  }
  return { code: 'UNKNOWN', says: `could not be asked${detailOf(error, facts.key)}`, advice: 'try again' }
}

const QUOTA_TEXT =
  /insufficient[_ ](?:quota|balance|funds|credits?)|exceeded your current quota|billing_(?:hard_limit|not_active)|out of credits/i
const CONTEXT_TEXT =
  /context_length_exceeded|context[_ -](?:length|window|size)|maximum context|(?:prompt|input) is too long|too many (?:input )?tokens|exceed_context/i
const KEY_TEXT = /invalid[_ ]api[_ ]key|api key (?:not valid|is invalid|not found)|incorrect api key/i
const MODEL_TEXT = /model_not_found|model [^.]{0,80}(?:does not exist|not found|is not available)|unknown model/i

function keyAdvice(key: Sourced | undefined): string {
  if (key === undefined) return 'the server wants a key: set one'
  return `check the key from ${key.source} (${masked(key.value)})`
}

/** Enough to tell keys apart, too little to use. */
function masked(key: string): string {
  return key.length >= 20 ? `ending in …${key.slice(-4)}` : `${key.length} characters`
}

/** Servers like to quote the key they refuse. */
export function scrub(text: string, key: Sourced | undefined): string {
  if (key === undefined || key.value.length < 4) return text
  return text.replaceAll(key.value, '***').replaceAll(encodeURIComponent(key.value), '***')
}

/** `: the server's own words`, in one line; the tags of an error page left out. */
function detailOf(error: unknown, key: Sourced | undefined): string {
  // Scrubbed before anything is cut: half a key would not be found. Then bounded: an error page can be huge.
  const message = scrub(messageOf(error), key)
    .slice(0, LONGEST_READ)
    .replace(/^\d{3} /, '')
  const text = message
    .replace(/<(?:style|script)[^]*?<\/(?:style|script)>|<[^>]*>/gi, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  if (text === '' || text === 'status code (no body)') return ''
  const cut = Array.from(text)
  return `: ${cut.length > LONGEST_DETAIL ? `${cut.slice(0, LONGEST_DETAIL).join('')}…` : text.replace(/\.$/, '')}`
}

function textOf(error: unknown): string {
  return [fieldOf(error, 'code'), fieldOf(error, 'type'), messageOf(error)]
    .filter((each) => typeof each === 'string')
    .join(' ')
}

function messageOf(error: unknown): string {
  const message = fieldOf(error, 'message')
  return typeof message === 'string' ? message.slice(0, 10 * LONGEST_READ) : ''
}

/** Milliseconds from `retry-after-ms`, or `retry-after` in seconds or as a date. */
export function retryAfter(get: (name: string) => string | null, now: number): number | undefined {
  const exact = Number.parseFloat(get('retry-after-ms') ?? '')
  if (exact >= 0) return Math.ceil(exact)
  const given = get('retry-after')?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(given)) return Math.ceil(Number(given) * 1000)
  const date = given === '' ? Number.NaN : Date.parse(given)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

/** The library's own class for it has no name and no cause, only its constructor tells. */
function isTimeout(error: unknown, code: string | undefined): boolean {
  if (/^(?:ETIMEDOUT|UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT)$/.test(code ?? '')) return true
  return error instanceof Error && error.constructor.name === 'APIConnectionTimeoutError'
}

function isConnectionError(error: unknown): boolean {
  for (const each of causes(error)) {
    if (each instanceof TypeError && /fetch failed|terminated/.test(each.message)) return true
  }
  return false
}

function systemCode(error: unknown): string | undefined {
  for (const each of causes(error)) {
    const code = fieldOf(each, 'code')
    if (typeof code === 'string' && /^(?:E[A-Z_]+|UND_ERR_\w+|CERT_\w+|\w*CERT\w*)$/.test(code)) return code
    // Several addresses of one name were tried.
    const first: unknown = each instanceof AggregateError ? each.errors[0] : undefined
    const inner = fieldOf(first, 'code')
    if (typeof inner === 'string') return inner
  }
  return undefined
}

function* causes(error: unknown): Generator<unknown, void, void> {
  for (let each = error, depth = 0; each !== undefined && depth < 8; depth++) {
    yield each
    each = fieldOf(each, 'cause')
  }
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && name in value
    ? (value as Record<string, unknown>)[name]
    : undefined
}

function paren(code: string | undefined): string {
  return code === undefined ? '' : ` (${code})`
}
