// Fills `${…}` into config strings, and keeps beside it what may be printed. Data only: there are no expressions.
import { isRecord } from './patch.ts'
import { suggestion } from './nearest.ts'

export interface Variables {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly home: string
}

export interface Filled {
  /** What the plugin receives. */
  readonly value: unknown
  /** What may be printed: parses back to `value`, with secrets as the text that brings them. */
  readonly shown: unknown
}

/** Thrown with a message that names the variable; the caller adds row and place. */
export class VariableError extends Error {
  readonly path: string

  constructor(message: string, path: string) {
    super(message)
    this.path = path
  }
}

/** Fills every string in `value`. `path` names the field for errors, such as `config.apiKey`. */
export function interpolate(value: unknown, variables: Variables, path: string): Filled {
  if (typeof value === 'string') return fillText(value, variables, path)
  if (Array.isArray(value)) {
    const items = value.map((item, index) => interpolate(item, variables, `${path}[${index}]`))
    return { value: items.map((item) => item.value), shown: items.map((item) => item.shown) }
  }
  if (!isRecord(value)) return { value, shown: value }
  const fields = Object.entries(value).map(
    ([key, item]) => [key, interpolate(item, variables, `${path}.${key}`)] as const,
  )
  return {
    value: Object.fromEntries(fields.map(([key, item]) => [key, item.value])),
    shown: Object.fromEntries(fields.map(([key, item]) => [key, item.shown])),
  }
}

function fillText(text: string, variables: Variables, path: string): Filled {
  let filled = ''
  let secret = false
  for (let at = 0; at < text.length;) {
    if (text.startsWith('$${', at)) {
      filled += '${'
      at += 3
    } else if (text.startsWith('${', at)) {
      const end = text.indexOf('}', at)
      if (end === -1)
        throw new VariableError(`"\${" without "}" in ${JSON.stringify(text)}; write $\${ for the text`, path)
      const expression = text.slice(at + 2, end)
      const result = resolveVariable(expression, variables, path)
      filled += result.text
      secret ||= result.secret
      at = end + 1
    } else {
      filled += text[at]
      at += 1
    }
  }
  return { value: filled, shown: secret ? text : escapeText(filled) }
}

/** Makes every string in `value` mean itself. */
export function escapeVariables(value: unknown): unknown {
  if (typeof value === 'string') return escapeText(value)
  if (Array.isArray(value)) return value.map(escapeVariables)
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, escapeVariables(item)]))
}

function escapeText(text: string): string {
  return text.replaceAll('${', '$$${') // a replacement text writes one dollar as two
}

function resolveVariable(expression: string, variables: Variables, path: string): { text: string; secret: boolean } {
  if (expression === 'cwd') return { text: variables.cwd, secret: false }
  if (expression === 'home') return { text: variables.home, secret: false }
  const match = /^env\.([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s.exec(expression)
  if (match === null || match[2]?.includes('${') === true) {
    const hint = expression.startsWith('env.')
      ? '; wanted env.NAME or env.NAME:-default, without ${ inside'
      : suggestion(expression, ['env.NAME', 'env.NAME:-default', 'cwd', 'home'])
    throw new VariableError(`unknown variable "\${${expression}}"${hint}`, path)
  }
  const name = match[1]!
  const set = variables.env[name]
  // Like the shell's `:-`, the default stands in for a variable that is empty as well.
  const text = set === undefined || (set === '' && match[2] !== undefined) ? match[2] : set
  if (text !== undefined) return { text, secret: looksSecret(name) }
  throw new VariableError(
    `the environment variable ${name} is not set; set it, or give a default: \${env.${name}:-…}`,
    path,
  )
}

/** Variables whose value must not be printed, judged by their name. */
export function looksSecret(name: string): boolean {
  return /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL/i.test(name)
}
