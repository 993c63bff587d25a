// `ctx.tools`: registration, lookup and the model-facing projection. Running a call is the pipeline's work.
import {
  Service,
  emitContained,
  errorMessage,
  hooksOf,
  lightEffect,
  lightenListeners,
  scopeOf,
  type Context,
  type ListenerTable,
  type Logger,
  type ScopeKey,
} from '@deepseek-ai/cordis'
import { AbandonedCalls } from './abandoned.ts'
import { Approvers } from './approver.ts'
import { CodeMode } from './code/code-mode.ts'
import { resolveConfig, type ResolvedConfig, type ToolRegistryConfig } from './config.ts'
import { ToolLayers, type Layer, type Restriction } from './layers.ts'
import { Pipeline } from './pipeline.ts'
import { copySchema, project } from './projection.ts'
import { assertRegistrable, assertRestriction, RUN_CODE } from './registration.ts'
import type {
  LateOutcome,
  PostDecision,
  PreDecision,
  SubCallEvent,
  ToolApprover,
  ToolDefinition,
  ToolDiagnostics,
  ToolExecution,
  ToolExecutionInput,
  ToolExecutionMode,
  ToolExecutionResult,
  ToolGuard,
  ToolMode,
  ToolRestriction,
  ToolSchema,
  WrappedExecution,
} from './types.ts'
import { wireName } from './wire-name.ts'

declare module '@deepseek-ai/cordis' {
  interface Context {
    tools: ToolRegistry
  }
  interface Events {
    /** Extensible allow, deny or ask, before guards. Around-middleware: return `next()` to pass. */
    'tools/pre-execute'(exec: ToolExecution, next: () => Promise<PreDecision>): PreDecision | Promise<PreDecision>
    /** Around dispatch: a deadline, a retry (`next()` may be called again), metrics. May replace `exec.signal`. */
    'tools/execute'(
      exec: WrappedExecution,
      next: () => Promise<ToolExecutionResult>,
    ): ToolExecutionResult | Promise<ToolExecutionResult>
    /** Replaces content or value, blocks, or adds context; sees denials too. */
    'tools/post-execute'(
      exec: ToolExecution,
      result: ToolExecutionResult,
      next: () => Promise<PostDecision>,
    ): PostDecision | Promise<PostDecision>
    /** Observes the final outcome, the very object the caller gets. Cannot change it. */
    'tools/result'(exec: ToolExecution, result: ToolExecutionResult): void
    /** What somebody sees has changed: a tool, a restriction or a mode came or went. Not filtered by scope. */
    'tools/change'(): void
    /** A program of `run_code` calls a tool; `exec` is the call of `run_code`. */
    'tools/sub-call'(exec: ToolExecution, event: SubCallEvent): void
    /** A body has settled although its call had been given up. */
    'tools/late'(exec: ToolExecution, late: LateOutcome): void
  }
}

/** Where the registry offers what models are told when a prompt service is there; it needs no other service. */
interface PromptSink {
  tools(provider: (scope?: ScopeKey) => readonly ToolSchema[]): () => void
  section(section: { name: string; order: number; text: (asking: { scope?: ScopeKey }) => string }): () => void
}

const PARALLEL: ToolExecutionMode = Object.freeze({ kind: 'parallel' })
const EXCLUSIVE: ToolExecutionMode = Object.freeze({ kind: 'exclusive' })

interface View {
  readonly version: number
  readonly schemas: readonly ToolSchema[]
}

/**
 * Tool registry and execution pipeline. Scoped registrations shadow globals; one visibility resolver feeds presentation,
 * lookup and dispatch.
 */
export class ToolRegistry extends Service {
  private readonly layers = new ToolLayers()
  private readonly config: ResolvedConfig
  private readonly listeners: ListenerTable
  private readonly abandoned: AbandonedCalls
  private readonly approvers = new Approvers()
  private readonly pipeline: Pipeline
  private readonly code: CodeMode
  private readonly log: Pick<Logger, 'error' | 'warn'>
  private readonly reported = new WeakSet<ToolDefinition>()
  private globalView: View | undefined
  private readonly scopedViews = new WeakMap<ScopeKey, View>()

