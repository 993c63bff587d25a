// The stages of one call, in order: create, pre-execute, ask, guards, around, body, post-execute, bound, result.
// Stages without listeners cost nothing, and nothing here reads a property of a cordis context.
import { dispatchChain, emitContained, errorMessage, type ListenerTable } from '@deepseek-ai/cordis'
import type { AbandonedCalls } from './abandoned.ts'
import type { Approvers, Refusal } from './approver.ts'
import { BodyRun, type BodyOutcome } from './body-run.ts'
import { boundContent } from './bound.ts'
import { JsonValueError } from './errors.ts'
import { Call, WrapperView, type CallingAgent } from './execution.ts'
import { snapshotJson } from './json.ts'
import type { ToolLayers } from './layers.ts'
import { failure, nameOf, success, textContent, thrownFailure, withContexts } from './outcome.ts'
import { isResultShape, postDecision, preDecision } from './policy.ts'
import { contentText, type ContentBlock } from './presentation.ts'
import type { JsonSchema } from './schema/types.ts'
import { knownValidator } from './schema/validate.ts'
import type {
  PostDecision,
  PreDecision,
  ToolDefinition,
  ToolExecutionInput,
  ToolExecutionResult,
  ToolFailure,
} from './types.ts'

export interface PipelineHost {
  readonly listeners: ListenerTable
  readonly abandoned: AbandonedCalls
  /** How long a body may go on after its cancellation or deadline before its call is given up, in milliseconds. */
  readonly abandonAfterMs: number
  /** The definition a call resolves to: what its agent sees, under the name it is called by. */
  resolve(call: Call): ToolDefinition | undefined
  /** The schema of the arguments of the tool a name stands for, where `defineTool` made it; a hint of how to copy them. */
  parametersOf(name: string, agent: CallingAgent): JsonSchema | undefined
  /** A refusal that no policy needs to see, or undefined. */
  refuse(call: Call): ToolFailure | undefined
  /** Who answers what `tools/pre-execute` listeners ask. */
  readonly approvers: Pick<Approvers, 'ask'>
  readonly guards: Pick<ToolLayers, 'guards' | 'hasGuards'>
  /** Where contained failures of observers go. */
  readonly reportListenerError: (event: string, error: unknown) => void
}

export class Pipeline {
  private readonly host: PipelineHost

  constructor(host: PipelineHost) {
    this.host = host
  }

  async execute(input: ToolExecutionInput): Promise<ToolExecutionResult> {
    const { call, refused } = this.create(input)
    // Note: the stages are awaited here rather than in a function of their own, which would cost a promise and a turn more.
    const { guards, listeners } = this.host
    let refusal: Refusal | undefined = refused === undefined ? undefined : { result: refused, final: true }
    if (refusal === undefined && (listeners['tools/pre-execute'] !== undefined || guards.hasGuards())) {
      refusal = await this.decide(call)
    }
    let result = refusal === undefined ? await this.around(call) : refusal.result
    if (refusal?.final !== true && listeners['tools/post-execute'] !== undefined) result = await this.post(call, result)
    result = this.bounded(call, result)
    call.settled = true
    const observers = listeners['tools/result']
    if (observers !== undefined) {
      emitContained(observers, call.agent, [call.view, result], (error) =>
        this.host.reportListenerError('tools/result', error),
      )
    }
    return result
  }

  /** Reads each field of the input once and freezes the arguments before any policy sees them. */
  private create(input: ToolExecutionInput): { call: Call; refused: ToolFailure | undefined } {
    const { callId, name, signal, agent, parent, onReport } = input
    if (!(signal instanceof AbortSignal)) {
      throw new TypeError(`ctx.tools.execute() needs the caller's AbortSignal as \`signal\` (got ${typeof signal})`)
    }
    const report = onReport === undefined ? undefined : this.contained(onReport)
    try {
      const given = input.arguments
      const schema = this.parametersOf(name, agent)
      const matching = schema === undefined ? undefined : knownValidator(schema)?.snapshot(given)
      const copy = matching === undefined ? snapshotJson(given) : matching
      const call = new Call({ callId, name, arguments: copy, agent, parent }, signal, report)
      if (matching !== undefined) call.matched = schema
      return { call, refused: signal.aborted ? abortedBeforeDispatch() : this.host.refuse(call) }
    } catch (error) {
      const call = new Call({ callId, name, arguments: null, agent, parent }, signal, report)
      const message = `tool execution arguments must be losslessly JSON-serializable: ${errorMessage(error)}`
      const path = error instanceof JsonValueError ? { violations: [error.message] } : {}
      return { call, refused: failure('INVALID_ARGS', message, { name: 'ToolArgsError', cause: error, ...path }) }
    }
  }

