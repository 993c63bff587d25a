// The config of `ctx.llm` and its validation.

export interface LlmConfig {
  /** The model of agents that choose none: `provider/model`, a model id or a provider name. Checked at first use. */
  default?: string
}

export interface ConfigIssue {
  readonly message: string
  readonly path?: readonly PropertyKey[]
}
export type ValidatedConfig = { readonly value: LlmConfig } | { readonly issues: readonly ConfigIssue[] }

/** A Standard Schema. */
export const llmConfig = {
  '~standard': { version: 1, vendor: '@deepseek-ai/dsh-llm', validate },
} as const

function validate(value: unknown): ValidatedConfig {
  if (value === undefined || value === null) return { value: {} }
  if (typeof value !== 'object' || Array.isArray(value)) {
    return { issues: [{ message: `the llm config must be an object, got ${JSON.stringify(value)}` }] }
  }
  const issues: ConfigIssue[] = []
  const config: LlmConfig = {}
  for (const [field, given] of Object.entries(value)) {
    if (field !== 'default') issues.push({ path: [field], message: `unknown field "${field}"; known: default` })
    else if (typeof given === 'string') config.default = given
    else if (given !== undefined && given !== null) {
      issues.push({
        path: [field],
        message: `"default" must be a string such as "openai/gpt-5", got ${JSON.stringify(given)}`,
      })
    }
  }
  return issues.length > 0 ? { issues } : { value: config }
}
