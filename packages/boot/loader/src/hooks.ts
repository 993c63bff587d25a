// Module hooks for user plugins, run by the platform in a thread of its own: TypeScript from any folder, extensionless and
// `.js` imports of `.ts` files, one copy of the host's packages for everybody, and versions of a plugin with all of its files.
import { readFile } from 'node:fs/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { InitializeHook, LoadHook, ResolveHook } from 'node:module'
import type { MessagePort } from 'node:worker_threads'
import { findModuleFile } from './module-file.ts'

export interface HookData {
  /** Modules whose dependencies are the host's copies, tried in order. */
  readonly hosts: readonly string[]
  /** Gets a `FileImport` for each file of a user's plugin. Omitted: nobody wants to know. */
  readonly imports?: MessagePort
}

/** The module `parent` imports the file `file`: URLs without their version. The file need not exist. */
export interface FileImport {
  readonly parent: string
  readonly file: string
}

/**
 * `dsh-from:<parent URL, encoded>:<name, encoded>:<version>` imports a bare name as if from that parent; `import()` itself
 * cannot be told so. The version may be missing.
 */
export const FROM_SCHEME = 'dsh-from:'

/** In the query of a user's module: which version of it. What it imports by a path has the same. */
export const VERSION = 'dsh-version'

type Next = Parameters<ResolveHook>[2]
type ResolveContext = Parameters<ResolveHook>[1]
type Resolved = Awaited<ReturnType<ResolveHook>>

let hosts: readonly string[] = []
let imports: MessagePort | undefined

export const initialize: InitializeHook<HookData> = (data) => {
  hosts = data.hosts
  imports = data.imports ?? imports
}

export const resolve: ResolveHook = async (specifier, context, next) => {
  if (specifier.startsWith(FROM_SCHEME)) {
    const [parent = '', name = '', version] = specifier.slice(FROM_SCHEME.length).split(':')
    const found = await next(decodeURIComponent(name), { ...context, parentURL: decodeURIComponent(parent) })
    if (!isUserFile(found.url)) return found
    return told({ ...found, url: versioned(found.url, version) }, `${FROM_SCHEME}${parent}:${name}`)
  }
  if (specifier === 'cordis' || specifier.startsWith('cordis/')) return resolveUpstream(specifier, context, next)
  if (specifier.startsWith('@deepseek-ai/')) {
    return (await resolveFromHost(specifier, context, next)) ?? next(specifier, context)
  }
  return resolveFile(specifier, context.parentURL) ?? next(specifier, context)
}

async function resolveFromHost(specifier: string, context: ResolveContext, next: Next): Promise<Resolved | undefined> {
  for (const host of hosts) {
    try {
      return await next(specifier, { ...context, parentURL: host })
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error
    }
  }
  return undefined
}

// Upstream is a dependency of the facade alone, so its copy is found from there.
async function resolveUpstream(specifier: string, context: ResolveContext, next: Next): Promise<Resolved> {
  const facade = await resolveFromHost('@deepseek-ai/cordis', context, next)
  return next(specifier, facade === undefined ? context : { ...context, parentURL: facade.url })
}

function resolveFile(specifier: string, parent: string | undefined): Resolved | undefined {
  if (!/^(\.{1,2}(\/|$)|\/|file:)/.test(specifier)) return undefined
  if (parent?.startsWith('file:') === true && parent.includes('/node_modules/')) return undefined
  if (!specifier.startsWith('file:') && parent?.startsWith('file:') !== true) return undefined
  const url = new URL(specifier, parent)
  const file = findModuleFile(fileURLToPath(url))
  if (file === undefined) {
    tell(url.href, parent)
    return undefined
  }
  const found = pathToFileURL(file)
  found.search = url.search
  found.hash = url.hash
  const version = parent === undefined ? null : new URL(parent).searchParams.get(VERSION)
  const target = versioned(found.href, version ?? undefined)
  // Without a format the platform decides; a TypeScript file is always a module, whatever the nearest package.json says.
  return told(
    { url: target, shortCircuit: true, ...(isTypeScript(found.pathname) ? { format: 'module' } : {}) },
    parent,
  )
}

function versioned(url: string, version: string | undefined): string {
  if (version === undefined || !isUserFile(url)) return url
  const result = new URL(url)
  result.searchParams.set(VERSION, version)
  return result.href
}

function isUserFile(url: string): boolean {
  return url.startsWith('file:') && !url.includes('/node_modules/')
}

function told(resolved: Resolved, parent: string | undefined): Resolved {
  tell(resolved.url, parent)
  return resolved
}

function tell(url: string, parent: string | undefined): void {
  if (imports === undefined || parent === undefined || !isUserFile(url)) return
  const message: FileImport = { parent: bareURL(parent), file: bareURL(url) }
  imports.postMessage(message, [])
}

/** A file's URL without its version and whatever else is in the query. */
export function bareURL(url: string): string {
  return url.replace(/[?#].*$/, '')
}

export const load: LoadHook = async (url, context, next) => {
  if (!url.startsWith('file:') || !isTypeScript(new URL(url).pathname)) return next(url, context)
  const file = fileURLToPath(url)
  const { compile } = await import('./typescript.ts')
  return { format: 'module', source: compile(file, await readFile(file, 'utf8')), shortCircuit: true }
}

function isTypeScript(path: string): boolean {
  return /\.m?ts$/.test(path)
}
