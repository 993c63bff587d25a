// `ctx.llm`: the table of model adapters, the choice of a model, and one guarded streaming request. Speaks no protocol itself.
import { Service, emitContained, errorMessage, hooksOf, type Context } from '@deepseek-ai/cordis'
import { llmConfig, type LlmConfig } from './config.ts'
import { LlmError, failureChunk } from './errors.ts'
import { guardedStream, type StopStream } from './guarded-stream.ts'
import { defaultModel, resolveModel, unknownProvider } from './resolve.ts'
import type {
  LlmAdapter,
  LlmChunk,
  LlmProviderSettings,
  LlmProviderStatus,
  LlmRequest,
  ModelInput,
  ModelRef,
} from './types.ts'

declare module '@deepseek-ai/cordis' {
  interface Context {
    llm: Llm
  }
  interface Events {
    /** Adapters or their settings have changed; ask `status()` again. */
    'llm/changed'(): void
  }
}

interface Registration {
  readonly adapter: LlmAdapter
  readonly running: Set<StopStream>
}

const PROVIDER_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/

export class Llm extends Service {
  static Config = llmConfig
  private readonly registrations = new Map<string, Registration>()
  private readonly configuredDefault: string | undefined
  private readonly changed: () => void

  constructor(ctx: Context, config: LlmConfig = {}) {
    super(ctx, 'llm')
    this.configuredDefault = config.default?.trim() || undefined
    const hooks = hooksOf(ctx)
    this.changed = () =>
      emitContained(hooks['llm/changed'], undefined, [], (error) =>
        ctx.logger('llm').warn('a listener of llm/changed failed: %s', errorMessage(error)),
      )
  }

  /**
   * Adds a provider until the returned function is called or the calling fiber ends; running streams then end with `NO_ADAPTER`.
   * Throws `DUPLICATE_PROVIDER`, and `INVALID_PROVIDER` for a name that `provider/model` could not carry.
   */
  register(adapter: LlmAdapter): () => void {
    const { provider } = adapter
    if (!PROVIDER_NAME.test(provider)) {
      throw new LlmError(
        `"${provider}" cannot name a provider: use letters, digits, ".", "_" and "-", starting with a letter or digit`,
        'INVALID_PROVIDER',
      )
    }
    if (this.registrations.has(provider)) {
      throw new LlmError(`a model provider "${provider}" is already registered`, 'DUPLICATE_PROVIDER')
    }
    const { registrations, changed } = this
    const dispose = this.ctx.effect(() => {
      const registration: Registration = { adapter, running: new Set() }
      registrations.set(provider, registration)
      changed()
      return () => {
        registrations.delete(provider)
        for (const stop of registration.running) {
          stop(failureChunk('NO_ADAPTER', `The provider "${provider}" was removed while it answered; try again.`))
        }
        changed()
      }
    }, `llm.register(${provider})`)
    return () => void dispose()
  }

  /** Every provider in registration order. Holds no secret. */
  status(): LlmProviderStatus[] {
    return Array.from(this.registrations.values(), ({ adapter }) => {
      try {
        return adapter.status()
      } catch (error) {
        const remedy = `Its status cannot be read: ${errorMessage(error)}`
        return {
          provider: adapter.provider,
          label: adapter.provider,
          configured: false,
          remedy,
          models: [],
          configurable: false,
        }
      }
    })
  }

  /** What a model reads: what its provider says, otherwise text alone. Does not throw. */
  inputOf({ provider, model }: ModelRef): readonly ModelInput[] {
    const adapter = this.registrations.get(provider)?.adapter
    try {
      const listed = adapter?.status().models.find(({ id }) => id === model)
      return adapter?.inputOf?.(model) ?? listed?.input ?? ['text']
    } catch {
      return ['text'] // an adapter whose status cannot be read says so in `status()`
    }
  }

  /**
   * The model that `ref` means: `provider/model`, a bare listed model id, or a bare provider name (its first model). Models
   * that a known provider does not list pass through as `provider/anything`. Omitted: the configured default, else the first
   * provider that is ready, else `offline`. Throws `UNKNOWN_MODEL` or `NO_ADAPTER`.
   */
  resolve(ref?: string | ModelRef): ModelRef {
    const providers = this.status()
    if (ref !== undefined) return resolveModel(ref, providers)
    if (this.configuredDefault === undefined) return defaultModel(providers)
    try {
      return resolveModel(this.configuredDefault, providers)
    } catch (error) {
      if (!(error instanceof LlmError)) throw error
      throw new LlmError(`the "default" of the llm config cannot be used: ${error.message}`, error.code, {
        cause: error,
      })
    }
  }

  /**
   * One request. The stream never throws; it ends with exactly one `finish` or `error` chunk, directly after `usage` when there is
   * one, and ends with `ABORTED` soon after `request.signal` fires even when the adapter hangs.
   */
  stream(request: LlmRequest): AsyncIterable<LlmChunk> {
    const registration = this.registrations.get(request.provider)
    if (registration === undefined) return single(failureChunk('NO_ADAPTER', this.missing(request.provider)))
    return guardedStream(registration.adapter, request, registration.running)
  }

  /**
   * Stores settings of a provider durably; they apply from its next request on. Throws `NO_ADAPTER`, `NOT_CONFIGURABLE`, or what
   * the adapter throws.
   */
  async configure(provider: string, settings: LlmProviderSettings): Promise<void> {
    const { changed } = this
    const adapter = this.registrations.get(provider)?.adapter
    if (adapter === undefined) throw unknownProvider(provider, this.status())
    if (adapter.configure === undefined) {
      throw new LlmError(`the provider "${provider}" has no settings to store`, 'NOT_CONFIGURABLE')
    }
    await adapter.configure(settings)
    changed()
  }

  private missing(provider: string): string {
    return unknownProvider(provider, this.status()).message
  }
}

async function* single(chunk: LlmChunk): AsyncGenerator<LlmChunk, void, void> {
  yield chunk
}
