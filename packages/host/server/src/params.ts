// The shape of every method's parameters, checked at the door: a page of another version or a script gets a sentence, not a crash.
import { isAbsolute } from 'node:path'
import { SANDBOX_MODES } from '@deepseek-ai/dsh-sandbox'
import { ServerError } from './errors.ts'
import type { MethodName, Methods } from './protocol.ts'

interface Check {
  readonly wanted: string
  readonly optional: boolean
  ok(value: unknown): boolean
}

const check = (wanted: string, ok: (value: unknown) => boolean): Check => ({ wanted, optional: false, ok })
const optional = (inner: Check): Check => ({ ...inner, optional: true })
const text = (wanted: string, ok: (value: string) => boolean): Check =>
  check(wanted, (value) => typeof value === 'string' && ok(value))

const sessionId = text('a session id (letters, digits, - and _, at most 64)', (value) => /^[\w-]{1,64}$/.test(value))
const filled = text('a text that is not empty', (value) => value.trim() !== '')
const title = text('a title of 1 to 200 characters', (value) => value.trim() !== '' && value.length <= 200)
const folder = text('an absolute path', (value) => isAbsolute(value) && !value.includes('\0'))
const modelRef = check('{ provider, model } with two texts', (value) => {
  return isObject(value) && isFilled(value['provider']) && isFilled(value['model']) && Object.keys(value).length === 2
})
const settings = check('an object of apiKey, baseURL and model, each a text or null', (value) => {
  const known = ['apiKey', 'baseURL', 'model']
  return isObject(value) && Object.entries(value).every(([name, each]) => known.includes(name) && isSetting(each))
})
const delivery = check('"queue" or "steer"', (value) => value === 'queue' || value === 'steer')

const oneOf = (...words: readonly string[]): Check =>
  check(words.map((word) => JSON.stringify(word)).join(', '), (value) => words.includes(value as string))
const anyText = check('a text', (value) => typeof value === 'string')
const count = (wanted: string, least: number, most: number): Check =>
  check(`${wanted} from ${least} to ${most}`, (value) => {
    return Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most
  })
const columns = count('a number of columns', 2, 1000)
const lines = count('a number of rows', 1, 1000)
const flag = check('true or false', (value) => typeof value === 'boolean')
const answer = check(
  '{ kind: "allow", grant } with a grant { kind: "once" | "session" | "prefix", words? }, or { kind: "reject", feedback? }',
  isAnswer,
)

type Shape<M extends MethodName> = { readonly [K in keyof Required<Methods[M]['params']>]: Check }

const SHAPES: { readonly [M in MethodName]: Shape<M> } = {
  'host.info': {},
  'sessions.list': {},
  'sessions.create': { cwd: optional(folder), model: optional(filled) },
  'sessions.open': { id: sessionId },
  'sessions.rename': { id: sessionId, title },
  'sessions.delete': { id: sessionId },
  'sessions.send': { id: sessionId, text: filled, delivery: optional(delivery) },
  'sessions.withdraw': { id: sessionId, messageId: filled },
  'sessions.cancel': { id: sessionId },
  'sessions.setModel': { id: sessionId, model: modelRef },
  'approvals.answer': { id: sessionId, approvalId: filled, answer },
  'approvals.revoke': { id: sessionId, grantId: filled },
  'questions.answer': { id: sessionId, questionId: filled, text: anyText, secret: optional(flag) },
  'questions.dismiss': { id: sessionId, questionId: filled },
  'jobs.output': { id: sessionId, jobId: filled },
  'jobs.kill': { id: sessionId, jobId: filled },
  'jobs.promote': { id: sessionId, callId: filled },
  'permission.set': { id: sessionId, mode: oneOf(...SANDBOX_MODES) },
  'terminals.open': { id: sessionId, cols: optional(columns), rows: optional(lines) },
  'terminals.input': { id: sessionId, terminalId: filled, data: anyText },
  'terminals.resize': { id: sessionId, terminalId: filled, cols: columns, rows: lines },
  'terminals.signal': {
    id: sessionId,
    terminalId: filled,
    signal: oneOf('SIGINT', 'SIGTERM', 'SIGKILL', 'SIGTSTP', 'SIGHUP'),
  },
  'terminals.close': { id: sessionId, terminalId: filled },
  'files.lines': {
    id: sessionId,
    path: filled,
    offset: optional(count('the number of a line', 1, Number.MAX_SAFE_INTEGER)),
    count: optional(count('a number of lines', 1, 10_000)),
  },
  'spill.read': {
    id: sessionId,
    path: folder,
    from: optional(count('a position in bytes', 0, Number.MAX_SAFE_INTEGER)),
    bytes: optional(count('a number of bytes', 1, 1024 * 1024)),
  },
  'tools.list': { id: optional(sessionId) },
  'providers.configure': { provider: filled, settings },
}

const SECRETS: ReadonlySet<string> = new Set(['settings', 'text', 'data'])

export const METHOD_NAMES = Object.keys(SHAPES) as readonly MethodName[]

export function isMethodName(name: string): name is MethodName {
  return Object.hasOwn(SHAPES, name)
}

/** The parameters as a plain object of the declared fields. Throws `INVALID_PARAMS`. */
export function checkParams<M extends MethodName>(method: M, params: unknown): Methods[M]['params'] {
  const shape: Readonly<Record<string, Check>> = SHAPES[method]
  const refuse = (reason: string): ServerError => new ServerError(`${method}: ${reason}`, 'INVALID_PARAMS')
  if (!isObject(params)) throw refuse(`the parameters must be a JSON object, not ${shown(params)}`)
  for (const name of Object.keys(params)) {
    if (Object.hasOwn(shape, name)) continue
    const known = Object.keys(shape)
    throw refuse(
      `"${name}" is not a parameter; ${known.length === 0 ? 'there are none' : `there are ${known.join(', ')}`}`,
    )
  }
  const checked: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(shape)) {
    const value = params[name]
    if (value === undefined) {
      if (field.optional) continue
      throw refuse(`"${name}" is missing; it must be ${field.wanted}`)
    }
    // What arrived is not quoted where it may hold a key or another secret.
    if (!field.ok(value)) {
      throw refuse(`"${name}" must be ${field.wanted}${SECRETS.has(name) ? '' : `, not ${shown(value)}`}`)
    }
    checked[name] = value
  }
  return checked
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isAnswer(value: unknown): boolean {
  if (!isObject(value)) return false
  const { kind, grant, feedback } = value
  if (kind === 'reject') return feedback === undefined || typeof feedback === 'string'
  if (kind !== 'allow' || !isObject(grant)) return false
  if (grant['kind'] === 'once' || grant['kind'] === 'session') return true
  const words = grant['words']
  return grant['kind'] === 'prefix' && Array.isArray(words) && words.length > 0 && words.every(isFilled)
}

function isFilled(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== ''
}

function isSetting(value: unknown): boolean {
  return value === null || typeof value === 'string'
}

function shown(value: unknown): string {
  const json = JSON.stringify(value) ?? String(value)
  return json.length <= 80 ? json : `${json.slice(0, 80)}…`
}
