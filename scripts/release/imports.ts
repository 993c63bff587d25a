// Which packages the code and the declarations of a package name. Says nothing on whether they may.
import { parseAst } from 'rolldown/parseAst'

const SOURCES = new Set([
  'ImportDeclaration',
  'ExportNamedDeclaration',
  'ExportAllDeclaration',
  'ImportExpression',
  'TSImportType',
])

/** Names of packages, and of modules of Node with their `node:`, each once. */
export function packagesNamed(file: string, text: string): Set<string> {
  const named = new Set<string>()
  visit(parseAst(text, { lang: file.endsWith('.d.ts') ? 'dts' : 'js' }, file), (specifier) => {
    if (/^[./]|^data:/.test(specifier)) return
    const [first = '', second = ''] = specifier.split('/')
    named.add(first.startsWith('@') ? `${first}/${second}` : first)
  })
  return named
}

function visit(node: unknown, found: (specifier: string) => void): void {
  if (Array.isArray(node)) {
    for (const each of node) visit(each, found)
    return
  }
  if (typeof node !== 'object' || node === null) return
  const { type, source } = node as { type?: unknown; source?: { value?: unknown } | null }
  if (typeof type === 'string' && SOURCES.has(type) && typeof source?.value === 'string') found(source.value)
  for (const child of Object.values(node)) visit(child, found)
}
