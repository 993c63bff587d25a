// Ends a fiber whose work may still be on its way: a plugin that gives place to its next version while one of its calls runs.
import type { Context, Fiber } from '../upstream/index.js'
import { disposeAndJoin } from './fibers.ts'

const retired = new WeakSet<Fiber>()
const lenient = new WeakSet<Context>()

/**
 * Disposes a fiber and waits for it, as `disposeAndJoin` does: what it registered is gone. What it has begun goes on: its contexts, and
 * those of the plugins below it, still read services, as they are provided then. They register nothing any more.
 */
export async function retire(fiber: Fiber): Promise<void> {
  const { root } = fiber.ctx
  retired.add(fiber.ctx.fiber)
  if (!lenient.has(root)) {
    lenient.add(root)
    root.on('internal/get', (ctx, name, _error, next): unknown => {
      if (!isRetired(ctx.fiber)) return next()
      const service: unknown = ctx.reflect.get(name, false)
      return service === undefined ? next() : service
    })
  }
  await disposeAndJoin(fiber)
}

function isRetired(fiber: Fiber): boolean {
  for (let current = fiber; current.runtime !== null; current = current.parent.fiber) {
    if (retired.has(current)) return true
  }
  return false
}
