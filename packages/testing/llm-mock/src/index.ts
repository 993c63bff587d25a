// Public surface of @deepseek-ai/dsh-llm-mock. Anything added here is public.
export { startMockLlm, type MockLlm, type MockLlmOptions, type MockRequest } from './server.ts'
export { followTools } from './follow-tools.ts'
export type { MockAnswer, MockBehaviour, MockScript, MockToolCall, MockUsage } from './behaviour.ts'
