// The config of `ctx.systemPrompt` and its validation.

export interface SystemPromptConfig {
  /** The first section: says what the model is part of. Omitted: a short default; `false`: none. */
  identity?: string | false
  /** Who the model is to the people it works for; the section after the identity. Default: none. */
  persona?: string
}

export interface ConfigIssue {
  readonly message: string
  readonly path?: readonly PropertyKey[]
}
export type ValidatedConfig = { readonly value: SystemPromptConfig } | { readonly issues: readonly ConfigIssue[] }

/** A Standard Schema. */
export const systemPromptConfig = {
  '~standard': { version: 1, vendor: '@deepseek-ai/dsh-system-prompt', validate },
} as const

const FIELDS = ['identity', 'persona']

function validate(value: unknown): ValidatedConfig {
  if (value === undefined || value === null) return { value: {} }
  if (typeof value !== 'object' || Array.isArray(value)) {
    return { issues: [{ message: `the systemPrompt config must be an object, got ${JSON.stringify(value)}` }] }
  }
  const { identity, persona } = value as Partial<Record<string, unknown>>
  const issues: ConfigIssue[] = Object.keys(value)
    .filter((field) => !FIELDS.includes(field))
    .map((field) => ({ path: [field], message: `unknown field "${field}"; known: ${FIELDS.join(', ')}` }))
  if (identity !== undefined && identity !== false && typeof identity !== 'string') {
    const got = JSON.stringify(identity)
    issues.push({ path: ['identity'], message: `"identity" must be a text, or false for none, got ${got}` })
  }
  if (persona !== undefined && typeof persona !== 'string') {
    issues.push({ path: ['persona'], message: `"persona" must be a text, got ${JSON.stringify(persona)}` })
  }
  return issues.length > 0 ? { issues } : { value }
}