  private parametersOf(name: string, agent: CallingAgent): JsonSchema | undefined {
    try {
      return this.host.parametersOf(name, agent)
    } catch {
      return undefined // an accessor of a raw definition; its projection reports it
    }
  }

  /** Everything that may refuse before dispatch. */
  private async decide(call: Call): Promise<Refusal | undefined> {
    const listeners = this.host.listeners['tools/pre-execute']
    if (listeners !== undefined) {
      let decision: PreDecision
      try {
        const inner = (): PreDecision => ({ kind: 'allow' })
        decision = preDecision(await dispatchChain(listeners, call.agent, [call.view], inner, { promised: true }))
      } catch (error) {
        return { result: thrownFailure(error, 'POLICY_FAILED'), final: true }
      }
      if (decision.kind === 'deny') return { result: failure('DENIED', decision.reason), final: false }
      if (decision.kind === 'ask') {
        const refused = await this.host.approvers.ask(call, decision.reason)
        if (refused !== undefined) return refused
        if (call.callerSignal.aborted) return { result: abortedBeforeDispatch(), final: false }
      }
    }
    if (this.host.guards.hasGuards()) {
      const refused = this.guard(call)
      if (refused !== undefined) return refused
    }
    return call.callerSignal.aborted ? { result: abortedBeforeDispatch(), final: false } : undefined
  }

  private guard(call: Call): Refusal | undefined {
    for (const guard of this.host.guards.guards(call.agent)) {
      let answer: unknown
      try {
        answer = guard(call.view)
      } catch (error) {
        return { result: thrownFailure(error, 'POLICY_FAILED'), final: true }
      }
      if (answer === undefined) continue
      if (typeof answer === 'string') return { result: failure('GUARD_DENIED', answer), final: false }
      const message = `a guard must return undefined or a reason (got ${typeof answer}); guards are synchronous`
      return { result: failure('POLICY_FAILED', message), final: true }
    }
    return undefined
  }

  private around(call: Call): ToolExecutionResult | Promise<ToolExecutionResult> {
    const listeners = this.host.listeners['tools/execute']
    return listeners === undefined ? this.dispatch(call) : this.wrap(call, listeners)
  }

  private async wrap(call: Call, listeners: NonNullable<ListenerTable[string]>): Promise<ToolExecutionResult> {
    const ours = new Set<ToolExecutionResult>()
    let over = false
    const inner = async (): Promise<ToolExecutionResult> => {
      if (over) throw new Error('next() called after the wrapper has answered')
      const result = await this.dispatch(call)
      ours.add(result)
      return result
    }
    try {
      const view = new WrapperView(call)
      const returned: unknown = await dispatchChain<unknown>(listeners, call.agent, [view], inner, {
        repeatable: true,
        promised: true,
      })
      const own = ours.has(returned as ToolExecutionResult)
      return abortedInstead(call, own ? (returned as ToolExecutionResult) : this.adopt(call, returned, ours))
    } catch (error) {
      return withContexts(thrownFailure(error, 'POLICY_FAILED'), call.run?.contexts)
    } finally {
      over = true
    }
  }

