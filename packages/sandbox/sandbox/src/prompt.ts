// Tells the model under which policy its calls run, so that it need not learn it from refusals. The same facts give the same bytes.
import type { SandboxMode, SandboxNetwork } from './types.ts'

export interface PolicyFacts {
  readonly mode: SandboxMode
  readonly network: SandboxNetwork
  readonly allowedHosts: readonly string[]
  /** Folders beside the workspace that may be written. */
  readonly writableRoots: readonly string[]
  /** Whether a person can be asked for more. */
  readonly escalation: boolean
}

/** Longer lists are counted: the model needs to know the rule, not every name. */
const MOST_NAMED = 20

/** Empty when nothing is confined. */
export function policyText(facts: PolicyFacts): string {
  const { mode, network, escalation } = facts
  if (mode === 'danger-full-access' && network === 'open') return ''
  const lines = [`Commands run in a sandbox, in the mode ${mode}. ${files(facts)}`, networkText(facts)]
  if (escalation && mode !== 'danger-full-access') {
    lines.push(
      'When a result says that the sandbox denied something that the task needs, repeat exactly that call with sandbox_permissions and a justification: the user is asked.',
    )
  }
  return lines.join('\n')
}

function files({ mode, writableRoots }: PolicyFacts): string {
  if (mode === 'danger-full-access') return 'Files are not confined.'
  const secrets = 'Credentials in the home folder cannot be read.'
  if (mode === 'read-only') return `Nothing but the temporary folder can be written. ${secrets}`
  const more = writableRoots.length === 0 ? '' : `, ${listed(writableRoots)}`
  return `The workspace${more} and the temporary folder can be written; what git, editors and agents run or believe there (git hooks and config, agent and editor settings) cannot. ${secrets}`
}

function networkText({ network, allowedHosts }: PolicyFacts): string {
  if (network === 'open') return 'The network is open.'
  if (network === 'none' || allowedHosts.length === 0) return 'There is no network.'
  return `The network is HTTP and HTTPS through a proxy, to ${listed([...new Set(allowedHosts)].sort())} only; ssh and other protocols do not get through.`
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMED).map((name) => JSON.stringify(name))
  const rest = names.length - shown.length
  return rest > 0 ? `${shown.join(', ')} and ${rest} more` : shown.join(', ')
}
