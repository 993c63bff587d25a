// Named sections by layer: one global layer and one for each scope. The nearest scope shadows a name; order decides the rest.
import { scopeChain, type ScopeKey } from '@deepseek-ai/cordis'
import type { PromptSection } from './types.ts'

interface Entry extends Readonly<PromptSection> {
  /** Registration number over all layers: breaks ties of `order`. */
  readonly serial: number
}

type Layer = Map<string, Entry>

export class SectionLayers {
  private readonly global: Layer = new Map()
  private readonly scoped = new Map<ScopeKey, Layer>()
  private sortedGlobal: readonly Entry[] | undefined
  private serial = 0

  has(name: string, key: ScopeKey | undefined): boolean {
    return this.layer(key)?.has(name) === true
  }

  /** Returns what removes it again. */
  add({ name, order, text }: PromptSection, key: ScopeKey | undefined): () => void {
    const layer = this.layer(key) ?? new Map<string, Entry>()
    if (key !== undefined) this.scoped.set(key, layer)
    layer.set(name, { name, order, text, serial: this.serial++ })
    this.sortedGlobal = undefined
    return () => {
      layer.delete(name)
      if (key !== undefined && layer.size === 0) this.scoped.delete(key)
      this.sortedGlobal = undefined
    }
  }

  /** What a scope sees, in order. */
  visible(key: ScopeKey | undefined): readonly Entry[] {
    if (this.scoped.size === 0) return (this.sortedGlobal ??= sorted(this.global))
    const layers = scopeChain(key).flatMap((scope) => this.scoped.get(scope.key) ?? [])
    if (layers.length === 0) return (this.sortedGlobal ??= sorted(this.global))
    const view: Layer = new Map(this.global)
    for (const layer of layers.toReversed()) for (const [name, entry] of layer) view.set(name, entry)
    return sorted(view)
  }

  private layer(key: ScopeKey | undefined): Layer | undefined {
    return key === undefined ? this.global : this.scoped.get(key)
  }
}

function sorted(layer: Layer): readonly Entry[] {
  return [...layer.values()].sort((a, b) => a.order - b.order || a.serial - b.serial)
}
