// The plugin row: registers provider `offline` with its one model. What the model answers is in reply.ts.
import type { Context } from '@deepseek-ai/cordis'
import { offlineAdapter } from './adapter.ts'

export interface OfflineConfig {
  /** Pause between streamed pieces, in milliseconds. Default 0. */
  delayMs?: number
}

export const name = 'llm-offline'
export const inject = ['llm']

export interface ConfigIssue {
  readonly message: string
  readonly path?: readonly PropertyKey[]
}
export type ValidatedConfig = { readonly value: OfflineConfig } | { readonly issues: readonly ConfigIssue[] }

/** A Standard Schema. */
export const Config = {
  '~standard': { version: 1, vendor: '@deepseek-ai/dsh-llm-offline', validate },
} as const

function validate(value: unknown): ValidatedConfig {
  if (value === undefined || value === null) return { value: {} }
  if (typeof value !== 'object' || Array.isArray(value)) {
    return { issues: [{ message: `the llm-offline config must be an object, got ${JSON.stringify(value)}` }] }
  }
  const issues: ConfigIssue[] = []
  const config: OfflineConfig = {}
  for (const [field, given] of Object.entries(value)) {
    if (field !== 'delayMs') issues.push({ path: [field], message: `unknown field "${field}"; known: delayMs` })
    else if (typeof given === 'number' && given >= 0 && given <= 60_000) config.delayMs = given
    else if (given !== undefined && given !== null) {
      issues.push({ path: [field], message: `"delayMs" must be between 0 and 60000, got ${JSON.stringify(given)}` })
    }
  }
  return issues.length > 0 ? { issues } : { value: config }
}

export const apply = (ctx: Context, config: OfflineConfig = {}): void => {
  ctx.llm.register(offlineAdapter(config.delayMs ?? 0))
}
