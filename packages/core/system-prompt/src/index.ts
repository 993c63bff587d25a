// Public surface of @deepseek-ai/dsh-system-prompt. Anything added here is public.
export { SystemPrompt, SystemPrompt as default } from './system-prompt.ts'
export { SystemPromptError, type SystemPromptErrorCode } from './errors.ts'
export { systemPromptConfig, type ConfigIssue, type SystemPromptConfig, type ValidatedConfig } from './config.ts'
export type * from './types.ts'
