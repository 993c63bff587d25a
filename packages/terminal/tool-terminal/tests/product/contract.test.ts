// Every terminal tool against the contract of tools, with real shells on real pseudo terminals.
import type { Context } from '@deepseek-ai/cordis'
import { afterAll, describe, it } from 'vitest'
import { testTool, type ToolSuiteOptions } from '../../../../testing/testkit/src/index.ts'
import { terminalTools } from '../../src/index.ts'
import { realTerminals, removed, temporaryFolder } from './world.ts'

const folder = temporaryFolder()
afterAll(() => removed(folder))

const config = { maxResultBytes: 32_768, openTimeoutMs: 5000, promptTimeoutMs: 0 }
/** The host of the check that runs. */
let current: Context | undefined

const plugins = async (ctx: Context): Promise<void> => {
  await realTerminals(ctx)
  current = ctx
}

/** One shell named `main` at its prompt, whatever the run before made of it. */
async function mainShell(mayRun: boolean): Promise<undefined> {
  const terminals = current?.terminals
  for (const { id, name, status } of terminals?.list(undefined) ?? []) {
    if (name !== 'main' || status.kind === 'exited') await terminals?.close(undefined, id)
  }
  const known = terminals?.list(undefined)[0]?.id
  if (known === undefined) await terminals?.open({ owner: undefined, name: 'main', cwd: folder })
  else if (mayRun) terminals?.get(undefined, known).signal('SIGINT')
  await terminals?.get(undefined, 'main').send({ text: '', submit: false })
  return undefined
}

function held(name: string, options: ToolSuiteOptions): void {
  const subject = (ctx: Context) => {
    const host = { terminals: ctx.terminals, questions: () => undefined, config, onTrouble: () => {} }
    return terminalTools(host).find((tool) => tool.name === name)!
  }
  testTool({ describe, it: (title, body) => it(title, { timeout: 120_000 }, body) }, subject, {
    title: name,
    plugins,
    setup: () => mainShell(options.destructive === true),
    runs: 3,
    ...options,
  })
}

held('terminal_open', {
  args: [{}, { command: 'cat', cols: 80, rows: 24, cwd: folder, env: ['A=b'] }],
  destructive: true,
})
held('terminal_send', {
  args: [
    { terminal: 'main', text: 'echo done' },
    { terminal: 'main', text: '', submit: false },
  ],
  slowArgs: [{ terminal: 'main', text: 'sleep 100', timeoutMs: 60_000 }],
  arbitraries: (fc) => ({
    terminal: fc.constantFrom('main', 'pty-1'),
    text: fc.constantFrom('true', 'echo "ü 漢"', 'cat', ''),
    timeoutMs: fc.integer({ min: 100, max: 2000 }),
  }),
  destructive: true,
})
held('terminal_read', {
  args: [{ terminal: 'main' }, { terminal: 'main', offset: 1, count: 1 }],
  arbitraries: (fc) => ({ terminal: fc.constant('main') }),
})
held('terminal_signal', {
  args: ['SIGINT', 'SIGTERM', 'SIGTSTP'].map((signal) => ({ terminal: 'main', signal })),
  destructive: true,
})
held('terminal_close', { args: [{ terminal: 'main' }], destructive: true })
held('terminal_list', { args: [{}] })
