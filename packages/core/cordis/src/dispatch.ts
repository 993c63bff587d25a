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

/** The listeners that hear of calls of a scope. A copy, as in cordis: who is registered while the call runs does not join it. */
function select(listeners: readonly Hook[], key: ScopeKey | undefined): Hook[] {
  const selected: Hook[] = []
  let chain: readonly { key: ScopeKey }[] | undefined
  for (let index = 0; index < listeners.length; index++) {
    const hook = listeners[index] as Hook
    const scope = hook.global ? undefined : scopeOf(hook.ctx)
    // Most listeners are in no scope: only one that is makes the calling scope's chain worth building.
    if (scope === undefined || (chain ??= scopeChain(key)).some((each) => each.key === scope.key)) selected.push(hook)
  }
  return selected
}

/**
 * Runs around-middleware: the first listener is the outermost, each calls `next()` to go on, and `inner` is the end.
 * Listeners of a scope see only calls of that scope and of scopes below it; `key` names the calling scope.
 * `repeatable` allows `next()` more than once (a retry); otherwise a second call throws. `promised` makes `next()` give a promise also
 * where what comes next answers at once, for events whose types say so.
 */
export function dispatchChain<T>(
  listeners: readonly Hook[] | undefined,
  key: ScopeKey | undefined,
  args: readonly unknown[],
  inner: () => T | Promise<T>,
  options: { repeatable?: boolean; promised?: boolean } = {},
): T | Promise<T> {
  if (listeners === undefined) return inner()
  const selected = select(listeners, key)
  const step = (index: number): T | Promise<T> => {
    const hook = selected[index]
    if (hook === undefined) return inner()
    let called = false
    const next = (): T | Promise<T> => {
      if (called && options.repeatable !== true) throw new Error('next() called multiple times')
      called = true
      const answer = step(index + 1)
      return options.promised === true && !(answer instanceof Promise) ? Promise.resolve(answer) : answer
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
  for (const hook of options.unfiltered === true ? listeners.slice() : select(listeners, key)) {
    try {
      const returned: unknown = hook.callback(...args)
      if (returned instanceof Promise) returned.catch(report)
    } catch (error) {
      report(error)
    }
  }
}
