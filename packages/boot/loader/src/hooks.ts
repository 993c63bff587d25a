// Module hooks for user plugins, run by the platform in a thread of its own: TypeScript from any folder, extensionless and
// `.js` imports of `.ts` files, and one copy of the host's packages for everybody.
import { readFile } from 'node:fs/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { InitializeHook, LoadHook, ResolveHook } from 'node:module'
import { findModuleFile } from './module-file.ts'

export interface HookData {
  /** Modules whose dependencies are the host's copies, tried in order. */
  readonly hosts: readonly string[]
}

/** `dsh-from:<parent URL, encoded>:<name>` imports a bare name as if from that parent; `import()` itself cannot be told so. */
export const FROM_SCHEME = 'dsh-from:'

type Next = Parameters<ResolveHook>[2]
type ResolveContext = Parameters<ResolveHook>[1]
type Resolved = Awaited<ReturnType<ResolveHook>>

let hosts: readonly string[] = []

export const initialize: InitializeHook<HookData> = (data) => {
  hosts = data.hosts
}

export const resolve: ResolveHook = async (specifier, context, next) => {
  if (specifier.startsWith(FROM_SCHEME)) {
    const [parent = '', name = ''] = specifier.slice(FROM_SCHEME.length).split(':')
    return next(decodeURIComponent(name), { ...context, parentURL: decodeURIComponent(parent) })
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
  if (file === undefined) return undefined
  const found = pathToFileURL(file)
  found.search = url.search
  found.hash = url.hash
  // Without a format the platform decides; a TypeScript file is always a module, whatever the nearest package.json says.
  return isTypeScript(found.pathname)
    ? { url: found.href, format: 'module', shortCircuit: true }
    : { url: found.href, shortCircuit: true }
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
