// The six terminal tools. Each is a thin face of `ctx.terminals`, for the calling agent's own terminals.
import { isAbsolute, resolve } from 'node:path'
import type { OpenRequest, TerminalRow, TerminalService } from '@deepseek-ai/dsh-terminal'
import { defineTool, type InferArgs, type ToolDefinition, type ToolExecution } from '@deepseek-ai/dsh-tools'
import type { UserQuestionService } from '@deepseek-ai/dsh-user-questions'
import type { ToolTerminalConfig } from './config.ts'
import { presentSent, sentMeta } from './present.ts'
import { renderClosed, renderRow, renderSent } from './render.ts'
import { CLOSE, CLOSED, LINES, OPEN, OPENED, READ, SEND, SENT, SIGNAL, TERMINAL_ROW, type RowValue } from './schema.ts'
import { Sends } from './sends.ts'

/** What the tools stand on. */
export interface TerminalTools {
  readonly terminals: TerminalService
  /** Asks the person what programs ask. */
  questions(): UserQuestionService | undefined
  readonly config: ToolTerminalConfig
  onTrouble(message: string): void
}

type OpenArgs = InferArgs<typeof OPEN>

/** `sends` outlive no plugin: dispose of them with it. */
export function terminalTools(host: TerminalTools, sends = new Sends(host)): ToolDefinition[] {
  return [
    openTool(host, sends),
    sendTool(host, sends),
    readTool(host),
    signalTool(host),
    closeTool(host),
    listTool(host),
  ]
}

function openTool({ terminals, config }: TerminalTools, sends: Sends): ToolDefinition {
  return defineTool({
    name: 'terminal_open',
    description: `Opens a terminal that stays: a shell with a real screen, for programs that are talked to, servers that are watched, and work \
that needs its folder and variables kept. Use the plain shell tool for everything that just runs and ends.`,
    parameters: OPEN,
    maxResultBytes: config.maxResultBytes,
    output: {
      schema: OPENED,
      render: (_args, { terminal, text }) => [
        { type: 'text', text: `opened ${renderRow(terminal)}${text === '' ? '' : `\n${text}`}` },
      ],
    },
    async execute(args, exec) {
      const terminal = await terminals.open(openRequest(args, exec))
      sends.follow(terminal, exec.agent)
      const wait = { text: '', submit: false, timeoutMs: config.openTimeoutMs, signal: exec.signal }
      const { text } = await terminal.send(wait)
      return { terminal: row(terminal.row), text }
    },
    presentCall: ({ name, type, command }) => ({
      card: 'generic',
      kind: 'execute',
      title: `Open a terminal${name === undefined ? '' : ` "${name}"`}${type === undefined ? '' : ` (${type})`}${command === undefined ? '' : `: ${command}`}`,
    }),
  })
}

/** Field by field: arguments may hold more than the schema names. */
function openRequest({ cwd, env, name, type, command, cols, rows }: OpenArgs, exec: ToolExecution): OpenRequest {
  const base = exec.agent?.cwd
  const folder = cwd === undefined ? base : isAbsolute(cwd) || base === undefined ? cwd : resolve(base, cwd)
  return {
    owner: exec.agent,
    signal: exec.signal,
    ...(folder === undefined ? {} : { cwd: folder }),
    ...(env === undefined ? {} : { env: variables(env) }),
    ...(name === undefined ? {} : { name }),
    ...(type === undefined ? {} : { type }),
    ...(command === undefined ? {} : { command }),
    ...(cols === undefined ? {} : { cols }),
    ...(rows === undefined ? {} : { rows }),
  }
}

function variables(assignments: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    assignments.map((each) => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)]),
  )
}

