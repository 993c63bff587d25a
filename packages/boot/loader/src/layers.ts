// The files of a composition in the order in which they count: what a file includes comes before it, and each file counts once.
import { errorMessage } from '@deepseek-ai/cordis'
import { readEntries, type Entry, type IncludeEntry } from './entry.ts'
import { LoaderError } from './errors.ts'
import { place, type Source } from './source.ts'

export interface Layer {
  readonly file: string
  readonly entries: readonly Entry[]
  /** Of a preset: its rows are required unless they say otherwise. */
  readonly preset: boolean
}

export interface LayerSources {
  read(file: string): Source
  /** What `include: NAME` stands for. Throws for a name that it does not know. */
  presetFiles(name: string): readonly string[]
}

export class Layers {
  readonly list: Layer[] = []
  private readonly sources: LayerSources
  private readonly known = new Set<string>()

  constructor(sources: LayerSources) {
    this.sources = sources
  }

  add(file: string, preset: boolean, above: readonly string[] = []): void {
    if (this.known.has(file)) return
    const entries = readEntries(this.sources.read(file))
    const own = entries.filter((entry) => entry.kind !== 'include')
    for (const [index, entry] of entries.entries()) {
      if (entry.kind !== 'include') continue
      if (index > 0 && entries[index - 1]?.kind !== 'include') {
        throw invalid(entry, '"include" has to come before the other entries of its file, as what it brings does')
      }
      this.include(entry, preset, [...above, file])
    }
    this.known.add(file)
    this.list.push({ file, entries: own, preset })
  }

  private include(entry: IncludeEntry, preset: boolean, above: readonly string[]): void {
    const { target } = entry
    const files = 'file' in target ? [target.file] : this.filesOf(target.preset, entry)
    for (const file of files) {
      if (above.includes(file)) throw invalid(entry, `it includes itself: ${[...above, file].join(' -> ')}`)
      this.add(file, preset || 'preset' in target, above)
    }
  }

  private filesOf(name: string, entry: IncludeEntry): readonly string[] {
    try {
      return this.sources.presetFiles(name)
    } catch (error) {
      throw new LoaderError(`${place(entry.origin)}: ${errorMessage(error)}`, 'COMPOSITION_INVALID', { cause: error })
    }
  }
}

function invalid({ origin }: IncludeEntry, message: string): LoaderError {
  return new LoaderError(`${place(origin)}: ${message}`, 'COMPOSITION_INVALID')
}
