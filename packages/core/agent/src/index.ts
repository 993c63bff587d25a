// Public surface of @deepseek-ai/dsh-agent. Anything added here is public.
export { Agents, Agents as default } from './agents.ts'
export { AgentError, type AgentErrorCode } from './errors.ts'
export type { AgentsConfig } from './config.ts'
export type * from './types.ts'
