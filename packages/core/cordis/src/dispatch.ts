// Dispatch without a context lookup per call: walks cordis' own live listener lists with the same order and the same
// scope filter, for hot paths. cordis still owns registration and disposal.
import type { Context, Hook } from '../upstream/index.js'
import { scopeChain, scopeOf, type ScopeKey } from './scope.ts'

/** The listener lists of a host by event name. A name without listeners has no entry. */
export interface ListenerTable {
  readonly [event: string]: readonly Hook[] | undefined
}

/**
 * The live listener table of a host. Read it once at service start: the object stays the same, the lists change in
 * place and disappear when they become empty. Tests pin this shape of upstream.
 */
export function hooksOf(ctx: Context): ListenerTable {
  return ctx.root.events._hooks
}

function admits(hook: Hook, chain: readonly { key: ScopeKey }[]): boolean {
  if (hook.global) return true
  const scope = scopeOf(hook.ctx)
  return scope === undefined || chain.some((each) => each.key === scope.key)
}

/**
 * Runs around-middleware: the first listener is the outermost, each calls `next()` to go on, and `inner` is the end.
 * Listeners of a scope see only calls of that scope and of scopes below it; `key` names the calling scope.
 * `repeatable` allows `next()` more than once (a retry); otherwise a second call rejects.
 */
export function dispatchChain<T>(
  listeners: readonly Hook[] | undefined,
  key: ScopeKey | undefined,
  args: readonly unknown[],
  inner: () => T | Promise<T>,
  options: { repeatable?: boolean } = {},
): T | Promise<T> {
  if (listeners === undefined) return inner()
  const chain = scopeChain(key)
  // A copy, as in cordis: who is registered while the call runs does not join it.
  const selected = listeners.filter((hook) => admits(hook, chain))
  const step = (index: number): T | Promise<T> => {
    const hook = selected[index]
    if (hook === undefined) return inner()
    let called = false
    const next = (): T | Promise<T> => {
      if (called && options.repeatable !== true) throw new Error('next() called multiple times')
      called = true
      return step(index + 1)
    }
    return hook.callback(...args, next) as T | Promise<T>
  }
  return step(0)
}

/**
 * Calls every listener of a notification, whatever the others do. A throw or a rejection goes to `report` and stops nobody;
 * with upstream's `emit` the first throwing listener starves the rest. `unfiltered` also tells listeners of other scopes.
 */
export function emitContained(
  listeners: readonly Hook[] | undefined,
  key: ScopeKey | undefined,
  args: readonly unknown[],
  report: (error: unknown) => void,
  options: { unfiltered?: boolean } = {},
): void {
  if (listeners === undefined) return
  const chain = scopeChain(key)
  for (const hook of listeners.slice()) {
    if (options.unfiltered !== true && !admits(hook, chain)) continue
    try {
      const returned: unknown = hook.callback(...args)
      if (returned instanceof Promise) returned.catch(report)
    } catch (error) {
      report(error)
    }
  }
}
