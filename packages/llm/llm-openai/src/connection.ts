// Where requests of a provider go and with which key: config, then environment, then what a person stored.
import { errorMessage } from '@deepseek-ai/cordis'
import type { LlmModel, LlmProviderSettings, LlmProviderStatus } from '@deepseek-ai/dsh-llm'
import { blankless, inputOf, type ModelEntry, type ProviderSpec } from './config.ts'
import { ProviderSettingsError } from './errors.ts'
import { readSettings, writeSettings, type StoredSettings } from './settings.ts'

export interface Sourced {
  readonly value: string
  /** E.g. `environment OPENAI_API_KEY`. */
  readonly source: string
}

/** Read anew for every request, so that a changed setting needs no restart. */
export interface Connection {
  readonly key: Sourced | undefined
  readonly baseURL: Sourced | undefined
  /** A model a person prefers. */
  readonly model: string | undefined
  /** Why it cannot be used; undefined when it can. */
  readonly problem:
    | { readonly code: 'MISSING_CREDENTIAL' | 'AUTH' | 'INVALID_REQUEST'; readonly message: string }
    | undefined
}

export function connectionOf(spec: ProviderSpec, env: NodeJS.ProcessEnv): Connection {
  let stored: StoredSettings = {}
  let unreadable: string | undefined
  try {
    if (spec.home !== undefined) stored = readSettings(spec.home, spec.provider)
  } catch (error) {
    unreadable = errorMessage(error)
  }
  const key = sourced(spec.apiKey, spec.apiKeyEnv, stored.apiKey, env)
  const named = sourced(spec.baseURL, spec.baseURLEnv, stored.baseURL, env)
  const standard = spec.defaultBaseURL
  const baseURL = named ?? (standard === undefined ? undefined : { value: standard, source: 'default' })
  return { key, baseURL, model: stored.model, problem: problemOf(spec, key, baseURL, unreadable) }
}

function sourced(
  configured: string | undefined,
  variable: string,
  stored: string | undefined,
  env: NodeJS.ProcessEnv,
): Sourced | undefined {
  if (configured !== undefined) return { value: configured, source: 'config' }
  const fromEnv = blankless(env[variable])
  if (fromEnv !== undefined) return { value: fromEnv, source: `environment ${variable}` }
  return stored === undefined ? undefined : { value: stored, source: 'settings' }
}

function problemOf(
  spec: ProviderSpec,
  key: Sourced | undefined,
  baseURL: Sourced | undefined,
  unreadable: string | undefined,
): Connection['problem'] {
  if (baseURL === undefined) {
    const message = unreadable ?? `Set ${spec.baseURLEnv} or the baseURL of "${spec.provider}".`
    return { code: 'INVALID_REQUEST', message }
  }
  const wrong = wrongBaseURL(baseURL.value)
  if (wrong !== undefined) {
    return { code: 'INVALID_REQUEST', message: `The base URL of "${spec.provider}" from ${baseURL.source} ${wrong}.` }
  }
  if (key === undefined) {
    // A server on this machine, such as Ollama, has no keys; asking for one would send people to the offline model.
    if (!(spec.requireKey ?? !isLoopback(baseURL.value))) return undefined
    const remedy = `Set ${spec.apiKeyEnv}${spec.home === undefined ? '' : ' or add a key in Settings'}.`
    return { code: 'MISSING_CREDENTIAL', message: unreadable ?? remedy }
  }
  if (isHeaderSafe(key.value)) return undefined
  const message = `The key of "${spec.provider}" from ${key.source} holds a blank, a line break or a letter that no key has; copy it again.`
  return { code: 'AUTH', message }
}

/** Anything else would be refused by the HTTP client with a message that quotes the whole key. */
function isHeaderSafe(key: string): boolean {
  return /^[\x21-\x7e]+$/.test(key)
}

function isLoopback(baseURL: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(baseURL).hostname)
}

function wrongBaseURL(text: string): string | undefined {
  if (!URL.canParse(text)) return 'is no URL; it looks like https://host/v1'
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must start with https:// or http://'
  return url.username !== '' || url.password !== '' ? 'must not hold a name or password; use the key' : undefined
}

/** Without query and user: they may hold secrets. */
export function shownURL(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  return `${url.protocol}//${url.host}${url.pathname}`.replace(/\/$/, '')
}

export function statusOf(spec: ProviderSpec, env: NodeJS.ProcessEnv): LlmProviderStatus {
  const { key, baseURL, model, problem } = connectionOf(spec, env)
  const shown = baseURL === undefined ? undefined : shownURL(baseURL.value)
  return {
    provider: spec.provider,
    label: spec.label,
    configured: problem === undefined,
    ...(shown === undefined ? {} : { baseURL: shown }),
    ...(key === undefined ? {} : { keySource: key.source }),
    ...(problem === undefined ? {} : { remedy: problem.message }),
    models: modelsOf(spec, model),
    configurable: spec.home !== undefined,
  }
}

function modelsOf(spec: ProviderSpec, preferred: string | undefined): LlmModel[] {
  const listed = (model: ModelEntry): LlmModel => ({
    provider: spec.provider,
    ...model,
    ...(inputOf(spec, model.id).includes('image') ? { input: ['text', 'image'] } : {}),
  })
  const models = spec.models.map(listed)
  if (preferred === undefined) return models
  const known = models.find((model) => model.id === preferred) ?? listed({ id: preferred })
  return [known, ...models.filter((model) => model.id !== preferred)]
}

/** Stores settings. Refuses a value that could never take effect, rather than letting a person wonder. */
export function store(spec: ProviderSpec, settings: LlmProviderSettings, env: NodeJS.ProcessEnv): void {
  if (spec.home === undefined) {
    throw new ProviderSettingsError(`"${spec.provider}" has no folder to store settings in`, 'SETTINGS_UNAVAILABLE')
  }
  const connection = connectionOf(spec, env)
  const next: LlmProviderSettings = { ...settings }
  for (const field of ['apiKey', 'baseURL'] as const) {
    const value = next[field]
    if (value === undefined || value === null) continue
    if (value.trim() === '') next[field] = null
    const current = field === 'apiKey' ? connection.key : connection.baseURL
    if (current === undefined || current.source === 'settings' || current.source === 'default') continue
    if (current.value !== value.trim()) {
      throw new ProviderSettingsError(
        `the ${field} of "${spec.provider}" comes from ${current.source}, which wins over stored settings; remove it there first`,
        'SETTINGS_SHADOWED',
      )
    }
    delete next[field]
  }
  if (next.model?.trim() === '') next.model = null
  check(spec, next)
  writeSettings(spec.home, spec.provider, next)
}

function check(spec: ProviderSpec, settings: LlmProviderSettings): void {
  const { apiKey, baseURL } = settings
  if (typeof apiKey === 'string' && !isHeaderSafe(apiKey.trim())) {
    throw new ProviderSettingsError(
      'the key holds a blank or a letter that no key has; copy it again',
      'SETTINGS_INVALID',
    )
  }
  const wrong = typeof baseURL === 'string' ? wrongBaseURL(baseURL.trim()) : undefined
  if (wrong !== undefined) {
    throw new ProviderSettingsError(`the base URL of "${spec.provider}" ${wrong}`, 'SETTINGS_INVALID')
  }
}
