// The one-line telling of a call: verb, target and where. Pure.
import type { GenericKind } from '@deepseek-ai/dsh-tools'
import type { CallItem } from '../state/items.ts'

export interface CallLine {
  readonly verb: string
  readonly target: string
  readonly where: string
  readonly kind: GenericKind
}

const verbs: Record<string, string> = {
  bash: 'Run',
  pwsh: 'Run',
  read: 'Read',
  read_file: 'Read',
  edit: 'Edit',
  multi_edit: 'Edit',
  write: 'Write',
  grep: 'Search',
  glob: 'Find',
  list_dir: 'List',
  web_fetch: 'Fetch',
  fetch: 'Fetch',
  run_code: 'Code',
}
const kinds: Record<string, GenericKind> = {
  bash: 'execute',
  pwsh: 'execute',
  read: 'read',
  read_file: 'read',
  list_dir: 'read',
  edit: 'edit',
  multi_edit: 'edit',
  write: 'edit',
  grep: 'search',
  glob: 'search',
  web_fetch: 'fetch',
  fetch: 'fetch',
}
const own = <T>(table: Record<string, T>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined

/** The arguments as the model wrote them: parsed when they are JSON already, else undefined (still being written, or broken). */
export function parseArguments(raw: string): unknown {
  try {
    return JSON.parse(raw) as unknown
  } catch {
    // Half-written or broken JSON is shown as the text it is.
    return undefined
  }
}

/** The first value that says something, in one line. */
export function argumentsLine(raw: string): string {
  const parsed = parseArguments(raw)
  if (parsed === undefined) return oneLine(raw)
  if (typeof parsed !== 'object' || parsed === null) return oneLine(JSON.stringify(parsed))
  const values = Object.values(parsed).filter((value) => typeof value === 'string' || typeof value === 'number')
  return oneLine(String(values[0] ?? (Object.keys(parsed).length > 0 ? JSON.stringify(parsed) : '')))
}

const oneLine = (text: string): string => {
  const line = text.trim().split('\n', 1)[0] ?? ''
  return line.length > 300 ? `${line.slice(0, 300)}…` : line
}

export function describeCall(item: CallItem, sessionCwd: string): CallLine {
  const { callView, resultView } = item
  const verb = own(verbs, item.name) ?? item.name
  const kind = own(kinds, item.name) ?? 'other'
  const title = resultView?.title ?? callView?.title
  if (callView?.card === 'terminal') {
    const where = callView.cwd !== undefined && callView.cwd !== sessionCwd ? callView.cwd : ''
    return { verb: own(verbs, item.name) ?? 'Run', target: oneLine(title ?? ''), where, kind: 'execute' }
  }
  const place = callView?.card === 'generic' ? callView.locations?.[0] : undefined
  const path = place === undefined ? '' : place.path + (place.line === undefined ? '' : `:${place.line}`)
  const target = title === undefined || title === item.name ? argumentsLine(item.arguments) : oneLine(title)
  return {
    verb,
    target,
    where: target.includes(place?.path ?? '\0') ? '' : path,
    kind: (callView?.card === 'generic' && callView.kind) || kind,
  }
}
