// Which package brings which service, so that a row that waits can be told what is missing.
import type { Mount } from './mount.ts'
import type { SkippedRow } from './types.ts'

const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  tools: ['@deepseek-ai/dsh-tools'],
  sessions: ['@deepseek-ai/dsh-session'],
  systemPrompt: ['@deepseek-ai/dsh-system-prompt'],
  agents: ['@deepseek-ai/dsh-agent'],
  llm: ['@deepseek-ai/dsh-llm'],
  shell: ['@deepseek-ai/dsh-bash-local'],
  server: ['@deepseek-ai/dsh-server'],
}

/** Who could provide a service: a row and its state, a row that was left out, or the package to add. */
export function describeProvider(service: string, mounts: Iterable<Mount>, skipped: readonly SkippedRow[]): string {
  const packages = PACKAGES[service] ?? []
  const providers = [...mounts].filter(
    ({ row, plugin }) => plugin?.provides.includes(service) === true || packages.includes(row.name ?? ''),
  )
  const provider = providers.find((mount) => mount.state !== 'disabled') ?? providers[0]
  if (provider !== undefined) return `row "${provider.row.id}" provides it, and is ${provider.state}${hidden(provider)}`
  const left = skipped.find((row) => packages.includes(row.name ?? ''))
  if (left !== undefined) return `row "${left.id}" provides it, and was left out (${left.reason})`
  const add = packages.length === 0 ? '' : `; add a row with name: ${packages.join(' or ')}`
  return `no row provides it${add}`
}

// An active provider that is not seen sits in a realm of its own.
function hidden(provider: Mount): string {
  return provider.state === 'active' ? ', but "isolate" hides it from here' : ''
}
