// `ctx.tools`: registration, lookup and the model-facing projection. Running a call is the pipeline's work.
import {
  Service,
  emitContained,
  errorMessage,
  hooksOf,
  scopeOf,
  type Context,
  type ListenerTable,
  type ScopeKey,
} from '@deepseek-ai/cordis'
import { snapshotJson } from './json.ts'
import { ToolLayers } from './layers.ts'
import { Pipeline } from './pipeline.ts'
import type { Json } from './presentation.ts'
import { assertSupportedJsonSchema } from './schema/compile.ts'
import type {
  PostDecision,
  PreDecision,
  ToolDefinition,
  ToolExecution,
  ToolExecutionInput,
  ToolExecutionMode,
  ToolExecutionResult,
  ToolGuard,
  ToolSchema,
  WrappedExecution,
} from './types.ts'

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
    /** A tool was added to or removed from some layer. Not filtered by scope. */
    'tools/change'(): void
  }
}

/** Where the registry offers its schemas when a prompt service is there; the registry needs no other service. */
interface SchemaSink {
  tools(provider: (scope?: ScopeKey) => readonly ToolSchema[]): () => void
}

const RUN_CODE = 'run_code'
const PARALLEL: ToolExecutionMode = Object.freeze({ kind: 'parallel' })
const EXCLUSIVE: ToolExecutionMode = Object.freeze({ kind: 'exclusive' })

/**
 * Tool registry and execution pipeline. Scoped registrations shadow globals; one visibility resolver feeds presentation,
 * lookup and dispatch.
 */
export class ToolRegistry extends Service {
  private readonly layers: ToolLayers
  private readonly listeners: ListenerTable
  private readonly pipeline: Pipeline
  private readonly log: { error: (format: string, ...args: unknown[]) => void }
  private readonly projections = new WeakMap<ToolDefinition, ToolSchema | null>()
  private readonly views = new Map<ScopeKey | undefined, { version: number; schemas: ToolSchema[] }>()

