// Turns one TypeScript file into JavaScript that remembers its source lines. Checks no types.
import { pathToFileURL } from 'node:url'
import { transformSync } from 'oxc-transform'

/** Throws a `SyntaxError` whose message starts with `file:line:column`. */
export function compile(file: string, text: string): string {
  const result = transformSync(file, text, {
    lang: 'ts',
    sourceType: 'module',
    sourcemap: true,
    typescript: { rewriteImportExtensions: false },
  })
  const problem = result.errors.find(({ severity }: { severity: string }) => severity === 'Error')
  if (problem !== undefined) {
    const { line, column } = positionOf(text, problem.labels[0]?.start ?? 0)
    const help = problem.helpMessage === null ? '' : ` (${problem.helpMessage})`
    throw new SyntaxError(`${file}:${line}:${column}: ${problem.message}${help}`)
  }
  if (result.map === undefined) return result.code
  const map = { ...result.map, sources: [pathToFileURL(file).href] }
  const encoded = Buffer.from(JSON.stringify(map)).toString('base64')
  return `${result.code}\n//# sourceMappingURL=data:application/json;base64,${encoded}`
}

/** Line and column, from 1, of an offset in UTF-16 units. */
function positionOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  return { line: before.split('\n').length, column: offset - lineStart + 1 }
}
