// Where the code of the worker is, and what a Node without type stripping needs to load it from source.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const dataUrl = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`

/** Loader hooks that erase types; only a checkout that runs from source needs them. */
function erasingHooks(): string {
  const oxc = pathToFileURL(createRequire(import.meta.url).resolve('oxc-transform')).href
  const hooks = `
    import { readFile } from 'node:fs/promises'
    import { fileURLToPath } from 'node:url'
    import { transformSync } from ${JSON.stringify(oxc)}
    export async function load(url, context, next) {
      if (!url.endsWith('.ts')) return next(url, context)
      const path = fileURLToPath(url)
      return { format: 'module', shortCircuit: true, source: transformSync(path, await readFile(path, 'utf8')).code }
    }`
  return dataUrl(`import { register } from 'node:module'; register(${JSON.stringify(dataUrl(hooks))})`)
}

export function workerEntry(): { url: URL; execArgv: string[] } {
  const fromSource = import.meta.url.endsWith('.ts')
  const url = new URL(fromSource ? './worker/main.ts' : './worker/main.js', import.meta.url)
  return { url, execArgv: fromSource ? ['--import', erasingHooks()] : [] }
}
