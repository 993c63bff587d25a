// The palette: every text colour is readable on every ground it stands on, light and dark.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const css = readFileSync(new URL('../page/styles.css', import.meta.url), 'utf8')

/** The tokens of one rule of the stylesheet. */
function tokensOf(selector: string): Record<string, string> {
  const at = css.indexOf(`${selector} {`)
  const body = css.slice(at, css.indexOf('}', at))
  return Object.fromEntries([...body.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [name, value]))
}

function luminance(color: string): number {
  const channels = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255)
  const [red, green, blue] = channels.map((value) =>
    value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4,
  )
  return 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0)
}

function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05)
}

const grounds = ['bg', 'side', 'sunken', 'raised', 'you', 'hover']
const pairs: [string, string][] = [
  ...['ink', 'ink2', 'ink3', 'accent', 'ok', 'warn', 'err'].flatMap((text) =>
    grounds.map((ground): [string, string] => [text, ground]),
  ),
  ...['k', 's', 'n', 'c', 'f', 't'].flatMap((name) =>
    ['bg', 'sunken'].map((ground): [string, string] => [`code-${name}`, ground]),
  ),
  ['ink', 'active'],
  ['ink3', 'active'],
  ['err', 'errw'],
  ['ink2', 'errw'],
  ['warn', 'warnw'],
  ['bg', 'ink'],
]

describe.each([
  ['light', ':root'],
  ['dark by choice', ":root[data-theme='dark']"],
  ['dark by system', ":root:not([data-theme='light'])"],
])('the %s palette', (_name, selector) => {
  const tokens = tokensOf(selector)

  it('keeps text at 4.5 and field borders at 3', () => {
    const poor = pairs.filter(([text, ground]) => contrast(tokens[text] ?? '', tokens[ground] ?? '') < 4.5)
    expect(poor).toEqual([])
    expect(contrast(tokens['field'] ?? '', tokens['bg'] ?? '')).toBeGreaterThanOrEqual(3)
  })
})

it('has one dark palette, written twice because CSS has no way to share it', () => {
  expect(tokensOf(":root[data-theme='dark']")).toEqual(tokensOf(":root:not([data-theme='light'])"))
})
