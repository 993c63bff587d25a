// Who sees which tool: one global layer and one a scope, nearest wins, restrictions filter what a scope inherits.
// Holds registrations, runs nothing.
import { scopeChain, type ScopeKey } from '@deepseek-ai/cordis'
import type { ToolDefinition, ToolGuard, ToolMode } from './types.ts'

/** A mask over inherited tools: the name lists as they were when the restriction was made. */
export interface Restriction {
  readonly allow: ReadonlySet<string> | undefined
  readonly deny: ReadonlySet<string> | undefined
}

export interface Layer {
  readonly tools: Map<string, ToolDefinition>
  readonly guards: Set<ToolGuard>
  readonly restrictions: Set<Restriction>
  /** How this scope shows its tools to a model; undefined inherits. */
  mode: ToolMode | undefined
}

function emptyLayer(): Layer {
  return { tools: new Map(), guards: new Set(), restrictions: new Set(), mode: undefined }
}

export class ToolLayers {
  private readonly global = emptyLayer()
  private readonly scoped = new Map<ScopeKey, Layer>()
  /** Counts changes of what anybody sees; a view built at an older version is stale. */
  version = 0

  /** The layer of a scope, made when it is first written to. */
  open(key: ScopeKey | undefined): Layer {
    if (key === undefined) return this.global
    let layer = this.scoped.get(key)
    if (layer === undefined) this.scoped.set(key, (layer = emptyLayer()))
    return layer
  }

  /** The layer of a scope, if anything was registered in it. */
  peek(key: ScopeKey | undefined): Layer | undefined {
    return key === undefined ? this.global : this.scoped.get(key)
  }

  /** Drops a scope's layer once nothing is registered in it. */
  reclaim(key: ScopeKey | undefined): void {
    const layer = key === undefined ? undefined : this.scoped.get(key)
    if (key === undefined || layer === undefined || layer.mode !== undefined) return
    if (layer.tools.size === 0 && layer.guards.size === 0 && layer.restrictions.size === 0) this.scoped.delete(key)
  }

  /** The definition a scope resolves a name to. */
  resolve(name: string, key: ScopeKey | undefined): ToolDefinition | undefined {
    if (key !== undefined && this.scoped.size > 0) {
      for (const scope of scopeChain(key)) {
        const layer = this.scoped.get(scope.key)
        if (layer === undefined) continue
        const own = layer.tools.get(name)
        if (own !== undefined) return own
        if (!admits(layer, name)) return undefined
      }
    }
    return this.global.tools.get(name)
  }

  /** Every visible definition by name, in registration order; a shadowing one takes the place of what it shadows. */
  view(key: ScopeKey | undefined): Map<string, ToolDefinition> {
    const view = new Map(this.global.tools)
    for (const layer of this.chain(key)) {
      if (layer.restrictions.size > 0) for (const name of view.keys()) if (!admits(layer, name)) view.delete(name)
      for (const [name, definition] of layer.tools) view.set(name, definition)
    }
    return view
  }

  /** What a scope inherits before its own restrictions: the names that a restriction may list. */
  inherited(key: ScopeKey): Map<string, ToolDefinition> {
    const [, parent] = scopeChain(key)
    return this.view(parent?.key)
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

  /** The mode that the nearest scope of the chain chose, if any did. */
  mode(key: ScopeKey | undefined): ToolMode | undefined {
    return this.chain(key).findLast((layer) => layer.mode !== undefined)?.mode
  }

  /** The layers that a scope sees besides the global one, farthest first. */
  private chain(key: ScopeKey | undefined): Layer[] {
    if (key === undefined || this.scoped.size === 0) return []
    return scopeChain(key)
      .map((scope) => this.scoped.get(scope.key))
      .filter((layer) => layer !== undefined)
      .toReversed()
  }
}

function admits(layer: Layer, name: string): boolean {
  for (const { allow, deny } of layer.restrictions) {
    if (allow?.has(name) === false || deny?.has(name) === true) return false
  }
  return true
}
