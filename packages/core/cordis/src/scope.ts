// Scopes: a fiber of its own whose contexts carry a key, so that a service can tell whose layer a registration is for.
// A scope routes registrations and events; it is not a security boundary.
import type { Context, Fiber } from '../upstream/index.js'

/** Identity of a scope: any object, in practice the agent. */
export type ScopeKey = object

export interface Scope {
  readonly key: ScopeKey
  readonly parent: Scope | undefined
  /** Registrations made through this context belong to the scope and unwind with it. */
  readonly ctx: Context
  /** Ends the scope and waits until everything registered in it has unwound. Later calls return the same promise. */
  dispose(): Promise<void>
}

const kScope: unique symbol = Symbol.for('@deepseek-ai/cordis.scope') as never

// Note: not a module augmentation: interfaces augmented under two module names merge in an order that depends on imports.
interface ScopedContext extends Context {
  [kScope]?: Scope
}

const scopes = new WeakMap<ScopeKey, Scope>()
const scopeFibers = new WeakSet<Fiber>()
const permissive = new WeakSet<Context>()

/**
 * Opens a scope below `ctx`. `parent` names an enclosing scope's key; omitted means the scope that `ctx` itself is in, if any.
 * Throws when `key` already has an open scope.
 */
export function createScope(ctx: Context, key: ScopeKey, options: { parent?: ScopeKey; name?: string } = {}): Scope {
  if (scopes.has(key)) throw new Error('createScope: this key already has an open scope; dispose it first')
  const parent = options.parent === undefined ? scopeOf(ctx) : scopes.get(options.parent)
  if (options.parent !== undefined && parent === undefined) {
    throw new Error('createScope: the parent key has no open scope')
  }
  // Without `inject` the fiber is never PENDING; what is registered on a PENDING fiber would outlive it.
  const fiber = ctx.plugin({ name: options.name ?? 'scope', apply() {} })
  // Note: what `plugin()` returns is a thenable around the fiber; `ctx.fiber` is the fiber itself.
  scopeFibers.add(fiber.ctx.fiber)
  if (isHostFiber(fiber.ctx.fiber)) readLikeRoot(ctx.root)
  let disposal: Promise<void> | undefined
  const scope: Scope = {
    key,
    parent,
    ctx: fiber.ctx,
    dispose: () =>
      (disposal ??= (async () => {
        await fiber.dispose()
        while (fiber.inertia !== undefined) await fiber.inertia
        scopes.delete(key)
      })()),
  }
  // A symbol property bypasses the context proxy and is inherited by every context below.
  ;(fiber.ctx as ScopedContext)[kScope] = scope
  scopes.set(key, scope)
  return scope
}

/** True when nothing but scopes lies between a fiber and the root. */
function isHostFiber(fiber: Fiber): boolean {
  let current = fiber
  while (scopeFibers.has(current)) current = current.parent.fiber
  return current.runtime === null
}

/**
 * Lets a scope that a host opened on its root read services as the root does. Plugins must inject what they read, and a
 * scope cannot: what it injects would unload it whenever that service is swapped. Plugins inside the scope still inject.
 */
function readLikeRoot(root: Context): void {
  if (permissive.has(root)) return
  permissive.add(root)
  root.on('internal/get', (ctx, name, _error, next): unknown => {
    if (!scopeFibers.has(ctx.fiber) || !isHostFiber(ctx.fiber)) return next()
    const service: unknown = ctx.reflect.get(name, false)
    return service === undefined ? next() : service
  })
}

/** The nearest scope that `ctx` is in, or undefined for a global context. */
export function scopeOf(ctx: Context): Scope | undefined {
  return (ctx as ScopedContext)[kScope]
}

/** The scopes that a key sees, nearest first; empty when the key has no open scope. */
export function scopeChain(key: ScopeKey | undefined): Scope[] {
  const chain: Scope[] = []
  for (let scope = key === undefined ? undefined : scopes.get(key); scope !== undefined; scope = scope.parent) {
    chain.push(scope)
  }
  return chain
}
