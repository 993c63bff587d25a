// The config of one provider row: its shape, its validation, its defaults.
import type { ModelInput } from '@deepseek-ai/dsh-llm'

export interface ModelEntry {
  id: string
  name?: string
  /** Tokens. */
  contextWindow?: number
  /** What it reads. Default: `input` of the provider. */
  input?: ModelInput[]
}

export interface OpenAiConfig {
  /** Name in `provider/model`. `deepseek` and `openai` know their own address, variables and models. */
  provider: string
  /** Shown to people. Default: the provider. */
  label?: string
  baseURL?: string
  apiKey?: string
  /** Environment variable of the key. Default `<PROVIDER>_API_KEY`. */
  apiKeyEnv?: string
  /** Environment variable of the address. Default `<PROVIDER>_BASE_URL`. */
  baseURLEnv?: string
  /** Listed models, the preferred one first; others pass through. */
  models?: (string | ModelEntry)[]
  /** Folder of `providers.json`, where settings of people are stored. Omitted: nothing is stored. */
  home?: string
  /** False for servers that take requests without a key. Default: true, but false for a server on this machine, such as Ollama. */
  requireKey?: boolean
  /** Longest silence within an answer, in milliseconds, at most 300000. Default 300000. */
  timeoutMs?: number
  /** Longest wait for the start of an answer, in milliseconds, at most 300000. Default 120000. */
  connectTimeoutMs?: number
  /** What models read that do not say so themselves, unlisted ones among them. Default: text alone. */
  input?: ModelInput[]
  /** Send reasoning back with assistant turns that called tools. Default: only for `deepseek`, which asks for it. */
  echoReasoning?: boolean
}

/** A config with every default applied. */
export interface ProviderSpec {
  readonly provider: string
  readonly label: string
  readonly baseURL: string | undefined
  readonly defaultBaseURL: string | undefined
  readonly apiKey: string | undefined
  readonly apiKeyEnv: string
  readonly baseURLEnv: string
  readonly models: readonly ModelEntry[]
  readonly home: string | undefined
  readonly requireKey: boolean | undefined
  readonly timeoutMs: number
  readonly connectTimeoutMs: number
  readonly echoReasoning: boolean
  readonly input: readonly ModelInput[]
  /** OpenAI itself wants `max_completion_tokens` and takes a cache key; other servers may refuse both. */
  readonly isOpenAi: boolean
}

interface Preset {
  readonly label: string
  readonly baseURL: string
  readonly models: readonly ModelEntry[]
}

const PRESETS = new Map<string, Preset>([
  [
    'deepseek',
    {
      label: 'DeepSeek',
      baseURL: 'https://api.deepseek.com',
      models: [
        { id: 'deepseek-v4-flash', name: 'DeepSeek V4 Flash', contextWindow: 1_000_000 },
        { id: 'deepseek-v4-pro', name: 'DeepSeek V4 Pro', contextWindow: 1_000_000 },
      ],
    },
  ],
  [
    'openai',
    {
      label: 'OpenAI',
      baseURL: 'https://api.openai.com/v1',
      models: [
        { id: 'gpt-5', name: 'GPT-5', contextWindow: 400_000, input: ['text', 'image'] },
        { id: 'gpt-5-mini', name: 'GPT-5 mini', contextWindow: 400_000, input: ['text', 'image'] },
      ],
    },
  ],
])

/** Node's HTTP client ends a silent connection after that time anyway. */
const LONGEST_WAIT_MS = 300_000

export function resolveConfig(config: OpenAiConfig): ProviderSpec {
  const { provider } = config
  const preset = PRESETS.get(provider)
  const variable = provider.toUpperCase().replace(/[^A-Z0-9]+/g, '_')
  const models = config.models?.map((model) => (typeof model === 'string' ? { id: model } : model))
  return {
    provider,
    label: config.label ?? preset?.label ?? provider,
    // Interpolation of an unset variable leaves an empty text: the same as nothing.
    baseURL: blankless(config.baseURL),
    defaultBaseURL: preset?.baseURL,
    apiKey: blankless(config.apiKey),
    apiKeyEnv: blankless(config.apiKeyEnv) ?? `${variable}_API_KEY`,
    baseURLEnv: blankless(config.baseURLEnv) ?? `${variable}_BASE_URL`,
    models: models ?? preset?.models ?? [],
    home: blankless(config.home),
    requireKey: config.requireKey,
    timeoutMs: config.timeoutMs ?? LONGEST_WAIT_MS,
    connectTimeoutMs: config.connectTimeoutMs ?? 120_000,
    echoReasoning: config.echoReasoning ?? provider === 'deepseek',
    input: config.input ?? ['text'],
    isOpenAi: provider === 'openai',
  }
}

