// Writes `docs/api`: a page for each service, from its docstrings. With `--check` it writes nothing, and fails where a page is not
// what it would write. Run: node scripts/run-ts.mjs scripts/gen-website-api.ts
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runGenerator } from './generated.ts'
import { indexPage, servicePage } from './website-api/page.ts'
import { readServices } from './website-api/read.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const services = readServices(root)

runGenerator('docs/api', 'node scripts/run-ts.mjs scripts/gen-website-api.ts', {
  folder: join(root, 'docs/api'),
  files: new Map([
    ['README.md', indexPage(services)],
    ...services.map((service) => [`${service.key}.md`, servicePage(service)] as const),
  ]),
  owns: (path) => path.endsWith('.md'),
})
