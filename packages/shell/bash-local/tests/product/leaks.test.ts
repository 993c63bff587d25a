// What thousands of commands leave in the host: nothing.
import { readdirSync } from 'node:fs'
import { Context } from '@deepseek-ai/cordis'
import { expect, it, vi } from 'vitest'
import BashLocal from '../../src/index.ts'

it('leaks no descriptor, listener, pipe or child over 2,000 commands', async () => {
  const ctx = new Context()
  await ctx.plugin(BashLocal)
  const { shell } = ctx
  const { signal } = new AbortController()
  const run = (command: string) => shell.run(shell.resolve({ command, signal, onOutput: () => {} }))
  const held = () => ({
    descriptors: readdirSync('/proc/self/fd').length,
    listeners: process.eventNames().reduce((sum, event) => sum + process.listenerCount(event), 0),
    resources: process
      .getActiveResourcesInfo()
      .filter((name) => name.endsWith('Wrap'))
      .toSorted(),
  })
  await run('echo warm; sleep 0.01 &')
  // Handles of the last command close one turn of the event loop after its result.
  const quiet = (): Promise<void> =>
    vi.waitFor(() => expect(held().resources).not.toContain('ProcessWrap'), { timeout: 10_000 })
  await quiet()
  const before = held()
  const warnings: Error[] = []
  const onWarning = (warning: Error): void => void warnings.push(warning)
  process.on('warning', onWarning)
  for (let i = 0; i < 2000; i++) {
    const { stdout, exitCode } = await run(`echo ${i}; exit ${i % 7}`)
    if (stdout.text !== `${i}\n` || exitCode !== i % 7)
      throw new Error(`command ${i} came back as ${stdout.text}, ${exitCode}`)
  }
  process.off('warning', onWarning)
  await quiet()
  expect(held()).toEqual(before)
  expect(warnings).toEqual([])
  await ctx.fiber.dispose()
}, 120_000)