  constructor(ctx: Context, config: ToolRegistryConfig = {}) {
    super(ctx, 'tools')
    // `this.ctx` still is the caller's context, at 0.1 µs a property instead of 5: no shadow object a call, and no lookup of
    // mixed-in properties, which this service has none of.
    Object.assign(Reflect.get(this, Service.tracker) as object, { noShadow: true, associate: undefined })
    this.config = resolveConfig(config)
    lightenListeners(ctx)
    this.listeners = hooksOf(ctx)
    this.log = ctx.logger('tools')
    this.abandoned = new AbandonedCalls(this.listeners, this.log)
    this.pipeline = new Pipeline({
      listeners: this.listeners,
      approvers: this.approvers,
      guards: this.layers,
      abandoned: this.abandoned,
      abandonAfterMs: this.config.abandonAfterMs,
      resolve: (call) => this.get(call.name, call.agent),
      parametersOf: (name, agent) => this.layers.resolve(name, agent)?.parameters,
      refuse: (call) => this.code.refuseDirect(call),
      reportListenerError: (event, error) => this.log.error('%s failed: %s', event, errorMessage(error)),
    })
    this.code = new CodeMode(ctx, this.config, this.layers, {
      executionMode: (exec) => this.executionMode(exec),
      execute: (input) => this.pipeline.execute(input),
      notify: (exec, event) =>
        emitContained(this.listeners['tools/sub-call'], exec.agent, [exec, event], (error) =>
          this.log.error('tools/sub-call listener failed: %s', errorMessage(error)),
        ),
    })
    this.offerToPrompt(ctx)
  }

  /**
   * Register globally or in the calling agent scope. Scoped tools shadow globals; duplicates within one layer and the
   * reserved `run_code` name fail.
   * @param definition - the tool schema, execution, and optional presentation functions.
   * @returns the exact disposer that unregisters the tool.
   */
  register(definition: ToolDefinition): () => void {
    const { name } = definition
    assertRegistrable(definition)
    const key = scopeOf(this.ctx)?.key
    if (this.layers.peek(key)?.tools.has(name) === true) {
      throw new Error(
        key === undefined
          ? `tool "${name}" is already registered (for a per-agent variant, register through that agent's \`agent.ctx\` instead)`
          : `tool "${name}" is already registered in this scope`,
      )
    }
    return this.place(key, `tools.register(${name})`, (layer) => {
      layer.tools.set(name, definition)
      return (current) => {
        if (current.tools.get(name) === definition) current.tools.delete(name)
      }
    })
  }

  /**
   * Restrict global tools for the calling agent scope. Empty filters, unknown names, scope-local names, and reserved
   * transport names fail. Restrictions intersect; scoped registrations remain visible.
   * @param filter - global-surface mask: `allow` (keep only) and/or `deny` (remove).
   * @returns the exact disposer that lifts this restriction.
   */
  restrict(filter: ToolRestriction): () => void {
    const key = this.scopeFor('restrict')
    assertRestriction(filter, [...this.layers.inherited(key).keys()])
    const restriction: Restriction = {
      allow: filter.allow === undefined ? undefined : new Set(filter.allow),
      deny: filter.deny === undefined ? undefined : new Set(filter.deny),
    }
    return this.place(key, 'tools.restrict', (layer) => {
      layer.restrictions.add(restriction)
      return (current) => void current.restrictions.delete(restriction)
    })
  }

  /**
   * Choose how the calling agent scope shows its tools to a model. One choice a scope; the nearest scope's wins over the
   * configured mode.
   * @param mode - `native`, `code` or `both`.
   * @returns the exact disposer that takes the choice back.
   */
  presentAs(mode: ToolMode): () => void {
    const key = this.scopeFor('presentAs')
    resolveConfig({ mode })
    const earlier = this.layers.peek(key)?.mode
    if (earlier !== undefined) {
      throw new Error(
        `tools.presentAs("${mode}") conflicts with "${earlier}" already declared for this scope; one composition selects one presentation`,
      )
    }
    return this.place(key, `tools.presentAs(${mode})`, (layer) => {
      layer.mode = mode
      return (current) => (current.mode = undefined)
    })
  }

