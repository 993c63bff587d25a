// How a scope shows its tools to a model: which mode is in force, the text for programs, and the tool that runs them.
import { HarnessError, type Context, type ScopeKey } from '@deepseek-ai/cordis'
import type { ResolvedConfig } from '../config.ts'
import type { Call } from '../execution.ts'
import type { ToolLayers } from '../layers.ts'
import { failure } from '../outcome.ts'
import { RUN_CODE } from '../registration.ts'
import type { ToolDefinition, ToolFailure, ToolMode } from '../types.ts'
import type { BridgeHost } from './bridge.ts'
import { runCodeTool } from './run-code.ts'
import type { CodeRunner } from './runner.ts'
import { CODE_ONLY_TEXT, sdkText } from './sdk.ts'

export class CodeMode {
  private readonly root: Context
  private readonly config: ResolvedConfig
  private readonly layers: ToolLayers
  private readonly runCode: ToolDefinition
  /** SDK texts by scope, each with the version of the tool tables it describes. */
  private readonly texts = new WeakMap<ScopeKey, { version: number; text: string }>()

  constructor(ctx: Context, config: ResolvedConfig, layers: ToolLayers, host: Omit<BridgeHost, 'maxParallelSubCalls'>) {
    this.root = ctx.root
    this.config = config
    this.layers = layers
    const { maxParallelSubCalls, maxProgramOutputBytes } = config
    this.runCode = runCodeTool({
      ...host,
      maxParallelSubCalls,
      maxProgramOutputBytes,
      runtime: () => this.runtime(RUN_CODE),
      names: (exec) => [...layers.view(exec.agent).keys()],
    })
  }

  mode(scope: ScopeKey | undefined): ToolMode {
    return this.layers.mode(scope) ?? this.config.mode
  }

  /** `run_code` where the scope shows code. */
  tool(scope: ScopeKey | undefined): ToolDefinition | undefined {
    return this.mode(scope) === 'native' ? undefined : this.runCode
  }

  /** The prompt section for scopes that show nothing but code; empty for others. */
  onlyText(scope: ScopeKey | undefined): string {
    return this.mode(scope) === 'code' ? CODE_ONLY_TEXT : ''
  }

  /** The prompt section that describes the tools to programs; empty in mode `native`. Throws without a usable runtime. */
  sdk(scope: ScopeKey | undefined): string {
    const mode = this.mode(scope)
    if (mode === 'native') return ''
    this.runtime(`mode "${mode}"`)
    const { version } = this.layers
    const key = scope ?? this
    let known = this.texts.get(key)
    if (known?.version !== version) {
      this.texts.set(key, (known = { version, text: sdkText(this.layers.view(scope).values()) }))
    }
    return known.text
  }

  /** In mode `code` a model calls `run_code` alone; its programs call the rest. */
  refuseDirect(call: Call): ToolFailure | undefined {
    if (call.parent !== undefined || call.name === RUN_CODE || this.mode(call.agent) !== 'code') return undefined
    if (this.layers.resolve(call.name, call.agent) === undefined) return undefined
    const message = `unknown tool "${call.name}": only \`run_code\` is callable directly — call \`${call.name}\` from inside a \`run_code\` program instead`
    return failure('UNKNOWN_TOOL', message, { name: 'ToolNotFoundError' })
  }

  /** Fails where code is asked for, not at load: the runtime may come later, and go. */
  private runtime(who: string): CodeRunner {
    const runtime = this.root.get('codeRuntime') as CodeRunner | undefined
    if (runtime === undefined) {
      throw new HarnessError(
        `dsh-tools: ${who} requires a code runtime — add a plugin that provides ctx.codeRuntime, such as @deepseek-ai/dsh-code-runtime-quickjs, or choose mode "native"`,
        'CODE_RUNTIME_MISSING',
      )
    }
    if (runtime.language !== 'typescript') {
      throw new HarnessError(
        `dsh-tools: no SDK renderer registered for runtime language "${runtime.language}" (known: "typescript")`,
        'CODE_RUNTIME_UNSUPPORTED',
      )
    }
    return runtime
  }
}