function sendTool({ config }: TerminalTools, sends: Sends): ToolDefinition {
  return defineTool({
    name: 'terminal_send',
    description: `Types into a terminal and waits until the program waits for input, is silent for a while, ends, or the time is over. A program \
that asks for a password asks the user: you never see the answer.`,
    parameters: SEND,
    maxResultBytes: config.maxResultBytes,
    output: {
      schema: SENT,
      render: (_args, value) => [{ type: 'text', text: renderSent(value) }],
      presentationMeta: (_args, value) => sentMeta(value),
    },
    execute: (args, exec) => sends.send(args, exec),
    presentCall: ({ terminal, text }) => ({
      card: 'terminal',
      title: text === '' ? `(wait for ${terminal})` : text,
      description: `in ${terminal}`,
    }),
    presentResult: (_args, result) => presentSent(result),
  })
}

function readTool({ terminals, config }: TerminalTools): ToolDefinition {
  return defineTool({
    name: 'terminal_read',
    description: 'Reads lines of a terminal that were printed before, newest last, without typing or waiting.',
    parameters: READ,
    maxResultBytes: config.maxResultBytes,
    output: {
      schema: LINES,
      render: (_args, { text, totalLines, lineBegin, lineEnd, truncated }) => {
        const lines = lineEnd > lineBegin ? `${lineBegin + 1}-${lineEnd}` : 'none'
        const dropped = truncated ? '; older ones were dropped' : ''
        const end = text === '' || text.endsWith('\n') ? '' : '\n'
        return [{ type: 'text', text: `${text}${end}[lines: ${lines} of ${totalLines}${dropped}]` }]
      },
    },
    isConcurrencySafe: () => true,
    execute: ({ terminal, offset = 0, count = 500 }, exec) => {
      return { ...terminals.get(exec.agent, terminal).read({ offset, count }) }
    },
    presentCall: ({ terminal }) => ({ card: 'generic', kind: 'read', title: `Read terminal ${terminal}` }),
  })
}

function signalTool({ terminals }: TerminalTools): ToolDefinition {
  return defineTool({
    name: 'terminal_signal',
    description: 'Sends a signal to the program in front of a terminal, e.g. SIGINT to stop it.',
    parameters: SIGNAL,
    output: {
      schema: TERMINAL_ROW,
      render: ({ signal }, value) => [{ type: 'text', text: `sent ${signal} in ${renderRow(value)}` }],
    },
    execute: ({ terminal, signal }, exec) => {
      const found = terminals.get(exec.agent, terminal)
      found.signal(signal)
      return row(found.row)
    },
    presentCall: ({ terminal, signal }) => ({
      card: 'generic',
      kind: 'execute',
      title: `${signal} to terminal ${terminal}`,
    }),
  })
}

function closeTool({ terminals }: TerminalTools): ToolDefinition {
  return defineTool({
    name: 'terminal_close',
    description: 'Closes a terminal and ends everything that runs in it.',
    parameters: CLOSE,
    output: {
      schema: CLOSED,
      render: (_args, value) => [{ type: 'text', text: renderClosed(value) }],
    },
    async execute({ terminal }, exec) {
      const { signal, ended, survivors } = await terminals.close(exec.agent, terminal)
      return { terminal, kill: { signal, ended, survivors: survivors.map(({ pid, command }) => ({ pid, command })) } }
    },
    presentCall: ({ terminal }) => ({ card: 'generic', kind: 'execute', title: `Close terminal ${terminal}` }),
  })
}

function listTool({ terminals }: TerminalTools): ToolDefinition {
  return defineTool({
    name: 'terminal_list',
    description: 'Lists your open terminals.',
    parameters: {},
    output: {
      schema: { type: 'array', items: TERMINAL_ROW },
      render: (_args, rows) => {
        const text = rows.length === 0 ? 'no terminal is open' : rows.map(renderRow).join('\n')
        return [{ type: 'text', text }]
      },
    },
    isConcurrencySafe: () => true,
    execute: (_args, exec) => terminals.list(exec.agent).map(row),
    presentCall: () => ({ card: 'generic', kind: 'read', title: 'List terminals' }),
  })
}

function row({ id, name, type, cwd, pid, status }: TerminalRow): RowValue {
  return { id, type, cwd, pid, status, ...(name === undefined ? {} : { name }) }
}
