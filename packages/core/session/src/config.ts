// The config of `ctx.sessions` and its validation.
import { isAbsolute } from 'node:path'
import type { FsyncPolicy } from './log-file.ts'

export interface SessionsConfig {
  /** Absolute folder of the logs, one `<id>.jsonl` a session. Created when it is not there. */
  dir: string
  /** When a log is forced onto the device: after each write, on `flush()` and `close()`, or never. Default `batch`. */
  fsync?: FsyncPolicy
}

export interface ConfigIssue {
  readonly message: string
  readonly path?: readonly PropertyKey[]
}
export type ValidatedConfig = { readonly value: SessionsConfig } | { readonly issues: readonly ConfigIssue[] }

/** A Standard Schema. */
export const sessionsConfig = {
  '~standard': { version: 1, vendor: '@deepseek-ai/dsh-session', validate },
} as const

const FIELDS = ['dir', 'fsync']
const FSYNC: readonly unknown[] = ['always', 'batch', 'never'] satisfies FsyncPolicy[]

function validate(value: unknown): ValidatedConfig {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { issues: [{ message: `the sessions config must be an object with "dir", got ${show(value)}` }] }
  }
  const { dir, fsync } = value as Partial<Record<string, unknown>>
  const issues: ConfigIssue[] = Object.keys(value)
    .filter((field) => !FIELDS.includes(field))
    .map((field) => ({ path: [field], message: `unknown field "${field}"; known: ${FIELDS.join(', ')}` }))
  if (typeof dir !== 'string' || !isAbsolute(dir)) {
    issues.push({ path: ['dir'], message: `"dir" must be the absolute path of a folder, got ${show(dir)}` })
  }
  if (fsync !== undefined && !FSYNC.includes(fsync)) {
    issues.push({ path: ['fsync'], message: `"fsync" must be "always", "batch" or "never", got ${show(fsync)}` })
  }
  if (issues.length > 0) return { issues }
  return { value: value as SessionsConfig }
}

function show(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value)
}
