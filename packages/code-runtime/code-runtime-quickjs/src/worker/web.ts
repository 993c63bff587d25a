// The worker's halves of the guest's `URL`, `URLSearchParams` and `TextDecoder`. Requests and answers are JSON; nothing here throws.

interface UrlRequest {
  kind?: 'parse' | 'set' | 'pairs' | 'text'
  url?: string
  base?: string
  field?: string
  value?: string
  text?: string
  pairs?: [string, string][]
}

const SETTABLE = [
  'href',
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
] as const

function partsOf(url: URL): Record<string, string> {
  return { ...Object.fromEntries(SETTABLE.map((field) => [field, url[field]])), origin: url.origin }
}

export function answerUrl(request: string): string {
  try {
    const { kind, url = '', base, field, value = '', text = '', pairs = [] } = JSON.parse(request) as UrlRequest
    if (kind === 'pairs') return JSON.stringify({ pairs: [...new URLSearchParams(text)] })
    if (kind === 'text') return JSON.stringify({ text: new URLSearchParams(pairs).toString() })
    const parsed = new URL(url, base)
    const known = SETTABLE.find((each) => each === field)
    if (kind === 'set' && known !== undefined) parsed[known] = value
    return JSON.stringify({ parts: partsOf(parsed) })
  } catch {
    return '{"error":"Invalid URL"}' // the parser's own message adds nothing
  }
}

export function answerDecode(bytes: Uint8Array, options: string): string {
  try {
    const { label, fatal, ignoreBOM } = JSON.parse(options) as { label: string; fatal: boolean; ignoreBOM: boolean }
    const decoder = new TextDecoder(label, { fatal, ignoreBOM })
    return JSON.stringify({ text: decoder.decode(bytes), encoding: decoder.encoding })
  } catch (thrown) {
    const range = thrown instanceof RangeError
    return JSON.stringify({
      error: range ? 'unknown encoding' : 'the bytes are not valid in this encoding',
      ...(range ? { range } : {}),
    })
  }
}
