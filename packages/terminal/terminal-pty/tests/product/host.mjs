// A host in a process of its own, from the built packages: opens a terminal, runs a command in it, and goes on until it is ended.
import { createHost } from '@deepseek-ai/cordis'
import { Terminals } from '@deepseek-ai/dsh-terminal'
import * as terminalPty from '@deepseek-ai/dsh-terminal-pty'

const [cwd, command] = process.argv.slice(2)
const { ctx } = createHost()
await ctx.plugin(Terminals)
await ctx.plugin(terminalPty, { disposeGraceMs: 300 })
const terminal = await ctx.terminals.open({ owner: undefined, cwd })
await terminal.send({ text: '', submit: false })
await terminal.send({ text: command, timeoutMs: 500 })
process.stdout.write(`ready ${terminal.row.pid}\n`)
