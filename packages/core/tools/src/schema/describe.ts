// Names a value that arrived where another was wanted. Total: hostile values are described too.
const MAX_TEXT = 40
const MAX_KEYS = 3

/** E.g. `number 3`, `string "abc"`, `array of 2 items`, `object with keys "a", "b"`. */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return `string ${quote(value)}`
    case 'number':
      return `number ${Object.is(value, -0) ? '-0' : value}`
    case 'boolean':
      return `boolean ${value}`
    case 'object':
      return value === null ? 'null' : describeContainer(value)
    default:
      return typeof value
  }
}

function describeContainer(value: object): string {
  try {
    if (Array.isArray(value)) return `array of ${count(value.length, 'item')}`
    const keys = Object.keys(value)
    if (keys.length === 0) return 'object without keys'
    const shown = keys.slice(0, MAX_KEYS).map(quote).join(', ')
    return `object with keys ${shown}${keys.length > MAX_KEYS ? ` and ${keys.length - MAX_KEYS} more` : ''}`
  } catch {
    return 'object' // a proxy refused to be looked at
  }
}

function quote(text: string): string {
  const points = Array.from(text.slice(0, MAX_TEXT * 2))
  return JSON.stringify(
    text.length > MAX_TEXT && points.length > MAX_TEXT ? `${points.slice(0, MAX_TEXT).join('')}…` : text,
  )
}

/** `1 item`, `2 items`. */
export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`
}
