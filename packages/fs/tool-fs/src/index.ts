// Public surface of @deepseek-ai/dsh-tool-fs. Anything added here is public.
export { Config, apply, fsTools, inject, name, type FsTools } from './plugin.ts'
export type { ToolFsConfig } from './config.ts'
export { hostEvents, type FsEvents } from './events.ts'
export type { ChangeValue, ListValue, ReadValue } from './schema.ts'
export type { FsToolServices } from './services.ts'