  constructor(ctx: Context) {
    super(ctx, 'tools')
    // `this.ctx` still is the caller's context, at 0.1 µs a property instead of 5: no shadow object a call, and no lookup of
    // mixed-in properties, which this service has none of.
    Object.assign(Reflect.get(this, Service.tracker) as object, { noShadow: true, associate: undefined })
    this.layers = new ToolLayers()
    this.listeners = hooksOf(ctx)
    this.log = ctx.logger('tools')
    this.pipeline = new Pipeline({
      layers: this.layers,
      listeners: this.listeners,
      reportListenerError: (event, error) => this.log.error('%s listener failed: %s', event, errorMessage(error)),
    })
    const schemas = (scope?: ScopeKey): readonly ToolSchema[] => this.schemas(scope)
    ctx.inject(['systemPrompt'], (child) => {
      const sink = child.get('systemPrompt') as SchemaSink
      sink.tools(schemas)
    })
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
    const { tools } = this.layers.open(key)
    if (tools.has(name)) {
      this.layers.reclaim(key)
      throw new Error(
        key === undefined
          ? `tool "${name}" is already registered (for a per-agent variant, register through that agent's \`agent.ctx\` instead)`
          : `tool "${name}" is already registered in this scope`,
      )
    }
    return this.ctx.fiber.effect(() => {
      // The layer may have been reclaimed and made anew since the effect was set up.
      this.layers.open(key).tools.set(name, definition)
      const undo = (): void => {
        const layer = this.layers.open(key)
        if (layer.tools.get(name) === definition) layer.tools.delete(name)
        this.layers.reclaim(key)
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
    }, `tools.register(${name})`)
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
    return this.ctx.fiber.effect(() => {
      this.layers.open(key).guards.add(entry)
      return () => {
        this.layers.open(key).guards.delete(entry)
        this.layers.reclaim(key)
      }
    }, 'tools.guard')
  }

  /**
   * Look up a tool as one scope sees it. Presenters pass the calling agent so the rendered card matches the definition
   * that actually executed.
   * @param name - the tool name as registered.
   * @param scope - the viewing scope (the agent); omitted = the global view.
   * @returns the definition the scope resolves, or undefined when none is visible.
   */
  get(name: string, scope?: ScopeKey): ToolDefinition | undefined {
    return this.layers.resolve(name, scope)
  }

  /**
   * Project visible definitions onto the allowlisted model-facing schema fields, excluding execution and presentation
   * callbacks. A tool whose parameters cannot be projected is left out, with an error in the log.
   * @param scope - the viewing scope (the agent); omitted = the global view.
   * @returns one deep-cloned schema per visible tool, in registration order.
   */
  schemas(scope?: ScopeKey): ToolSchema[] {
    const cached = this.views.get(scope)
    if (cached?.version === this.layers.version) return cached.schemas.map(cloneSchema)
    const schemas: ToolSchema[] = []
    for (const definition of this.layers.view(scope).values()) {
      const schema = this.projection(definition)
      if (schema !== null) schemas.push(schema)
    }
    if (scope === undefined) this.views.set(scope, { version: this.layers.version, schemas })
    return schemas.map(cloneSchema)
  }

  /**
   * Classify a pending call through the caller's visible tool definition. Only an exact `true` is parallel; unknown,
   * hidden, undeclared, invalid, or throwing classifiers are exclusive.
   * @param exec - call name, parsed arguments, and optional agent scope.
   * @returns the fail-closed scheduling mode.
   */
  executionMode(exec: Pick<ToolExecutionInput, 'name' | 'arguments' | 'agent'>): ToolExecutionMode {
    const definition = this.layers.resolve(exec.name, exec.agent)
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

  private projection(definition: ToolDefinition): ToolSchema | null {
    const known = this.projections.get(definition)
    if (known !== undefined) return known
    let schema: ToolSchema | null = null
    try {
      const { name, description, parameters } = definition
      schema = snapshotJson({ name, description, parameters }) as unknown as ToolSchema
    } catch (error) {
      const { name } = definition
      this.log.error(
        'tool "%s" parameters must be lossless JSON before schema projection: %s; it is hidden from models',
        name,
        errorMessage(error),
      )
    }
    this.projections.set(definition, schema)
    return schema
  }

  /** Tells every listener; returns the first failure, if any. */
  private changed(): { error: unknown } | undefined {
    this.layers.version++
    let first: { error: unknown } | undefined
    const report = (error: unknown): void => {
      first ??= { error }
      this.log.error('tools/change listener failed: %s', errorMessage(error))
    }
    emitContained(this.listeners['tools/change'], undefined, [], report, { unfiltered: true })
    return first
  }
}

export default ToolRegistry

function assertRegistrable(definition: ToolDefinition): void {
  const { name, output, timeoutMs } = definition
  const presentationMeta = (output as { presentationMeta?: unknown } | undefined)?.presentationMeta
  if (
    typeof output !== 'object' ||
    output === null ||
    typeof output.render !== 'function' ||
    (presentationMeta !== undefined && typeof presentationMeta !== 'function')
  ) {
    throw new TypeError(`tool "${name}" must declare output { schema, render, presentationMeta? }`)
  }
  assertSupportedJsonSchema(output.schema)
  if (timeoutMs !== undefined && (!Number.isFinite(timeoutMs) || timeoutMs <= 0)) {
    throw new TypeError(`tool "${name}" timeoutMs must be a positive finite number`)
  }
  if (name === RUN_CODE) {
    throw new Error(
      `tool name "${RUN_CODE}" is reserved for the Code Mode presentation transport and cannot be registered or shadowed`,
    )
  }
  if (typeof name !== 'string' || name === '') {
    throw new TypeError(`a tool needs a non-empty string as name (got ${JSON.stringify(name) ?? typeof name})`)
  }
  if (typeof definition.execute !== 'function') {
    throw new TypeError(`tool "${name}" needs an execute function (got ${typeof definition.execute})`)
  }
}

function cloneSchema(schema: ToolSchema): ToolSchema {
  return cloneJson(schema as unknown as Json) as ToolSchema
}

/** A mutable copy of JSON that is known to be plain. */
function cloneJson(value: Json): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(cloneJson)
  const copy: Record<string, unknown> = {}
  for (const [key, each] of Object.entries(value)) {
    if (key === '__proto__')
      Object.defineProperty(copy, key, { value: cloneJson(each), enumerable: true, writable: true, configurable: true })
    else copy[key] = cloneJson(each)
  }
  return copy
}
