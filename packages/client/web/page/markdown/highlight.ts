// Syntax colours for twelve languages, loaded on the first code that shows. Gives tokens by line, never HTML.
import { createLowlight } from 'lowlight'
import bash from 'highlight.js/lib/languages/bash'
import css from 'highlight.js/lib/languages/css'
import diff from 'highlight.js/lib/languages/diff'
import go from 'highlight.js/lib/languages/go'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import markdown from 'highlight.js/lib/languages/markdown'
import python from 'highlight.js/lib/languages/python'
import rust from 'highlight.js/lib/languages/rust'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'

export interface Token {
  readonly text: string
  readonly className: string
}

const lowlight = createLowlight({
  bash,
  css,
  diff,
  go,
  javascript,
  json,
  markdown,
  python,
  rust,
  typescript,
  xml,
  yaml,
})

const colors: readonly (readonly [RegExp, string])[] = [
  [/keyword|literal|selector-tag|meta|section|deletion/, 'tok-k'],
  [/string|regexp|addition|symbol/, 'tok-s'],
  [/number|built_in-number/, 'tok-n'],
  [/comment|quote/, 'tok-c'],
  [/title|attr|function|name|property|variable|bullet|link/, 'tok-f'],
  [/type|built_in|class|params|selector/, 'tok-t'],
]

function colorOf(classes: unknown): string {
  const name = Array.isArray(classes) ? classes.join(' ') : ''
  return colors.find(([pattern]) => pattern.test(name))?.[1] ?? ''
}

interface Node {
  readonly type: string
  readonly value?: string
  readonly properties?: { readonly className?: unknown }
  readonly children?: readonly Node[]
}

/** Undefined for a language that is not known. */
export function highlightLines(code: string, language: string): Token[][] | undefined {
  if (!lowlight.registered(language)) return undefined
  const lines: Token[][] = [[]]
  const walk = (node: Node, className: string): void => {
    if (node.type === 'text') {
      for (const [index, text] of (node.value ?? '').split('\n').entries()) {
        if (index > 0) lines.push([])
        if (text !== '') lines.at(-1)?.push({ text, className })
      }
    }
    const inner = colorOf(node.properties?.className) || className
    for (const child of node.children ?? []) walk(child, inner)
  }
  walk(lowlight.highlight(language, code), '')
  return lines
}
