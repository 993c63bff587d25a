// Scopes: a fiber of its own whose contexts carry a key, so that a service can tell whose layer a registration is for.
// A scope routes registrations and events; it is not a security boundary.
import type { Context } from '../upstream/index.js'

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

declare module '../upstream/index.js' {
  interface Context {
    [kScope]?: Scope
  }
}

const scopes = new WeakMap<ScopeKey, Scope>()

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
  fiber.ctx[kScope] = scope
  scopes.set(key, scope)
  return scope
}

/** The nearest scope that `ctx` is in, or undefined for a global context. */
export function scopeOf(ctx: Context): Scope | undefined {
  return ctx[kScope]
}

/** The scopes that a key sees, nearest first; empty when the key has no open scope. */
export function scopeChain(key: ScopeKey | undefined): Scope[] {
  const chain: Scope[] = []
  for (let scope = key === undefined ? undefined : scopes.get(key); scope !== undefined; scope = scope.parent) {
    chain.push(scope)
  }
  return chain
}
