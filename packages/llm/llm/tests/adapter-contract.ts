// The contract every model adapter keeps, run through `ctx.llm` and directly. An adapter's tests call it with ways to make it answer.
import { describe, expect, it } from 'vitest'
import type { LlmAdapter, LlmChunk, LlmRequest } from '@deepseek-ai/dsh-llm'

export interface AdapterUnderTest {
  readonly adapter: LlmAdapter
  /** A request that is answered with text. */
  text(signal: AbortSignal): LlmRequest
  /** A request that is answered with at least one call. */
  call(signal: AbortSignal): LlmRequest
  /** A request that is still being answered when the first chunk has come, or before any. */
  slow(signal: AbortSignal): LlmRequest
  close(): Promise<void>
}

export function adapterContract(name: string, start: () => Promise<AdapterUnderTest>): void {
  async function run(pick: 'text' | 'call'): Promise<LlmChunk[]> {
    const under = await start()
    try {
      return await drain(under.adapter.stream(under[pick](new AbortController().signal)))
    } finally {
      await under.close()
    }
  }

  describe(`the adapter contract: ${name}`, () => {
    it('streams text and ends with one finish', async () => {
      const chunks = await run('text')
      expect(chunks.some((chunk) => chunk.type === 'text' && chunk.text !== '')).toBe(true)
      expect(chunks.at(-1)).toEqual({ type: 'finish', reason: 'stop' })
      expect(chunks.filter(isTerminal)).toHaveLength(1)
      expect(chunks.filter((chunk) => chunk.type === 'usage').length).toBeLessThanOrEqual(1)
    })

    it('streams calls with an id and a name first and JSON in the end', async () => {
      const chunks = await run('call')
      const seen = new Map<number, string>()
      for (const chunk of chunks) {
        if (chunk.type !== 'tool-call') continue
        if (!seen.has(chunk.index)) expect(chunk).toMatchObject({ id: expect.any(String), name: expect.any(String) })
        seen.set(chunk.index, (seen.get(chunk.index) ?? '') + chunk.argumentsDelta)
      }
      expect(seen.size).toBeGreaterThan(0)
      for (const text of seen.values()) expect(() => JSON.parse(text) as unknown).not.toThrow()
      expect(chunks.at(-1)).toEqual({ type: 'finish', reason: 'tool-calls' })
    })

    it('ends with ABORTED soon after the signal', async () => {
      const under = await start()
      const controller = new AbortController()
      const stream = under.adapter.stream(under.slow(controller.signal))[Symbol.asyncIterator]()
      const first = stream.next()
      setImmediate(() => controller.abort())
      const chunks: LlmChunk[] = []
      for (let step = await first; step.done !== true; step = await stream.next()) chunks.push(step.value)
      expect(chunks.at(-1)).toMatchObject({ type: 'error', failure: { code: 'ABORTED' } })
      await under.close()
    })

    it('answers many requests at once without mixing them', async () => {
      const under = await start()
      const requests = Array.from({ length: 8 }, () =>
        drain(under.adapter.stream(under.text(new AbortController().signal))),
      )
      const texts = (await Promise.all(requests)).map(textOf)
      expect(new Set(texts).size).toBe(1)
      await under.close()
    })

    it('has a status that names it and is plain data', async () => {
      const under = await start()
      const status = under.adapter.status()
      expect(status.provider).toBe(under.adapter.provider)
      expect(JSON.parse(JSON.stringify(status))).toEqual(status)
      await under.close()
    })
  })
}

export async function drain(stream: AsyncIterable<LlmChunk>): Promise<LlmChunk[]> {
  const chunks: LlmChunk[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}

export function textOf(chunks: readonly LlmChunk[]): string {
  return chunks.map((chunk) => (chunk.type === 'text' ? chunk.text : '')).join('')
}

function isTerminal(chunk: LlmChunk): boolean {
  return chunk.type === 'finish' || chunk.type === 'error'
}
