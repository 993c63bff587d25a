// One call: its protected identity, and what each kind of reader may see and do with it. Knows nothing of stages or policies.
import type { ScopeKey } from '@deepseek-ai/cordis'
import type { BodyRun } from './body-run.ts'
import type { Json } from './presentation.ts'
import type { JsonSchema } from './schema/types.ts'
import type {
  ContextMessage,
  ExecutionToken,
  ToolAgent,
  ToolBodyExecution,
  ToolDefinition,
  ToolExecution,
  ToolProgress,
  WrappedExecution,
} from './types.ts'

export type CallingAgent = (ToolAgent & ScopeKey) | undefined

interface Identity {
  readonly callId: string
  readonly name: string
  readonly arguments: Json
  readonly agent: CallingAgent
  readonly parent: ExecutionToken | undefined
}

/** The internal record of a call. Listeners and bodies get one of the views below, never this. */
export class Call implements Identity {
  readonly callId: string
  readonly name: string
  readonly arguments: Json
  readonly agent: CallingAgent
  readonly parent: ExecutionToken | undefined
  readonly token: ExecutionToken = Symbol('tool call')
  /** The caller's cancellation. */
  readonly callerSignal: AbortSignal
  /** What a wrapper put in its place; the body still hears the caller. */
  wrapperSignal: AbortSignal
  /** The newest run of the body; undefined until it has been entered. */
  run: BodyRun | undefined
  /** What that run executes: the call keeps to it when the tool is unregistered meanwhile. */
  definition: ToolDefinition | undefined
  /** The schema that the arguments are known to match; it need not be that of the definition that runs in the end. */
  matched: JsonSchema | undefined
  settled = false
  private seen: ToolExecution | undefined
  private readonly onReport: ((progress: ToolProgress) => void) | undefined

  constructor(identity: Identity, signal: AbortSignal, onReport: ((progress: ToolProgress) => void) | undefined) {
    this.callId = identity.callId
    this.name = identity.name
    this.arguments = identity.arguments
    this.agent = identity.agent
    this.parent = identity.parent
    this.callerSignal = signal
    this.wrapperSignal = signal
    this.onReport = onReport
  }

  /** What guards and listeners see, made when the first of them asks. */
  get view(): ToolExecution {
    return (this.seen ??= new ExecutionView(this))
  }

  /** True when the caller or a wrapper has cancelled. */
  get cancelled(): boolean {
    return this.callerSignal.aborted || this.wrapperSignal.aborted
  }

  report(progress: ToolProgress): void {
    if (!this.settled) this.onReport?.(progress)
  }
}

/** The fields that every view shares. */
abstract class View {
  readonly callId: string
  readonly name: string
  readonly arguments: Json
  readonly agent: CallingAgent
  readonly token: ExecutionToken
  readonly parent: ExecutionToken | undefined
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
    this.callId = call.callId
    this.name = call.name
    this.arguments = call.arguments
    this.agent = call.agent
    this.token = call.token
    this.parent = call.parent
  }

  report(progress: ToolProgress): void {
    this.#call.report(progress)
  }
}

/** What guards and listeners see. Frozen, like every view, so that identity holds against any of them. */
class ExecutionView extends View implements ToolExecution {
  readonly #caller: AbortSignal

  constructor(call: Call) {
    super(call)
    this.#caller = call.callerSignal
    Object.freeze(this)
  }

  get signal(): AbortSignal {
    return this.#caller
  }
}

/** What a `tools/execute` wrapper sees: the same identity with a signal it may replace. */
export class WrapperView extends View implements WrappedExecution {
  readonly #wrapped: Call

  constructor(call: Call) {
    super(call)
    this.#wrapped = call
    Object.freeze(this)
  }

  get signal(): AbortSignal {
    return this.#wrapped.wrapperSignal
  }

  set signal(signal: AbortSignal) {
    if (!(signal instanceof AbortSignal)) {
      const got = signal === null ? 'null' : typeof signal
      throw new TypeError(`exec.signal may be replaced by another AbortSignal, not removed (got ${got})`)
    }
    this.#wrapped.wrapperSignal = signal
  }
}

/** What the body sees in one of its runs. */
export class BodyView extends View implements ToolBodyExecution {
  readonly #run: BodyRun

  constructor(call: Call, run: BodyRun) {
    super(call)
    this.#run = run
    Object.freeze(this)
  }

  /** True for the registry's own view of a call with these arguments; nobody else can make one. */
  static carries(exec: unknown, args: unknown): boolean {
    return typeof exec === 'object' && exec !== null && #run in exec && exec.arguments === args
  }

  /** True when the arguments of the view were checked against this schema as they came in. */
  static matches(exec: ToolBodyExecution, schema: JsonSchema): boolean {
    return #run in exec && exec.#run.hasMatched(schema)
  }

  get signal(): AbortSignal {
    return this.#run.signal
  }

  deferContext(message: ContextMessage): void {
    this.#run.deferContext(message)
  }

  concludeTurn(): void {
    this.#run.concludesTurn = true
  }
}

// Methods and accessors live on the prototypes: freezing them keeps a listener from changing what every later call sees.
for (const view of [View, ExecutionView, WrapperView, BodyView]) Object.freeze(view.prototype)
