// Public surface of @deepseek-ai/dsh-loader. Anything added here is public.
export { boot } from './boot.ts'
export { compose, defaultHome } from './compose.ts'
export { dump } from './dump.ts'
export { LoaderError, type LoaderErrorCode } from './errors.ts'
export { Loader } from './loader.ts'
export { problemLine } from './mount.ts'
export { prepareFiles } from './prepared.ts'
export type * from './types.ts'
