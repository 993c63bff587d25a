// The read tool: some lines of a text file with their numbers, and what was left out.
import { basename, dirname } from 'node:path'
import { editDistance, errorCode } from '@deepseek-ai/cordis'
import type { FsLines, FsTarget } from '@deepseek-ai/dsh-fs'
import { defineTool, type ToolDefinition, type ToolExecution } from '@deepseek-ai/dsh-tools'
import type { SandboxPolicy } from '@deepseek-ai/dsh-sandbox'
import { advised, advising } from './errors.ts'
import { ABSENT } from './events.ts'
import { presentRead, readMeta, renderRead } from './read-view.ts'
import { FILE_PATH, READ_VALUE, fingerprintValue, type ReadValue } from './schema.ts'
import { readPolicyOf, targetOf, type FsToolSetup } from './services.ts'

export function readTool(setup: FsToolSetup): ToolDefinition {
  const { readLimit, readMaxLineLength } = setup.config
  return defineTool({
    name: 'read',
    description: `Reads lines of a text file. Each line comes with its number and a tab before it, which are no part of the file. \
Long files are given in parts: the last line of the result says what is left out and how to go on. \
Lines over ${readMaxLineLength} characters are cut, with a mark. Use this instead of cat, head, tail or sed. \
Folders are listed by list_dir; binary files are refused. Read a file before you change it.`,
    parameters: {
      path: FILE_PATH,
      offset: { type: 'integer', minimum: 1, description: 'First line, counted from 1. Default 1.' },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: readLimit,
        description: `How many lines, at most. Default ${readLimit}.`,
      },
    },
    output: {
      schema: READ_VALUE,
      render: (_args, value) => [{ type: 'text', text: renderRead(value) }],
      presentationMeta: (_args, value) => readMeta(value),
    },
    isConcurrencySafe: () => true,
    execute: ({ path, offset = 1, limit = readLimit }, exec) =>
      advising('read', () => readFile(setup, { path, offset, limit }, exec)),
    presentCall: ({ path, offset }) => ({
      card: 'generic',
      title: path,
      kind: 'read',
      locations: [{ path, ...(offset === undefined ? {} : { line: offset }) }],
    }),
    presentResult: (_args, result) => presentRead(result),
  })
}

const PICTURE = /\.(png|jpe?g|gif|webp)$/i

interface Window {
  readonly path: string
  readonly offset: number
  readonly limit: number
}

async function readFile(setup: FsToolSetup, window: Window, exec: ToolExecution): Promise<ReadValue> {
  const { services, config } = setup
  const { agent, signal } = exec
  const target = await targetOf(services, window.path, exec)
  const policy = await readPolicyOf(services, exec)
  const range = {
    offset: window.offset,
    count: window.limit,
    maxBytes: config.readMaxBytes,
    maxLineLength: config.readMaxLineLength,
  }
  let found: FsLines
  try {
    found = await services.fs.readLines(target, range, { signal, policy })
  } catch (error) {
    const isPicture = errorCode(error) === 'FS_NOT_TEXT' && PICTURE.test(target.path)
    if (isPicture && services.readsImages?.(agent) === true)
      throw advised(error, 'To look at a picture, use read_image.')
    if (errorCode(error) !== 'FS_NOT_FOUND') throw error
    services.events?.observed({ key: target.key, observation: ABSENT, agent })
    throw advised(error, await alike(setup, target, policy))
  }
  services.events?.observed({ key: target.key, observation: { kind: 'present', version: found.version }, agent })
  return readValue(target, window.offset, found, config.readMaxBytes)
}

function readValue(target: FsTarget, offset: number, found: FsLines, maxBytes: number): ReadValue {
  const { totalLines, complete } = found
  const lines = fitting(found.lines, maxBytes)
  const last = lines.at(-1)?.number
  const goesOn = last !== undefined && (!complete || last < totalLines)
  return {
    path: target.path,
    offset,
    lines: lines.map(({ number, text }) => ({ number, text })),
    totalLines,
    complete,
    ...(goesOn ? { next: last + 1 } : {}),
    fingerprint: fingerprintValue(found.fingerprint),
  }
}

/** As many lines as stay within the limit with their numbers, and one in any case. */
function fitting(lines: FsLines['lines'], maxBytes: number): FsLines['lines'] {
  let bytes = 0
  const end = lines.findIndex(({ number, text }, index) => {
    bytes += Buffer.byteLength(text) + String(number).length + 2
    return bytes > maxBytes && index > 0
  })
  return end < 0 ? lines : lines.slice(0, end)
}

const LOOK = 'Look for it with list_dir.'

/** Names in the same folder that the model may have meant. */
async function alike(
  { services }: FsToolSetup,
  target: FsTarget,
  policy: SandboxPolicy | undefined,
): Promise<string | undefined> {
  const name = basename(target.path)
  try {
    const folder = await services.fs.resolve(dirname(target.path))
    const entries = await services.fs.list(folder, { policy })
    const near = entries
      .map((entry) => ({ name: entry.name, distance: nameDistance(entry.name, name) }))
      .filter(({ distance }) => distance <= Math.max(2, Math.floor(name.length / 3)))
      .sort((a, b) => a.distance - b.distance)
      .slice(0, 3)
    if (near.length === 0) return LOOK
    return `There is ${near.map((each) => JSON.stringify(each.name)).join(', ')} in the same folder.`
  } catch {
    return LOOK // its folder is not there, is none, or is closed
  }
}

const MOST_COMPARED = 100

function nameDistance(a: string, b: string): number {
  if (a.length > MOST_COMPARED || b.length > MOST_COMPARED) return Infinity
  return editDistance(a.toLowerCase(), b.toLowerCase())
}
