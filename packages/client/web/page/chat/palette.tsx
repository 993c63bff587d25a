// The `/` palette: tools that match what is being typed, and the parameters of the one that was chosen.
import type { JsonSchema, ToolSchema } from '@deepseek-ai/dsh-tools'
import { useEffect, useState } from 'react'
import { call } from '../api.ts'
import { t } from '../strings.ts'

export function useTools(sessionId: string | undefined, wanted: boolean): readonly ToolSchema[] | undefined {
  const [tools, setTools] = useState<readonly ToolSchema[]>()
  useEffect(() => {
    if (!wanted) return undefined
    let current = true
    void call('tools.list', sessionId === undefined ? {} : { id: sessionId }).then(
      (list) => current && setTools(list),
      // The palette is a help: without the list one can still type.
      () => current && setTools([]),
    )
    return () => {
      current = false
    }
  }, [sessionId, wanted])
  return tools
}

/** Names that start with the query first, then those that contain it. */
export function matchTools(tools: readonly ToolSchema[], query: string): ToolSchema[] {
  const wanted = query.toLowerCase()
  const rank = (name: string): number =>
    name.toLowerCase().startsWith(wanted) ? 0 : name.toLowerCase().includes(wanted) ? 1 : 2
  return tools.filter(({ name }) => rank(name) < 2).sort((one, other) => rank(one.name) - rank(other.name))
}

interface PaletteProps {
  readonly tools: readonly ToolSchema[]
  readonly selected: number
  readonly onChoose: (name: string) => void
}

export const paletteOptionId = (index: number): string => `palette-${index}`

export function Palette({ tools, selected, onChoose }: PaletteProps) {
  useEffect(() => {
    document.getElementById(paletteOptionId(selected))?.scrollIntoView({ block: 'nearest' })
  }, [selected])
  return (
    <div className="menu absolute inset-x-0 bottom-full mb-1.5" role="listbox" id="palette" aria-label={t.toolsLabel}>
      {tools.length === 0 && <div className="px-2 py-1 text-ink3">{t.noTools}</div>}
      {tools.map((tool, index) => (
        <div
          key={tool.name}
          id={paletteOptionId(index)}
          role="option"
          aria-selected={index === selected}
          className="menu-item"
          // Keeps the focus in the text.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onChoose(tool.name)}
        >
          <span className="flex-none font-mono text-mono">/{tool.name}</span>
          <span className="min-w-0 truncate text-ink3">{tool.description.split('\n', 1)[0]}</span>
        </div>
      ))}
    </div>
  )
}

function typeOf(schema: JsonSchema): string {
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  return schema.type ?? (schema.oneOf ? 'one of' : 'any')
}

export function Parameters({ tool }: { tool: ToolSchema }) {
  const required = new Set(tool.parameters.required)
  const entries = Object.entries(tool.parameters.properties ?? {})
  if (entries.length === 0) return null
  return (
    <div className="menu absolute inset-x-0 bottom-full mb-1.5 px-3 py-2 text-meta" aria-label={tool.name}>
      {entries.map(([name, schema]) => (
        <div key={name} className="flex gap-2">
          <span className="flex-none font-mono text-ink2">{name}</span>
          <span className="flex-none text-ink3">{typeOf(schema)}</span>
          {required.has(name) && <span className="flex-none text-warn">{t.requiredMark}</span>}
          <span className="min-w-0 truncate text-ink3">{schema.description}</span>
        </div>
      ))}
    </div>
  )
}
