// Public surface of @deepseek-ai/dsh-session. Anything added here is public.
export { Sessions, Sessions as default } from './sessions.ts'
export { SessionError, type SessionErrorCode } from './errors.ts'
export { sessionsConfig, type ConfigIssue, type SessionsConfig, type ValidatedConfig } from './config.ts'
export { followSession } from './follow.ts'
export type { FsyncPolicy } from './log-file.ts'
export type * from './events.ts'
export type * from './types.ts'
