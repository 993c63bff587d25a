// Which file a path without (or with the wrong) extension means, for plugins written in TypeScript. Runs in the hook thread too.
import { realpathSync, statSync } from 'node:fs'

const ADDED = ['.ts', '.mts', '.js', '.mjs', '/index.ts', '/index.mts', '/index.js', '/index.mjs']
const SOURCE_OF: Record<string, string> = { '.js': '.ts', '.mjs': '.mts' }

/**
 * The existing file that `path` names: itself, the TypeScript source of a `.js` name, or the name with an extension added.
 * Symbolic links are followed, so that one file is one module. Undefined when there is none.
 */
export function findModuleFile(path: string): string | undefined {
  for (const candidate of candidates(path)) {
    if (statSync(candidate, { throwIfNoEntry: false })?.isFile() === true) return realpathSync(candidate)
  }
  return undefined
}

function* candidates(path: string): Generator<string> {
  yield path
  const extension = /\.m?js$/.exec(path)?.[0]
  if (extension !== undefined) yield path.slice(0, -extension.length) + SOURCE_OF[extension]
  for (const added of ADDED) yield path + added
}
