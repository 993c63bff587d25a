// Terminal text as lines: one pass splits, folds carriage returns, drops every escape that is not SGR and notes the colours each line starts with.
// Only lines that show are parsed into spans. Cursor-addressed programs are out of scope: they need a real terminal.
import Anser from 'anser'

export interface AnsiLine {
  /** SGR sequences in force where the line starts. */
  readonly carry: string
  /** Text with SGR sequences only. */
  readonly text: string
}

export interface AnsiSpan {
  readonly text: string
  readonly className: string
  readonly color?: string
  readonly background?: string
}

// OSC, DCS, SOS, PM and APC run to their terminator; a torn one runs to the end of its line. CSI has a final byte; the rest are two bytes.
const escapes =
  // eslint-disable-next-line no-control-regex
  /\u001B(?:[\]PX^_][^\u0007\u001B\n]*(?:\u0007|\u001B\\|(?=\n)|$)|\[[0-?]*[ -/]*(?:[@-~]|(?=[^ -~])|$)|[ -/]*(?:[0-Z\\^-~]|$)|)/g
// eslint-disable-next-line no-control-regex
const sgr = /^\u001B\[[\d;:]*m$/
// eslint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000B\u000C\u000E-\u001A\u001C-\u001F\u007F-\u009F]/g

interface Style {
  fg: string
  bg: string
  flags: Set<string>
}

const closes: Record<string, readonly string[]> = {
  22: ['1', '2'],
  23: ['3'],
  24: ['4'],
  25: ['5'],
  27: ['7'],
  28: ['8'],
  29: ['9'],
}

function applySgr(style: Style, sequence: string): void {
  const codes = sequence.slice(2, -1).split(/[;:]/)
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] === '' ? '0' : String(Number(codes[at]))
    const value = Number(code)
    if (value === 0) Object.assign(style, { fg: '', bg: '', flags: new Set<string>() })
    else if (value < 10) style.flags.add(code)
    else if (closes[code] !== undefined) for (const flag of closes[code]) style.flags.delete(flag)
    else if (value === 38 || value === 48) {
      const length = codes[at + 1] === '2' ? 5 : 3
      style[value === 38 ? 'fg' : 'bg'] = codes.slice(at, at + length).join(';')
      at += length - 1
    } else if (value === 39) style.fg = ''
    else if (value === 49) style.bg = ''
    else if ((value >= 30 && value < 38) || (value >= 90 && value < 98)) style.fg = code
    else if ((value >= 40 && value < 48) || (value >= 100 && value < 108)) style.bg = code
  }
}

function carryOf(style: Style): string {
  const codes = [...style.flags, style.fg, style.bg].filter((code) => code !== '')
  return codes.length === 0 ? '' : `\u001B[${codes.join(';')}m`
}

/** A carriage return starts the line over: what a terminal would still show is the last part that is not empty. */
function lastRewrite(line: string): string {
  if (!line.includes('\r')) return line
  const parts = line.split('\r')
  for (let at = parts.length - 1; at > 0; at--) if (parts[at] !== '') return parts[at] ?? ''
  return parts[0] ?? ''
}

export function ansiLines(output: string): AnsiLine[] {
  const clean = output.replaceAll(escapes, (sequence) => (sgr.test(sequence) ? sequence : '')).replaceAll(controls, '')
  const raw = clean.split('\n')
  if (raw.at(-1) === '') raw.pop()
  const style: Style = { fg: '', bg: '', flags: new Set() }
  return raw.map((whole) => {
    const carry = carryOf(style)
    // Colours set in a part that was overwritten stay in force, so the style follows the whole line.
    // eslint-disable-next-line no-control-regex
    for (const sequence of whole.match(/\u001B\[[\d;:]*m/g) ?? []) applySgr(style, sequence)
    return { carry, text: lastRewrite(whole) }
  })
}

/** The characters of a line without its colours. */
export function plainText(line: AnsiLine): string {
  // eslint-disable-next-line no-control-regex
  return line.text.replaceAll(/\u001B\[[\d;:]*m/g, '')
}

function paletteColor(index: number): string {
  if (index >= 232)
    return `rgb(${Array(3)
      .fill(8 + (index - 232) * 10)
      .join(', ')})`
  const level = (value: number): number => (value === 0 ? 0 : 55 + value * 40)
  const cube = index - 16
  return `rgb(${level(Math.floor(cube / 36))}, ${level(Math.floor(cube / 6) % 6)}, ${level(cube % 6)})`
}

function paint(
  name: string | null,
  truecolor: string | null,
  suffix: 'fg' | 'bg',
): { className?: string; color?: string } {
  if (!name) return {}
  if (name === 'ansi-truecolor') return truecolor ? { color: `rgb(${truecolor})` } : {}
  const palette = /^ansi-palette-(\d+)$/.exec(name)
  return palette ? { color: paletteColor(Number(palette[1])) } : { className: `${name}-${suffix}` }
}

const decorationClass: Record<string, string> = {
  bold: 'font-semibold',
  italic: 'italic',
  underline: 'underline',
  strikethrough: 'line-through',
  hidden: 'invisible',
}

export function ansiSpans(line: AnsiLine): AnsiSpan[] {
  if (line.carry === '' && !line.text.includes('\u001B')) return [{ text: line.text, className: '' }]
  const parts = Anser.ansiToJson(line.carry + line.text, { json: true, remove_empty: true, use_classes: true })
  return parts.map((part) => {
    const reversed = part.decorations.includes('reverse')
    const front = paint(reversed ? part.bg : part.fg, reversed ? part.bg_truecolor : part.fg_truecolor, 'fg')
    const back = paint(reversed ? part.fg : part.bg, reversed ? part.fg_truecolor : part.bg_truecolor, 'bg')
    const faint = part.decorations.includes('dim') && !front.className && !front.color ? 'text-ink3' : undefined
    const decorations = part.decorations.map((name) => decorationClass[name])
    return {
      text: part.content,
      className: [front.className, back.className, faint, ...decorations].filter(Boolean).join(' '),
      ...(front.color ? { color: front.color } : {}),
      ...(back.color ? { background: back.color } : {}),
    }
  })
}
