// What the offline model says of itself when it has nothing to do.
import type { ToolSchema } from '@deepseek-ai/dsh-tools'
import { example } from './intent.ts'

const LISTED = 8

export function introduction(tools: readonly ToolSchema[]): string {
  const self =
    'I am the built-in offline model: a small script, not a language model, that stands in while no API key is set. ' +
    'I can call tools when you write `/tool key=value` or "use the X tool …".'
  const key =
    'To work with a real model, add a key in Settings, or set DEEPSEEK_API_KEY or OPENAI_API_KEY and start again.'
  return [self, toolList(tools), key].join('\n\n')
}

function toolList(tools: readonly ToolSchema[]): string {
  if (tools.length === 0) return 'This session has no tools yet.'
  const lines = tools.slice(0, LISTED).map((tool) => `- \`${example(tool)}\``)
  if (tools.length > LISTED) lines.push(`- and ${tools.length - LISTED} more`)
  return `Tools here:\n${lines.join('\n')}`
}
