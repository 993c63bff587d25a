// Who sees which tool: one global layer and one a scope, nearest wins. Holds registrations, runs nothing.
import { scopeChain, type ScopeKey } from '@deepseek-ai/cordis'
import type { ToolDefinition, ToolGuard } from './types.ts'

export interface Layer {
  readonly tools: Map<string, ToolDefinition>
  readonly guards: Set<ToolGuard>
}

export class ToolLayers {
  private readonly global: Layer = { tools: new Map(), guards: new Set() }
  private readonly scoped = new Map<ScopeKey, Layer>()
  /** Counts changes of any tool table; a view built at an older version is stale. */
  version = 0

  /** The layer of a scope, made when it is first written to. */
  open(key: ScopeKey | undefined): Layer {
    if (key === undefined) return this.global
    let layer = this.scoped.get(key)
    if (layer === undefined) this.scoped.set(key, (layer = { tools: new Map(), guards: new Set() }))
    return layer
  }

  /** Drops a scope's layer once nothing is registered in it. */
  reclaim(key: ScopeKey | undefined): void {
    if (key === undefined) return
    const layer = this.scoped.get(key)
    if (layer !== undefined && layer.tools.size === 0 && layer.guards.size === 0) this.scoped.delete(key)
  }

  /** The definition a scope resolves a name to. */
  resolve(name: string, key: ScopeKey | undefined): ToolDefinition | undefined {
    if (key !== undefined && this.scoped.size > 0) {
      for (const scope of scopeChain(key)) {
        const own = this.scoped.get(scope.key)?.tools.get(name)
        if (own !== undefined) return own
      }
    }
    return this.global.tools.get(name)
  }

  /** Every visible definition by name, in registration order; a shadowing one takes the place of what it shadows. */
  view(key: ScopeKey | undefined): Map<string, ToolDefinition> {
    const view = new Map(this.global.tools)
    for (const layer of this.chain(key)) for (const [name, definition] of layer.tools) view.set(name, definition)
    return view
  }

  /** Guards in the order they are asked: global first, then from the farthest scope to the nearest. */
  *guards(key: ScopeKey | undefined): Iterable<ToolGuard> {
    yield* this.global.guards
    for (const layer of this.chain(key)) yield* layer.guards
  }

  /** False lets the pipeline skip the guard stage. */
  hasGuards(): boolean {
    if (this.global.guards.size > 0) return true
    for (const layer of this.scoped.values()) if (layer.guards.size > 0) return true
    return false
  }

  private chain(key: ScopeKey | undefined): Layer[] {
    if (key === undefined || this.scoped.size === 0) return []
    return scopeChain(key)
      .map((scope) => this.scoped.get(scope.key))
      .filter((layer) => layer !== undefined)
      .toReversed()
  }
}
