// Public surface of @deepseek-ai/dsh-llm-openai. Anything added here is public.
export { apply, inject, name } from './plugin.ts'
export { Config, type ModelEntry, type OpenAiConfig } from './config.ts'
export { ProviderSettingsError } from './errors.ts'
