// Public surface of @deepseek-ai/dsh-fs-local. Anything added here is public.
export { FsLocal, FsLocal as default } from './fs-local.ts'
