// Public surface of @deepseek-ai/dsh-server. Anything added here is public.
export { Server, default } from './server.ts'
export type { ServerConfig } from './config.ts'
export { ServerError, type ServerErrorCode } from './errors.ts'
export type * from './protocol.ts'
