import type { ToolProgress } from '@deepseek-ai/dsh-tools'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { LiveOutput } from '../src/live-output.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function listen() {
  const heard: ToolProgress[] = []
  return { heard, live: new LiveOutput((progress) => void heard.push(progress)) }
}

describe('live output', () => {
  it('merges what arrives within a moment and keeps the order of the streams', () => {
    const { heard, live } = listen()
    live.push('stdout', 'a')
    live.push('stdout', 'b')
    live.push('stderr', 'c')
    live.push('stdout', 'd')
    expect(heard).toEqual([])
    vi.advanceTimersByTime(50)
    expect(heard).toEqual([
      { kind: 'text', stream: 'stdout', text: 'ab' },
      { kind: 'text', stream: 'stderr', text: 'c' },
      { kind: 'text', stream: 'stdout', text: 'd' },
    ])
  })

  it('holds nothing back and no timer after a flush', () => {
    const { heard, live } = listen()
    live.push('stdout', 'last')
    live.flush()
    expect(heard).toHaveLength(1)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('bounds a flood, says how much is missing and halves no character', () => {
    const { heard, live } = listen()
    for (let i = 0; i < 100; i++) live.push('stdout', '😀'.repeat(10_001))
    live.flush()
    const { text } = heard[0] as { text: string }
    expect(text.length).toBeLessThan(66_000)
    expect(text).toMatch(/^\[\d+ characters not shown live\]\n/)
    expect(text).not.toMatch(/\p{Cs}/u)
  })
})
