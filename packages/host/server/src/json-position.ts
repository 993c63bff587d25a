// Where a text stops being JSON. Only used after JSON.parse has refused: V8 names a position for some errors and not for others.

// JSON forbids control characters inside strings.
const STRING = String.raw`"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*`
const NUMBER = String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\d.])`
const TOKEN = new RegExp(String.raw`[ \t\n\r]*(?:([{}[\],:])|(${STRING}")|(true|false|null|${NUMBER}))`, 'y')

type Wanted = 'value' | 'value or ]' | 'key or }' | 'key' | ':' | ', or end'

/** Offset of the first character that cannot continue a JSON text; the length of the text when it ends too early. */
export function jsonErrorOffset(text: string): number {
  const open: ('{' | '[')[] = []
  let wanted: Wanted = 'value'
  let offset = 0
  for (;;) {
    const start = skipSpace(text, offset)
    if (open.length === 0 && wanted === ', or end') return start
    TOKEN.lastIndex = offset
    const token = TOKEN.exec(text)
    if (token === null) return insideToken(text, start)
    const next = step(wanted, open, token[1] ?? (token[2] === undefined ? 'scalar' : 'string'))
    if (next === undefined) return start
    wanted = next
    offset = TOKEN.lastIndex
  }
}

function skipSpace(text: string, offset: number): number {
  let at = offset
  while (at < text.length && ' \t\n\r'.includes(text.charAt(at))) at++
  return at
}

/** A broken token: a string breaks at its bad character, or at the end of the text; anything else at its start. */
function insideToken(text: string, start: number): number {
  if (text[start] !== '"') return start
  const good = new RegExp(STRING, 'y')
  good.lastIndex = start
  good.exec(text)
  return good.lastIndex
}

/** What may follow `token` where `wanted` was expected; undefined when the token does not fit. Keeps `open` up to date. */
function step(wanted: Wanted, open: ('{' | '[')[], token: string): Wanted | undefined {
  const inObject = open.at(-1) === '{'
  switch (token) {
    case '{':
    case '[':
      if (wanted !== 'value' && wanted !== 'value or ]') return undefined
      open.push(token)
      return token === '{' ? 'key or }' : 'value or ]'
    case '}':
    case ']': {
      const fits = token === '}' ? inObject && wanted !== 'value' : open.at(-1) === '[' && wanted !== 'value'
      if (!fits || wanted === 'key' || wanted === ':') return undefined
      open.pop()
      return ', or end'
    }
    case ',':
      if (wanted !== ', or end' || open.length === 0) return undefined
      return inObject ? 'key' : 'value'
    case ':':
      return wanted === ':' ? 'value' : undefined
    case 'string':
      if (wanted === 'key' || wanted === 'key or }') return ':'
      return wanted === 'value' || wanted === 'value or ]' ? ', or end' : undefined
    default:
      return wanted === 'value' || wanted === 'value or ]' ? ', or end' : undefined
  }
}
