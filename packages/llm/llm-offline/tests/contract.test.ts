import type { LlmRequest } from '@deepseek-ai/dsh-llm'
import { adapterContract } from '../../llm/tests/adapter-contract.ts'
import { offlineAdapter } from '../src/adapter.ts'

function asking(text: string) {
  return (signal: AbortSignal): LlmRequest => ({
    provider: 'offline',
    model: 'offline',
    system: '',
    tools: [
      {
        name: 'greet',
        description: 'greets',
        parameters: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      },
    ],
    messages: [{ role: 'user', content: [{ type: 'text', text }] }],
    signal,
  })
}

adapterContract('offline', async () => ({
  adapter: offlineAdapter(0),
  text: asking('hello'),
  call: asking('Use the greet tool to greet Ada.'),
  slow: asking('hello'),
  close: async () => {},
}))
