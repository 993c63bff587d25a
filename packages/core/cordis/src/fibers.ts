// Fiber helpers: joining a disposal, ordered teardown, and a table of what runs and what waits for what.
import { FiberState, type Context, type Disposable, type Fiber } from '../upstream/index.js'

/** Disposes a fiber and waits until it is quiet. Safe to call twice: upstream's second `dispose()` returns at once. */
export async function disposeAndJoin(fiber: Fiber): Promise<void> {
  await fiber.dispose()
  while (fiber.inertia !== undefined) await fiber.inertia
}

/**
 * Runs a generator as one effect. What it yields is undone one by one, last first, each awaited; separate effects of
 * one fiber would unwind at the same time.
 */
export function ordered(
  ctx: Context,
  label: string,
  steps: () => Generator<Disposable, void, void>,
): () => Promise<void> {
  return ctx.effect(steps, label)
}

export interface FiberRow {
  name: string
  uid: number | null
  state: 'pending' | 'loading' | 'active' | 'failed' | 'disposed' | 'unloading'
  /** Required services that are not there yet; what a pending fiber waits for. */
  missing: string[]
  /** Labels of its registrations. */
  effects: string[]
}

const STATE_NAMES: Record<FiberState, FiberRow['state']> = {
  [FiberState.PENDING]: 'pending',
  [FiberState.LOADING]: 'loading',
  [FiberState.ACTIVE]: 'active',
  [FiberState.FAILED]: 'failed',
  [FiberState.DISPOSED]: 'disposed',
  [FiberState.UNLOADING]: 'unloading',
}

/** Every plugin fiber of a host, in the order of their start. Upstream prints nothing for a fiber that waits for ever. */
export function fiberTable(root: Context): FiberRow[] {
  const rows: FiberRow[] = []
  for (const runtime of root.registry.values()) {
    for (const fiber of runtime.fibers) {
      rows.push({
        name: fiber.name,
        uid: fiber.uid,
        state: STATE_NAMES[fiber.state],
        missing: Object.keys(fiber.inject).filter((service) => fiber.ctx.get(service) === undefined),
        effects: fiber.getEffects().map((effect) => effect.label),
      })
    }
  }
  return rows.sort((a, b) => (a.uid ?? 0) - (b.uid ?? 0))
}