  /** A result that a wrapper made itself: its value goes through the tool's declaration like any other. */
  private adopt(call: Call, returned: unknown, ours: ReadonlySet<ToolExecutionResult>): ToolExecutionResult {
    if (!isResultShape(returned)) {
      const message = 'a tools/execute listener must return the result of next() or a result of its own'
      return failure('POLICY_FAILED', `${message} (got ${returned === null ? 'null' : typeof returned})`)
    }
    // What the body deferred is added once, also when the wrapper copied it from a result of `next()`.
    const copied = new Set([...ours].flatMap((result) => result.additionalContexts ?? []))
    const added = (returned.additionalContexts ?? []).filter((message) => !copied.has(message))
    const contexts = [...(call.run?.contexts ?? []), ...added]
    if (returned.isError) {
      const { message, code, name } = returned.error
      return withContexts(failure(code ?? 'TOOL_FAILED', message, name === undefined ? {} : { name }), contexts)
    }
    const definition = this.host.resolve(call)
    return withContexts(
      definition === undefined ? unknownTool(call) : this.canonical(call, definition, returned.value),
      contexts,
    )
  }

  /**
   * Runs the body once. Never rejects: a wrapper sees the same normalised outcome that a caller would. A body that answers at once
   * costs no promise here.
   */
  private dispatch(call: Call): ToolExecutionResult | Promise<ToolExecutionResult> {
    if (call.cancelled) return aborted(call)
    const definition = this.host.resolve(call)
    if (definition === undefined) return unknownTool(call)
    const run = (call.run = new BodyRun(call, definition.timeoutMs))
    call.definition = definition
    const outcome = this.enter(call, run, definition)
    return outcome instanceof Promise
      ? outcome.then((settled) => this.conclude(call, run, definition, settled))
      : this.conclude(call, run, definition, outcome)
  }

  private conclude(call: Call, run: BodyRun, definition: ToolDefinition, outcome: BodyOutcome): ToolExecutionResult {
    return withContexts(this.outcome(call, run, definition, outcome), run.contexts)
  }

  private enter(call: Call, run: BodyRun, definition: ToolDefinition): BodyOutcome | Promise<BodyOutcome> {
    let promise: Promise<unknown>
    try {
      const returned: unknown = definition.execute(call.arguments as never, run.view)
      if (returned instanceof Promise) promise = returned
      else if (isThenable(returned)) promise = Promise.resolve(returned)
      else return { kind: 'returned', value: returned }
    } catch (error) {
      return { kind: 'threw', error } // by the body, or by a hostile value that was asked whether it is a promise
    }
    return run.settle(promise, this.host.abandonAfterMs, (late) => this.host.abandoned.settled(call, late))
  }

  private outcome(call: Call, run: BodyRun, definition: ToolDefinition, outcome: BodyOutcome): ToolExecutionResult {
    if (outcome.kind === 'abandoned') {
      this.host.abandoned.add(call)
      return abandoned(definition, run, this.host.abandonAfterMs)
    }
    if (outcome.kind === 'threw') return bodyFailure(call, run, definition, outcome.error)
    if (run.cancelled) return aborted(call)
    if (run.timedOut) return timedOut(definition)
    const result = this.canonical(call, definition, outcome.value)
    return run.concludesTurn && !result.isError ? Object.freeze({ ...result, concludesTurn: true }) : result
  }

  private canonical(call: Call, definition: ToolDefinition, returned: unknown): ToolExecutionResult {
    try {
      return success(call, definition, returned)
    } catch (error) {
      return thrownFailure(error, 'INVALID_TOOL_OUTPUT')
    }
  }

  private async post(call: Call, result: ToolExecutionResult): Promise<ToolExecutionResult> {
    const listeners = this.host.listeners['tools/post-execute']
    let decision: PostDecision
    try {
      const inner = (): PostDecision => ({ kind: 'accept' })
      decision = postDecision(
        await dispatchChain(listeners, call.agent, [call.view, result], inner, { promised: true }),
      )
      return abortedInstead(call, decision.kind === 'block' ? blocked(decision) : this.accepted(call, result, decision))
    } catch (error) {
      return thrownFailure(error, 'POLICY_FAILED')
    }
  }

  private accepted(
    call: Call,
    result: ToolExecutionResult,
    decision: PostDecision & { kind: 'accept' },
  ): ToolExecutionResult {
    let final = result
    if (decision.value !== undefined) {
      if (result.isError) throw new TypeError('a post-execute listener cannot give a failed call a value')
      const definition = this.host.resolve(call)
      const replaced = definition === undefined ? unknownTool(call) : this.canonical(call, definition, decision.value)
      const concludes = result.concludesTurn === true && !replaced.isError ? { concludesTurn: true as const } : {}
      final = withContexts(Object.freeze({ ...replaced, ...concludes }), result.additionalContexts)
    } else if (decision.content !== undefined) {
      const content = snapshotJson(decision.content) as unknown as readonly ContentBlock[]
      final = Object.freeze({ ...result, content })
    }
    return withContexts(final, decision.additionalContexts)
  }

