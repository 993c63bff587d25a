import { Context } from '@deepseek-ai/cordis'
import { describe, expect, it } from 'vitest'
import { Config, withDefaults } from '../src/config.ts'
import CodeRuntimeQuickjs from '../src/index.ts'

function messages(input: unknown): string[] {
  const result = Config['~standard'].validate(input)
  return 'issues' in result ? result.issues.map((issue) => issue.message) : []
}

describe('the configuration', () => {
  it('has a default for every field', () => {
    const result = Config['~standard'].validate(undefined)
    expect(result).toEqual({ value: withDefaults({}) })
  })

  it('names the field, what arrived and what was wanted', () => {
    expect(messages({ computeMs: 0 })).toEqual([
      'code-runtime-quickjs: computeMs is 0; expected a whole number from 1 to 2147483647',
    ])
    expect(messages({ maxMemoryMb: NaN })).toEqual([
      'code-runtime-quickjs: maxMemoryMb is NaN; expected a whole number from 8 to 1024',
    ])
    expect(messages({ maxOutputBytes: '1' })[0]).toContain('maxOutputBytes is "1"')
    expect(messages({ warm: 1 })).toEqual(['code-runtime-quickjs: warm is 1; expected true or false'])
    expect(messages({ maxWallMs: 2 ** 31, runsPerWorker: -1, maxConcurrentRuns: 65 })).toHaveLength(3)
  })

  it('refuses unknown fields and what is no object', () => {
    expect(messages({ computeMS: 1 })[0]).toContain('unknown field "computeMS"; known are computeMs,')
    expect(messages([])[0]).toContain('expected an object')
    expect(messages('x')[0]).toContain('is "x"; expected an object')
  })

  it('fails the plugin at start', async () => {
    const ctx = new Context()
    await expect(ctx.plugin(CodeRuntimeQuickjs, { computeMs: -1 })).rejects.toThrow(/computeMs is -1/)
  })
})
