// The one rule for results: what a tool did not cut to the budget by itself is cut here, once, and kept whole in a file.
import { errorMessage } from '@deepseek-ai/cordis'
import {
  contentText,
  cutMiddle,
  type ContentBlock,
  type PostDecision,
  type ToolExecution,
  type ToolExecutionResult,
} from '@deepseek-ai/dsh-tools'
import type { SpillReceipt, SpillSource } from './types.ts'

export interface ResultPolicyHost {
  readonly inlineBytes: number
  /** Throws when the disk refuses. */
  save(source: SpillSource, text: string): SpillReceipt
  /** What the tool declares as the bound of its results. May throw. */
  ownLimit(exec: ToolExecution): unknown
}

/** Below this, a line that names a file leaves no room for anything else: the registry cuts such results without one. */
const MIN_BUDGET_BYTES = 1024

/** A listener of `tools/post-execute`. Fails only when a listener that it asks does. */
export async function boundedResult(
  host: ResultPolicyHost,
  exec: ToolExecution,
  result: ToolExecutionResult,
  next: () => Promise<PostDecision>,
): Promise<PostDecision> {
  const decision = await next()
  // Programs get the value; `read` pages by itself, and a copy of a file that is there already helps nobody.
  if (exec.parent !== undefined || exec.name === 'read') return decision
  if (decision?.kind === 'block') {
    const feedback = bounded(host, exec, decision.feedback)
    return feedback === undefined ? decision : { ...decision, feedback }
  }
  // A new value is rendered after this stage.
  if (decision?.kind !== 'accept' || decision.value !== undefined) return decision
  const content = bounded(host, exec, decision.content ?? result.content)
  return content === undefined ? decision : { ...decision, content }
}

/** What replaces the content; undefined when it fits. */
function bounded(
  host: ResultPolicyHost,
  exec: ToolExecution,
  content: readonly ContentBlock[],
): readonly ContentBlock[] | undefined {
  let units = 0
  for (const block of content) {
    if (block?.type !== 'text' || typeof block.text !== 'string') return undefined
    units += block.text.length + 1
  }
  if (units * 3 <= MIN_BUDGET_BYTES) return undefined // no UTF-16 unit takes more than three bytes
  const budget = budgetOf(host, exec)
  if (budget < MIN_BUDGET_BYTES || units * 3 <= budget) return undefined
  const text = contentText(content)
  const bytes = Buffer.from(text)
  if (bytes.length <= budget) return undefined
  const where = keep(host, exec, text)
  const cut = cutMiddle(
    bytes,
    budget,
    (missing) => `\n[${missing} of ${bytes.length} bytes are not shown here; ${where}]\n`,
  )
  return [{ type: 'text', text: cut }]
}

/** The registry applies a tool's own bound after this; a smaller one would cut the line that names the file. */
function budgetOf(host: ResultPolicyHost, exec: ToolExecution): number {
  try {
    const limit = host.ownLimit(exec)
    return typeof limit === 'number' && limit > 0 ? Math.min(limit, host.inlineBytes) : host.inlineBytes
  } catch {
    return host.inlineBytes // the registry reports it
  }
}

/** Says where the whole is. */
function keep(host: ResultPolicyHost, { agent, callId, name }: ToolExecution, text: string): string {
  try {
    const receipt = host.save({ sessionId: agent?.id, callId, toolName: name, label: 'result' }, text)
    const { path, complete, bytes, reason = 'it did not fit' } = receipt
    return complete
      ? `the whole result is in ${path}`
      : `the first ${bytes} bytes of the result are in ${path}, the rest is lost: ${oneLine(reason)}`
  } catch (error) {
    return `the rest is lost, since it could not be kept: ${oneLine(errorMessage(error))}`
  }
}

function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').slice(0, 300)
}