  /** Applies the tool's `maxResultBytes` to whatever came out, refusals and replacements included. */
  private bounded(call: Call, result: ToolExecutionResult): ToolExecutionResult {
    const declared = (call.definition ?? this.host.resolve(call))?.maxResultBytes
    if (declared === undefined) return result
    let limit: unknown = declared
    try {
      if (typeof declared === 'function') limit = declared(call.arguments as never)
    } catch (error) {
      this.host.reportListenerError(`maxResultBytes of tool "${call.name}"`, error)
      return result
    }
    if (typeof limit !== 'number' || !(limit > 0)) return result
    const content = boundContent(result.content, limit)
    return content === result.content ? result : Object.freeze({ ...result, content })
  }

  private contained(
    onReport: NonNullable<ToolExecutionInput['onReport']>,
  ): NonNullable<ToolExecutionInput['onReport']> {
    return (progress) => {
      try {
        onReport(progress)
      } catch (error) {
        this.host.reportListenerError('onReport', error)
      }
    }
  }
}

function isThenable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}

/** A cancellation that came while wrappers or post-execute policy ran replaces a success, never a failure. */
function abortedInstead(call: Call, result: ToolExecutionResult): ToolExecutionResult {
  if (result.isError || !call.callerSignal.aborted) return result
  return withContexts(aborted(call), result.additionalContexts)
}

/** A body's own failure keeps its identity, unless what it threw is just our own signal coming back. */
function bodyFailure(call: Call, run: BodyRun, definition: ToolDefinition, thrown: unknown): ToolFailure {
  if (run.timedOut && !run.cancelled) return timedOut(definition)
  const isOurs = isAbort(thrown) || (call.callerSignal.aborted && thrown === call.callerSignal.reason)
  if (run.cancelled && isOurs) return failure('ABORTED', 'tool call aborted', { name: 'AbortError' })
  return thrownFailure(thrown, 'TOOL_FAILED')
}

function isAbort(thrown: unknown): boolean {
  return ['AbortError', 'TimeoutError'].includes(nameOf(thrown))
}

function unknownTool(call: Call): ToolFailure {
  return failure('UNKNOWN_TOOL', `unknown tool "${call.name}"`, { name: 'ToolNotFoundError' })
}

function timedOut(definition: ToolDefinition): ToolFailure {
  return failure('TOOL_TIMEOUT', `tool call timed out after ${definition.timeoutMs}ms`, { name: 'ToolTimeoutError' })
}

function abandoned(definition: ToolDefinition, run: BodyRun, graceMs: number): ToolFailure {
  const cause = run.cancelled ? 'its cancellation' : `its deadline of ${definition.timeoutMs}ms`
  const message = `tool "${definition.name}" did not settle within ${graceMs}ms after ${cause} and may still be running; check its effects before you repeat the call`
  return failure('TOOL_ABANDONED', message, { name: 'ToolAbandonedError' })
}

function aborted(call: Call): ToolFailure {
  return call.run === undefined
    ? abortedBeforeDispatch()
    : failure('ABORTED', 'tool call aborted', { name: 'AbortError' })
}

function abortedBeforeDispatch(): ToolFailure {
  return failure('ABORTED_BEFORE_DISPATCH', 'tool call aborted before dispatch', { name: 'AbortError' })
}

function blocked(decision: PostDecision & { kind: 'block' }): ToolExecutionResult {
  const content = snapshotJson(decision.feedback) as unknown as readonly ContentBlock[]
  const text = contentText(content)
  const message = text === '' ? 'tool result blocked by post-execute policy' : text
  const shown = content.length === 0 ? textContent(message) : content
  return withContexts(failure('BLOCKED', message, { content: shown }), decision.additionalContexts)
}
