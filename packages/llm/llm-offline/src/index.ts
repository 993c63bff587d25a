// Public surface of @deepseek-ai/dsh-llm-offline. Anything added here is public.
export { Config, apply, inject, name, type OfflineConfig } from './plugin.ts'
