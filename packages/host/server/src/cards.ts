// Cards of calls and results, made by the presenters of the tools that are registered now. Presenters are foreign code that meets
// logs of any age: whatever goes wrong means no card, and the page then draws the generic one.
import { errorMessage, type ScopeKey } from '@deepseek-ai/cordis'
import type { SessionEventMap } from '@deepseek-ai/dsh-session'
import type { PresentedResult, ToolDefinition } from '@deepseek-ai/dsh-tools'

type Call = Pick<SessionEventMap['tool/call'], 'name' | 'arguments'>

export interface CardSources {
  get(name: string, scope?: ScopeKey): ToolDefinition | undefined
  /** Told once for each tool and presenter that fails. */
  warn(message: string): void
}

export class Cards {
  private readonly sources: CardSources
  private readonly reported = new Set<string>()

  constructor(sources: CardSources) {
    this.sources = sources
  }

  /** JSON text of the call's card, or undefined for the generic one. */
  call(call: Call, scope: ScopeKey | undefined): string | undefined {
    return this.present(call, scope, 'presentCall', (tool, args) => tool.presentCall?.(args))
  }

  /** JSON text of the result's card, or undefined for the generic one. */
  result(call: Call, result: PresentedResult, scope: ScopeKey | undefined): string | undefined {
    return this.present(call, scope, 'presentResult', (tool, args) => tool.presentResult?.(args, result))
  }

  private present(
    call: Call,
    scope: ScopeKey | undefined,
    presenter: 'presentCall' | 'presentResult',
    view: (tool: ToolDefinition, args: never) => unknown,
  ): string | undefined {
    try {
      const tool = this.sources.get(call.name, scope)
      if (tool?.[presenter] === undefined) return undefined
      const args = parseArguments(call.arguments)
      return args === undefined ? undefined : viewJson(view(tool, args.value as never))
    } catch (error) {
      this.report(`${presenter} of the tool "${call.name}" failed: ${errorMessage(error)}`, `${presenter} ${call.name}`)
      return undefined
    }
  }

  private report(message: string, key: string): void {
    if (this.reported.has(key)) return
    this.reported.add(key)
    this.sources.warn(`${message}; its calls are shown as plain data`)
  }
}

function parseArguments(raw: string): { value: unknown } | undefined {
  try {
    return { value: raw.trim() === '' ? {} : (JSON.parse(raw) as unknown) }
  } catch {
    return undefined // the model wrote something that is not JSON: the generic card shows it as it is
  }
}

/** Throws for what is neither undefined nor a view. */
function viewJson(view: unknown): string | undefined {
  if (view === undefined) return undefined
  if (typeof view !== 'object' || view === null || !('card' in view) || typeof view.card !== 'string') {
    throw new TypeError('it returned no view: an object with a "card" is wanted')
  }
  return JSON.stringify(view)
}
