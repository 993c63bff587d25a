// The terminal tools that need no open terminal, against the contract of tools, over a backend that only echoes.
import type { Context } from '@deepseek-ai/cordis'
import { describe, it } from 'vitest'
import { testTool } from '../../../testing/testkit/src/index.ts'
import { Terminals } from '../../terminal/src/index.ts'
import type { Terminal, TerminalBackend, TerminalStatus } from '../../terminal/src/index.ts'
import { terminalTools } from '../src/index.ts'

const echo: TerminalBackend = {
  type: 'shell',
  async spawn({ id, name, cwd }) {
    const status: TerminalStatus = { kind: 'running' }
    const facts = { id, type: 'shell', cwd, pid: 1, status, openedAt: 0, cols: 80, rows: 24, attached: 0 }
    const terminal: Partial<Terminal> = {
      id,
      row: name === undefined ? facts : { ...facts, name },
      send: async ({ text }) => ({ text, truncated: false, reason: 'stdin-wait', status }),
      onExit: () => () => {},
      onPrompt: () => () => {},
      close: async () => ({ signal: 'SIGHUP', ended: 1, survivors: [] }),
    }
    return terminal as Terminal
  },
}

const onTrouble = (): void => {}
const config = { maxResultBytes: 32_768, openTimeoutMs: 100, promptTimeoutMs: 0 }
const toolOf = (ctx: Context, name: string) =>
  terminalTools({ terminals: ctx.terminals, questions: () => undefined, config, onTrouble }).find(
    (tool) => tool.name === name,
  )!

const plugins = async (ctx: Context): Promise<void> => {
  await ctx.plugin(Terminals, { maxPerOwner: 1000 })
  ctx.terminals.registerBackend(echo)
}

testTool({ describe, it }, (ctx) => toolOf(ctx, 'terminal_open'), {
  title: 'terminal_open',
  plugins,
  args: [{}, { cwd: '.' }],
})
testTool({ describe, it }, (ctx) => toolOf(ctx, 'terminal_list'), { title: 'terminal_list', plugins, args: [{}] })
