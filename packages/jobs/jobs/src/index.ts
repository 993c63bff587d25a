// Public surface of @deepseek-ai/dsh-jobs. Anything added here is public.
export { Jobs, Jobs as default } from './jobs.ts'
export { jobsConfig } from './config.ts'
export { JobsError, type JobsErrorCode } from './errors.ts'
export { jobStatus, survivorLines } from './text.ts'
export type * from './events.ts'
export type * from './types.ts'