  /**
   * Register a monotonic guard after the extensible `tools/pre-execute` waterfall. A plain-context guard applies
   * globally; one registered through `agent.ctx` applies only to that agent. Any matching guard may deny by returning a
   * reason, while no guard can force-allow a call another guard denied.
   * @param guard - synchronous check; a returned string denies the execution.
   * @returns the exact disposer that unregisters the guard.
   */
  guard(guard: ToolGuard): () => void {
    if (typeof guard !== 'function') throw new TypeError(`ctx.tools.guard() needs a function (got ${typeof guard})`)
    const key = scopeOf(this.ctx)?.key
    // A wrapper of its own lets the same function be registered twice and removed once.
    const entry: ToolGuard = (exec) => guard(exec)
    return lightEffect(this.ctx.fiber, 'tools.guard', () => {
      this.layers.open(key).guards.add(entry)
      return () => {
        this.layers.open(key).guards.delete(entry)
        this.layers.reclaim(key)
      }
    })
  }

  /**
   * Provide who answers the `ask` of `tools/pre-execute` listeners. The latest provider answers; when it goes, the one
   * before does again. Without one every `ask` fails with `APPROVAL_UNAVAILABLE`. Guards still run after an approval.
   * @param approver - answers one call; a throw or an unknown answer refuses the call with `POLICY_FAILED`.
   * @returns the exact disposer that takes this approver away.
   */
  provideApproval(approver: ToolApprover): () => void {
    if (typeof approver !== 'function') {
      throw new TypeError(`ctx.tools.provideApproval() needs a function (got ${typeof approver})`)
    }
    return lightEffect(this.ctx.fiber, 'tools.provideApproval', () => this.approvers.add(approver))
  }

  /**
   * Look up a tool as one scope sees it (scoped shadows global; a restricted-away global reads as absent). Presenters pass
   * the calling agent so the rendered card matches the definition that actually executed.
   * @param name - the tool name as registered, or as a model was told it.
   * @param scope - the viewing scope (the agent); omitted = the global view.
   * @returns the definition the scope resolves, or undefined when none is visible.
   */
  get(name: string, scope?: ScopeKey): ToolDefinition | undefined {
    if (name === RUN_CODE) return this.code.tool(scope)
    return this.layers.resolve(name, scope) ?? this.byWireName(name, scope)
  }

  /**
   * Project visible definitions onto the allowlisted model-facing schema fields, excluding execution and presentation
   * callbacks. Names that model providers refuse are replaced, one to one; a tool that no provider would take is left out
   * and listed by `diagnostics()`.
   * @param scope - the viewing scope (the agent); omitted = the global view.
   * @returns one deep-cloned schema per visible tool, in registration order.
   */
  schemas(scope?: ScopeKey): ToolSchema[] {
    return this.view(scope).schemas.map(copySchema)
  }

  /**
   * What a host may want to tell somebody about these tools.
   * @param scope - the viewing scope (the agent); omitted = the global view.
   * @returns tools that models are not told of, and bodies that run on after their calls were given up.
   */
  diagnostics(scope?: ScopeKey): ToolDiagnostics {
    const quarantined: { name: string; reason: string }[] = []
    for (const definition of this.layers.view(scope).values()) {
      const { reason } = project(definition)
      if (reason !== undefined) quarantined.push({ name: definition.name, reason })
    }
    return { quarantined, abandoned: this.abandoned.list() }
  }

  /**
   * Classify a pending call through the caller's visible tool definition. Only an exact `true` is parallel; unknown,
   * hidden, undeclared, invalid, or throwing classifiers are exclusive.
   * @param exec - call name, parsed arguments, and optional agent scope.
   * @returns the fail-closed scheduling mode.
   */
  executionMode(exec: Pick<ToolExecutionInput, 'name' | 'arguments' | 'agent'>): ToolExecutionMode {
    const definition = this.get(exec.name, exec.agent)
    try {
      return definition?.isConcurrencySafe?.(exec.arguments as never) === true ? PARALLEL : EXCLUSIVE
    } catch {
      return EXCLUSIVE // a classifier that throws has not said that the call is safe
    }
  }

