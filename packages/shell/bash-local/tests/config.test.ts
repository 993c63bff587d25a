import { Context } from '@deepseek-ai/cordis'
import { describe, expect, it } from 'vitest'
import { findBash } from '@deepseek-ai/dsh-shell/executor'
import { BashLocal } from '../src/index.ts'

const { Config } = BashLocal

const validate = (input: unknown) => Config['~standard'].validate(input)

describe('the configuration of bash-local', () => {
  it('has a default for everything', () => {
    const value = {
      timeoutMs: 120_000,
      maxTimeoutMs: 600_000,
      maxOutputBytes: 65_536,
      drainMs: 500,
      graceMs: 3000,
      envAllow: [],
    }
    expect(validate(undefined)).toEqual({ value })
    expect(validate({ graceMs: undefined })).toEqual({ value })
  })

  it.each([
    [{ timeoutMs: 0 }, /timeoutMs is 0; expected a whole number from 1/],
    [{ maxOutputBytes: '1k' }, /maxOutputBytes is "1k"; expected a whole number/],
    [{ graceMs: 1e12 }, /graceMs is 1000000000000; expected a whole number from 0 to 2147483647/],
    [{ envAllow: 'GH_TOKEN' }, /envAllow is "GH_TOKEN"; expected a list/],
    [{ shellPath: ' ' }, /shellPath is " "; expected a non-blank string/],
    [{ timeout: 5 }, /unknown field "timeout"; known are .*timeoutMs/],
    [[], /configuration is \[\]; expected an object/],
  ])('refuses %j and says what was wanted', (input, message) => {
    expect(validate(input)).toEqual({ issues: [expect.objectContaining({ message: expect.stringMatching(message) })] })
  })

  it('fails the plugin, so that the host reports it at start', async () => {
    const ctx = new Context()
    await expect(ctx.plugin(BashLocal, { timeoutMs: -1 })).rejects.toThrow(/timeoutMs is -1/)
    await ctx.fiber.dispose()
  })

  it('names the remedy when there is no shell', async () => {
    expect(() => findBash(undefined, '/nowhere:relative:')).toThrow(/install bash or set shellPath/)
    expect(() => findBash('/nowhere/bash', '')).toThrow(/"\/nowhere\/bash" is no executable file/)
  })
})
