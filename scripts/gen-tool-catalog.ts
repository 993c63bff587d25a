// Writes `docs/tool-catalog.md` and its twin in JSON from the built tool packages. With `--check` it writes nothing, and fails where they
// are not what it would write, or a tool package is missing. `--root DIR` looks for tool packages elsewhere.
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { format } from 'oxfmt'
import { runGenerator } from './generated.ts'
import { CatalogError, makeCatalog } from './tool-catalog/catalog.ts'
import { catalogJson, catalogPage } from './tool-catalog/page.ts'

const host = fileURLToPath(new URL('..', import.meta.url))
const at = process.argv.indexOf('--root')
const root = at === -1 ? host : resolve(process.argv[at + 1] ?? '')

try {
  const catalog = await makeCatalog(root, host)
  const json = await format('tool-catalog.json', catalogJson(catalog), { printWidth: 120 })
  runGenerator('docs', 'pnpm run gen-tool-catalog', {
    folder: join(root, 'docs'),
    files: new Map([
      ['tool-catalog.md', catalogPage(catalog)],
      ['tool-catalog.json', json.code],
    ]),
  })
} catch (error) {
  if (!(error instanceof CatalogError)) throw error
  console.error(`the tool catalogue cannot be made:\n${error.message}`)
  process.exitCode = 1
}
