// Finds and imports the modules of rows: the host's own copies as they are, everything else through the hooks for user plugins.
import { existsSync, readFileSync } from 'node:fs'
import { createRequire, register } from 'node:module'
import { dirname, isAbsolute, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { errorMessage } from '@deepseek-ai/cordis'
import { LoaderError } from './errors.ts'
import { FROM_SCHEME, VERSION, type HookData } from './hooks.ts'
import { userImports } from './user-imports.ts'
import { findModuleFile } from './module-file.ts'

export interface FoundModule {
  /** What `import()` takes. */
  readonly url: string
  /** The host's own copy; needs no hooks. */
  readonly host: boolean
  /** The package, where the name is one. */
  readonly name?: string
}

/** Resolves the module name of a row written in `file`. `hosts` are modules whose dependencies are the host's copies. */
export function findModule(name: string, file: string, hosts: readonly string[]): FoundModule {
  if (isAbsolute(name)) {
    // A name without a file is kept: its import fails, and that error is the report.
    return { url: pathToFileURL(findModuleFile(name) ?? name).href, host: false }
  }
  const own = pathToFileURL(file).href
  const ownFirst = !name.startsWith('@deepseek-ai/') && !hosts.includes(own)
  if (ownFirst && resolvesFrom(name, file)) return { url: fromUser(name, file), host: false, name }
  // A preset brings what it names, and a failed search is the slow one.
  for (const host of hosts.includes(own) ? [own, ...hosts] : hosts) {
    const path = requirePath(name, host)
    if (path !== undefined) return { url: pathToFileURL(path).href, host: true, name }
  }
  if (!ownFirst && resolvesFrom(name, file)) return { url: fromUser(name, file), host: false, name }
  throw new LoaderError(notFound(name, file), 'MODULE_NOT_FOUND')
}

function fromUser(name: string, file: string): string {
  return `${FROM_SCHEME}${encodeURIComponent(pathToFileURL(file).href)}:${encodeURIComponent(name)}`
}

// `require` resolution is enough to tell whether a package is there, and for our own packages where: they have no
// separate entry for `import`. Where the two may differ the hooks resolve, with the rules of `import`.
function requirePath(name: string, from: string): string | undefined {
  try {
    return createRequire(from).resolve(name)
  } catch {
    return undefined // not there, or not meant for this: the next place is asked
  }
}

function resolvesFrom(name: string, file: string): boolean {
  try {
    createRequire(file).resolve(name)
    return true
  } catch (error) {
    return (error as { code?: unknown }).code === 'ERR_PACKAGE_PATH_NOT_EXPORTED'
  }
}

function notFound(name: string, file: string): string {
  const beside = findModuleFile(join(dirname(file), name))
  const hint = beside === undefined ? 'install it next to that file, or name a ./path' : `did you mean "./${name}"?`
  return `cannot find the package "${name}", neither from ${file} nor in dsh itself; ${hint}`
}

/**
 * Imports a module by URL. `version`: once more, with all of its own files, in place of what an import without one or with
 * another gave; the platform keeps the older ones for ever. The host's own modules have no versions.
 */
export async function importModule(found: FoundModule, hosts: readonly string[], version?: number): Promise<unknown> {
  if (!found.host) registerHooks(hosts)
  if (version !== undefined) forgetCommonJS(found)
  return import(versionedURL(found, version))
}

export function versionedURL({ url, host }: FoundModule, version: number | undefined): string {
  if (host || version === undefined) return url
  if (url.startsWith(FROM_SCHEME)) return `${url}:${version}`
  const result = new URL(url)
  result.searchParams.set(VERSION, String(version))
  return result.href
}

// CommonJS modules are kept by path, whatever the query says.
function forgetCommonJS(found: FoundModule): void {
  const { cache } = createRequire(import.meta.url)
  const forget = (file: string): void => {
    const children = cache[file]?.children ?? []
    delete cache[file]
    for (const child of children) if (!/[\\/]node_modules[\\/]/.test(child.filename)) forget(child.filename)
  }
  for (const file of userImports.filesOf(found.url)) forget(file)
}

const registered = new Set<string>()

// Every resolution crosses to the hook thread once hooks are there, which makes the host's own start slower; so they come
// with the first user module, and once per process.
function registerHooks(hosts: readonly string[]): void {
  const key = JSON.stringify(hosts)
  if (registered.has(key)) return
  const imports = registered.size === 0 ? userImports.connect() : undefined
  registered.add(key)
  process.setSourceMapsEnabled(true)
  const data: HookData = { hosts, ...(imports === undefined ? {} : { imports }) }
  register('./hooks.js', import.meta.url, { data, transferList: imports === undefined ? [] : [imports] })
}

/** An import failure in the words of the report. */
export async function importError(error: unknown, found: FoundModule): Promise<LoaderError> {
  const file = found.url.startsWith('file:') ? fileURLToPath(found.url) : undefined
  if (file !== undefined && !existsSync(file)) {
    return new LoaderError(`there is no file ${file}`, 'MODULE_NOT_FOUND', { cause: error })
  }
  const name = error instanceof Error && error.name !== 'Error' ? `${error.name}: ` : ''
  const what = file ?? (found.name === undefined ? found.url : `the package "${found.name}"`)
  const message = (await placedSyntaxError(error, file)) ?? `${name}${errorMessage(error)}`
  return new LoaderError(`cannot load ${what}: ${message}`, 'MODULE_FAILED', { cause: error })
}

// For JavaScript the engine keeps the place of a syntax error to itself; TypeScript errors already carry theirs.
async function placedSyntaxError(error: unknown, file: string | undefined): Promise<string | undefined> {
  if (!(error instanceof SyntaxError) || file === undefined || !/\.m?js$/.test(file)) return undefined
  const { compile } = await import('./typescript.ts')
  try {
    compile(file, readFileSync(file, 'utf8'))
    return `SyntaxError: ${error.message}, in a module that it imports`
  } catch (placed) {
    return placed instanceof SyntaxError ? `SyntaxError: ${placed.message}` : undefined
  }
}

/** Whether a user module has brought the hooks in. */
export function hooksRegistered(): boolean {
  return registered.size > 0
}
