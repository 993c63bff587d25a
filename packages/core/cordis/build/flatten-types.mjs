// Writes upstream/index.d.ts: cordis' declaration files as one module that names no other file of cordis.
// Upstream's files use extensionless relative imports, which `nodenext` cannot follow, and `const enum`, which
// `isolatedModules` refuses; one flat file type-checks under every resolution. TypeScript is used for node ranges only.
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const packageDir = join(dirname(fileURLToPath(import.meta.url)), '..')
const cordisDir = join(packageDir, 'node_modules/cordis')
const output = join(packageDir, 'upstream/index.d.ts')
const { version } = JSON.parse(readFileSync(join(cordisDir, 'package.json'), 'utf8'))
const banner = `// Generated from cordis@${version} by build/flatten-types.mjs. Do not edit.\n`

const MODULES = ['utils', 'context', 'events', 'fiber', 'logger', 'reflect', 'registry', 'service']
const INLINED = `type Dict<T = any, K extends string | symbol = string> = { [key in K]: T };
type Promisify<T> = Promise<T extends Promise<infer S> ? S : T>;
type Awaitable<T> = [T] extends [Promise<unknown>] ? T : T | Promise<T>;
`

function isFresh() {
  try {
    return (
      readFileSync(output, 'utf8').startsWith(banner) &&
      statSync(output).mtimeMs > statSync(fileURLToPath(import.meta.url)).mtimeMs
    )
  } catch {
    return false // not written yet
  }
}

async function flatten() {
  const { default: ts } = await import('ts59')
  const lib = join(cordisDir, 'lib')
  const reexported = new Set(
    readFileSync(join(lib, 'index.d.ts'), 'utf8')
      .match(/'\.\/(\w+)'/g)
      .map((text) => text.slice(3, -1)),
  )
  const pieces = []
  const external = new Map()
  const declaredIn = new Map()
  for (const module of MODULES) {
    const source = ts.createSourceFile(
      `${module}.d.ts`,
      readFileSync(join(lib, `${module}.d.ts`), 'utf8'),
      ts.ScriptTarget.Latest,
      true,
    )
    for (const statement of source.statements) {
      if (ts.isImportDeclaration(statement)) {
        const from = statement.moduleSpecifier.text
        if (from.startsWith('.')) continue
        const names = external.get(from) ?? new Set()
        for (const element of statement.importClause.namedBindings.elements) names.add(element.getText(source))
        external.set(from, names)
      } else if (ts.isExportDeclaration(statement)) {
        if (statement.moduleSpecifier || (statement.exportClause?.elements.length ?? 0) > 0) {
          throw new Error(`cordis/${module}: unexpected ${statement.getText(source)}`)
        }
      } else if (ts.isModuleDeclaration(statement) && ts.isStringLiteral(statement.name)) {
        if (statement.name.text !== './context')
          throw new Error(`cordis/${module}: unexpected augmentation of ${statement.name.text}`)
        for (const inner of statement.body.statements) {
          pieces.push(
            `export ${inner
              .getText(source)
              .replace(/^export /, '')
              .replace(/^ {4}/gm, '')}`,
          )
        }
      } else {
        const name = statement.name?.text
        if (name !== undefined) {
          const earlier = declaredIn.get(name)
          if (earlier !== undefined && earlier !== module)
            throw new Error(`cordis: ${name} is declared in ${earlier} and ${module}`)
          declaredIn.set(name, module)
        }
        let text = statement.getText(source)
        if (!reexported.has(module)) text = text.replace(/^export /, '')
        // The JavaScript does export these enums as objects, so a plain enum is the truth.
        pieces.push(text.replace(/declare const enum/, 'declare enum').replace(/import\("\.\/\w+"\)\./g, ''))
      }
    }
  }
  external.delete('cosmokit')
  const imports = [...external].map(([from, names]) => `import type { ${[...names].join(', ')} } from '${from}';\n`)
  mkdirSync(dirname(output), { recursive: true })
  writeFileSync(output, `${banner}${INLINED}${imports.join('')}${pieces.join('\n')}\nexport {};\n`)
}

if (!isFresh()) await flatten()
