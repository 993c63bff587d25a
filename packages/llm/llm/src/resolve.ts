// Turns what a person or a config wrote into a model in use. Pure: works on the statuses it is given.
import { LlmError } from './errors.ts'
import { nearestName } from './nearest.ts'
import type { LlmProviderStatus, ModelRef } from './types.ts'

/** The built-in stand-in: chosen only when nothing else is ready. */
export const OFFLINE_PROVIDER = 'offline'

/**
 * `provider/model` (the model may contain slashes and need not be listed), a bare listed model id, or a bare provider name
 * (its first model). Throws `NO_ADAPTER` or `UNKNOWN_MODEL`, naming what is known.
 */
export function resolveModel(ref: string | ModelRef, providers: readonly LlmProviderStatus[]): ModelRef {
  if (typeof ref !== 'string') return resolveParts(ref.provider, ref.model, providers)
  const written = ref.trim()
  const slash = written.indexOf('/')
  const prefix = slash === -1 ? written : written.slice(0, slash)
  const named = providers.find((each) => each.provider === prefix)
  if (named !== undefined) {
    return resolveParts(prefix, slash === -1 ? undefined : written.slice(slash + 1), providers)
  }
  const offers = providers.filter((each) => each.models.some((model) => model.id === written))
  const [only, ...others] = offers
  if (only !== undefined && others.length === 0) return { provider: only.provider, model: written }
  if (only !== undefined) {
    const candidates = offers.map((each) => `${each.provider}/${written}`).join(' or ')
    throw new LlmError(`model "${written}" is offered by several providers; write ${candidates}`, 'UNKNOWN_MODEL')
  }
  if (slash > 0) throw unknownProvider(prefix, providers)
  throw unknownModel(written, providers)
}

/** The default: the first provider that is ready and is not the built-in stand-in, else the stand-in. */
export function defaultModel(providers: readonly LlmProviderStatus[]): ModelRef {
  const ready = providers.filter((each) => each.configured && each.models.length > 0)
  const chosen =
    ready.find((each) => each.provider !== OFFLINE_PROVIDER) ?? ready.find((each) => each.provider === OFFLINE_PROVIDER)
  const model = chosen?.models[0]
  if (chosen !== undefined && model !== undefined) return { provider: chosen.provider, model: model.id }
  if (providers.length === 0) throw new LlmError('no model provider is loaded; add an llm-* row', 'NO_ADAPTER')
  const reasons = providers.map((each) => `${each.provider}: ${each.remedy ?? 'lists no model'}`).join('; ')
  throw new LlmError(`no model provider is ready (${reasons})`, 'NO_ADAPTER')
}

function resolveParts(provider: string, model: string | undefined, providers: readonly LlmProviderStatus[]): ModelRef {
  const status = providers.find((each) => each.provider === provider)
  if (status === undefined) throw unknownProvider(provider, providers)
  const chosen = model ?? status.models[0]?.id
  if (chosen !== undefined && chosen.trim() !== '') return { provider, model: chosen }
  throw new LlmError(
    `provider "${provider}" needs a model: write ${provider}/<model>${knownModels([status])}`,
    'UNKNOWN_MODEL',
  )
}

/** `no model provider "opnai", did you mean "openai"?; known: deepseek, openai` */
export function unknownProvider(provider: string, providers: readonly LlmProviderStatus[]): LlmError {
  const names = providers.map((each) => each.provider)
  const known = names.length === 0 ? 'none is loaded' : `known: ${names.join(', ')}`
  return new LlmError(`no model provider "${provider}"${suggest(provider, names)}; ${known}`, 'NO_ADAPTER')
}

function unknownModel(written: string, providers: readonly LlmProviderStatus[]): LlmError {
  if (providers.length === 0) return unknownProvider(written, providers)
  const names = providers.flatMap((each) => [each.provider, ...each.models.map((model) => model.id)])
  const message = `no model "${written}"${suggest(written, names)}${knownModels(providers)}`
  return new LlmError(`${message}; an unlisted model is written provider/model`, 'UNKNOWN_MODEL')
}

function suggest(written: string, names: readonly string[]): string {
  const nearest = nearestName(written, names)
  return nearest === undefined ? '' : `, did you mean "${nearest}"?`
}

function knownModels(providers: readonly LlmProviderStatus[]): string {
  const known = providers.flatMap((each) => each.models.map((model) => `${each.provider}/${model.id}`))
  return known.length === 0 ? '' : `; known: ${known.join(', ')}`
}
