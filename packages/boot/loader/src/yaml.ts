// The YAML library, brought in when a text is first parsed or printed: its seventy files take longer to load than all else that
// a start without patches reads.
import { createRequire } from 'node:module'

type Yaml = typeof import('yaml')

let loaded: Yaml | undefined

export function yaml(): Yaml {
  // By `require`, since composing is synchronous; the package has the same entry for `import`.
  return (loaded ??= createRequire(import.meta.url)('yaml') as Yaml)
}