  /**
   * Execute through pre-policy, guards, around-dispatch, post-policy, and final notification. Tool and listener failures
   * resolve as materialized error results; an invisible tool reports `UNKNOWN_TOOL`. The returned outcome is the same
   * lossless, frozen snapshot final observers receive. Rejects only when the input has no `AbortSignal`.
   * @param exec - the typed same-process call input. The registry assigns its correlation token before policy begins.
   * @returns the materialized final result.
   */
  execute(exec: ToolExecutionInput): Promise<ToolExecutionResult> {
    return this.pipeline.execute(exec)
  }

  private byWireName(name: string, scope: ScopeKey | undefined): ToolDefinition | undefined {
    if (!HASHED.test(name)) return undefined
    for (const definition of this.layers.view(scope).values()) if (wireName(definition.name) === name) return definition
    return undefined
  }

  private view(scope: ScopeKey | undefined): View {
    const known = scope === undefined ? this.globalView : this.scopedViews.get(scope)
    if (known?.version === this.layers.version) return known
    const schemas: ToolSchema[] = []
    const runCode = this.code.tool(scope)
    const shown = [...(this.code.mode(scope) === 'code' ? [] : this.layers.view(scope).values())]
    for (const definition of runCode === undefined ? shown : [...shown, runCode]) {
      const { schema, reason } = project(definition)
      if (schema !== undefined) schemas.push(schema)
      else this.reportQuarantine(definition, reason)
    }
    const view: View = { version: this.layers.version, schemas }
    if (scope === undefined) this.globalView = view
    else this.scopedViews.set(scope, view)
    return view
  }

  /** Feeds a prompt service whenever one is there. */
  private offerToPrompt(ctx: Context): void {
    ctx.inject(['systemPrompt'], (child) => {
      const prompt = child.get('systemPrompt') as PromptSink
      // The frozen schemas themselves: a prompt is made for each request, and the very same ones need no comparing.
      prompt.tools((scope) => this.view(scope).schemas)
      prompt.section({ name: 'tools:code-only', order: 99, text: ({ scope }) => this.code.onlyText(scope) })
      prompt.section({ name: 'tools:sdk', order: 150, text: ({ scope }) => this.code.sdk(scope) })
    })
  }

  private reportQuarantine(definition: ToolDefinition, reason: string): void {
    if (this.reported.has(definition)) return
    this.reported.add(definition)
    this.log.error('%s; models are not told of it', reason)
  }

  private scopeFor(method: string): ScopeKey {
    const key = scopeOf(this.ctx)?.key
    if (key !== undefined) return key
    throw new Error(
      `tools.${method}() requires a scoped context (agent.ctx): a plain context has no agent whose view it could change`,
    )
  }

  /** Writes to a layer as an effect of the caller, tells everybody, and takes all back when a listener refuses. */
  private place(
    key: ScopeKey | undefined,
    label: string,
    write: (layer: Layer) => (current: Layer) => void,
  ): () => void {
    // Note: `this` is a proxy for the caller; what is read through it often is read once.
    const { layers } = this
    return lightEffect(this.ctx.fiber, label, () => {
      const remove = write(layers.open(key))
      const undo = (): void => {
        // The layer may have been reclaimed and made anew since.
        remove(layers.open(key))
        layers.reclaim(key)
      }
      const failed = this.changed()
      if (failed !== undefined) {
        undo()
        this.changed()
        throw failed.error
      }
      return () => {
        undo()
        this.changed()
      }
    })
  }

  /** Tells every listener; returns the first failure, if any. */
  private changed(): { error: unknown } | undefined {
    this.layers.version++
    const listeners = this.listeners['tools/change']
    if (listeners === undefined) return undefined
    let first: { error: unknown } | undefined
    const report = (error: unknown): void => {
      first ??= { error }
      this.log.error('tools/change listener failed: %s', errorMessage(error))
    }
    emitContained(listeners, undefined, [], report, { unfiltered: true })
    return first
  }
}

/** What only a made-up name ends with; other names are not searched for. */
const HASHED = /_[0-9a-f]{12}$/

export default ToolRegistry
