// What this package ships beside its code. The paths hold from source and from what is built, which both lie one folder below the root.
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/** Folders of files that `dsh new` copies. */
export const TEMPLATES = fileURLToPath(new URL('../templates', import.meta.url))

export function ownVersion(): string {
  const { version } = createRequire(import.meta.url)('../package.json') as { version: string }
  return version
}