export function blankless(text: string | undefined): string | undefined {
  return text?.trim() || undefined
}

export interface ConfigIssue {
  readonly message: string
  readonly path?: readonly PropertyKey[]
}
export type ValidatedConfig = { readonly value: OpenAiConfig } | { readonly issues: readonly ConfigIssue[] }

/** A Standard Schema. */
export const Config = {
  '~standard': { version: 1, vendor: '@deepseek-ai/dsh-llm-openai', validate },
} as const

type Check = (value: unknown) => string | undefined

const text: Check = (value) => (typeof value === 'string' ? undefined : 'a string')
const flag: Check = (value) => (typeof value === 'boolean' ? undefined : 'true or false')
const wait: Check = (value) =>
  typeof value === 'number' && value > 0 && value <= LONGEST_WAIT_MS
    ? undefined
    : `above 0 and at most ${LONGEST_WAIT_MS}`
const CHECKS: Record<keyof OpenAiConfig, Check> = {
  provider: (value) => (typeof value === 'string' && value !== '' ? undefined : 'the name of the provider'),
  label: text,
  baseURL: text,
  apiKey: text,
  apiKeyEnv: text,
  baseURLEnv: text,
  models: (value) =>
    Array.isArray(value) && value.every(isModel)
      ? undefined
      : 'a list of model ids or {id, name?, contextWindow?, input?}',
  home: text,
  requireKey: flag,
  timeoutMs: wait,
  connectTimeoutMs: wait,
  echoReasoning: flag,
  input: (value) => (isInput(value) ? undefined : 'a list of "text" and "image", with "text"'),
}

function isInput(value: unknown): boolean {
  return Array.isArray(value) && value.includes('text') && value.every((each) => each === 'text' || each === 'image')
}

function isModel(value: unknown): boolean {
  if (typeof value === 'string') return value !== ''
  if (typeof value !== 'object' || value === null) return false
  const { id, name, contextWindow, input } = value as Record<string, unknown>
  return (
    typeof id === 'string' &&
    id !== '' &&
    (name === undefined || typeof name === 'string') &&
    (contextWindow === undefined || (typeof contextWindow === 'number' && contextWindow > 0)) &&
    (input === undefined || isInput(input))
  )
}

function validate(value: unknown): ValidatedConfig {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { issues: [{ message: `the llm-openai config must be an object with "provider", got ${shown('', value)}` }] }
  }
  const given = new Map(Object.entries(value).filter(([, each]) => each !== undefined && each !== null))
  const issues: ConfigIssue[] = []
  if (!given.has('provider'))
    issues.push({ path: ['provider'], message: '"provider" is missing, e.g. provider: openai' })
  for (const [field, each] of given) {
    if (!Object.hasOwn(CHECKS, field)) {
      issues.push({ path: [field], message: `unknown field "${field}"; known: ${Object.keys(CHECKS).join(', ')}` })
      continue
    }
    const wanted = CHECKS[field as keyof OpenAiConfig](each)
    if (wanted !== undefined)
      issues.push({ path: [field], message: `"${field}" must be ${wanted}, got ${shown(field, each)}` })
  }
  return issues.length > 0 ? { issues } : { value: Object.fromEntries(given) as unknown as OpenAiConfig }
}

/** Never quotes what may be a key. */
function shown(field: string, value: unknown): string {
  return field === 'apiKey' || field === '' ? `a ${value === null ? 'null' : typeof value}` : JSON.stringify(value)
}

/** What a model reads, listed or not. */
export function inputOf({ models, input }: ProviderSpec, model: string): readonly ModelInput[] {
  return models.find(({ id }) => id === model)?.input ?? input
}
