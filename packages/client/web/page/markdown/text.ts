// What Markdown leaves to the renderer: character references and which addresses a link may have. Pure.

const named: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00A0',
  copy: '©',
  reg: '®',
  trade: '™',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  bull: '•',
  middot: '·',
  times: '×',
  rarr: '→',
  larr: '←',
  uarr: '↑',
  darr: '↓',
  le: '≤',
  ge: '≥',
  ne: '≠',
  deg: '°',
  plusmn: '±',
  euro: '€',
  para: '¶',
  sect: '§',
}

function codePoint(value: number): string {
  const valid = value > 0 && value <= 0x10_ff_ff && !(value >= 0xd8_00 && value <= 0xdf_ff)
  return valid ? String.fromCodePoint(value) : '\uFFFD'
}

export function decodeEntities(text: string): string {
  return text.replaceAll(/&(?:#[xX]([\da-fA-F]{1,6})|#(\d{1,7})|([A-Za-z]\w{1,31}));/g, (whole, hex, decimal, name) => {
    if (hex !== undefined) return codePoint(Number.parseInt(String(hex), 16))
    if (decimal !== undefined) return codePoint(Number(decimal))
    return Object.hasOwn(named, String(name)) ? (named[String(name)] ?? whole) : whole
  })
}

/** The address of a link that may be followed, else undefined. Relative addresses are refused: they would call this server. */
export function safeHref(href: string): string | undefined {
  const address = decodeEntities(href).trim()
  if (address.startsWith('#')) return address
  try {
    const { protocol, href: normal } = new URL(address)
    return protocol === 'http:' || protocol === 'https:' || protocol === 'mailto:' ? normal : undefined
  } catch {
    // Not an absolute address.
    return undefined
  }
}
