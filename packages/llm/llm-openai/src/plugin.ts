// The plugin row: registers one OpenAI-compatible provider. Several rows make several providers.
import type { Context } from '@deepseek-ai/cordis'
import { openAiAdapter } from './adapter.ts'
import { resolveConfig, type OpenAiConfig } from './config.ts'

export const name = 'llm-openai'
export const inject = ['llm']

export const apply = (ctx: Context, config: OpenAiConfig): void => {
  ctx.llm.register(openAiAdapter(resolveConfig(config), process.env))
}
