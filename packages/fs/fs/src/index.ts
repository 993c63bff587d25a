// Public surface of @deepseek-ai/dsh-fs. Anything added here is public.
export { FsError, type FsErrorCode } from './errors.ts'
export { Fs, type FsReadOptions } from './fs.ts'
export type * from './events.ts'
export type * from './types.ts'
