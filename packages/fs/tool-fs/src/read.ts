// The read tool: some lines of a text file with their numbers, and what was left out.
import { basename, dirname } from 'node:path'
import { editDistance, errorCode } from '@deepseek-ai/cordis'
import type { FsLines, FsTarget } from '@deepseek-ai/dsh-fs'
import { compileValueSchema, defineTool, validatorFor } from '@deepseek-ai/dsh-tools'
import type { InferValue, PresentedResult, ReadResultView, ToolDefinition, ToolExecution } from '@deepseek-ai/dsh-tools'
import type { SandboxPolicy } from '@deepseek-ai/dsh-sandbox'
import { advised, advising } from './errors.ts'
import { ABSENT } from './events.ts'
import { languageOf } from './languages.ts'
import { FILE_PATH, READ_VALUE, fingerprintValue, type ReadValue } from './schema.ts'
import { readPolicyOf, targetOf, type FsToolSetup } from './services.ts'
import { counted, formText, isUnusual } from './wording.ts'

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

export function renderRead(value: ReadValue): string {
  const { lines, fingerprint } = value
  const footer = [`[${extent(value)}]`]
  if (isUnusual(fingerprint)) footer.push(`[${formText(fingerprint)}: kept by edit and write]`)
  if (fingerprint.encoding === 'bytes') {
    footer.push(
      '[bytes above 0x7f are shown as Latin-1; an edit keeps them, and its new text must be ASCII or Latin-1]',
    )
  }
  return [...lines.map(({ number, text }) => `${number}\t${text}`), ...footer].join('\n')
}

function extent({ offset, lines, totalLines, complete, next, fingerprint }: ReadValue): string {
  const all = counted(totalLines, 'line')
  const [first, last] = [lines[0]?.number, lines.at(-1)?.number]
  if (first === undefined || last === undefined) {
    if (fingerprint.bytes === 0) return 'the file is empty'
    return `the file has ${all}; there is nothing from line ${offset} on`
  }
  if (next !== undefined) {
    const size = complete ? `of ${totalLines}` : `of more than ${totalLines}`
    return `lines ${first}-${last} ${size}; go on with offset: ${next}`
  }
  return first === 1 ? `end of file: ${all}` : `lines ${first}-${last}, to the end of file`
}

const READ_META = {
  type: 'object',
  properties: {
    path: { type: 'string', required: true },
    offset: { type: 'integer', minimum: 1, required: true },
    /** The lines, joined: their numbers follow from the first one's. */
    text: { type: 'string', required: true },
    count: { type: 'integer', minimum: 0, required: true },
    totalLines: { type: 'integer', minimum: 0, required: true },
    form: { type: 'string' },
    next: { type: 'integer', minimum: 1 },
  },
  additionalProperties: true,
} as const

type ReadMeta = InferValue<typeof READ_META>

const metaValidator = validatorFor(compileValueSchema(READ_META))

function readMeta({ path, offset, lines, totalLines, next, fingerprint }: ReadValue): ReadMeta {
  return {
    path,
    offset: lines[0]?.number ?? offset,
    text: lines.map(({ text }) => text).join('\n'),
    count: lines.length,
    totalLines,
    ...(isUnusual(fingerprint) ? { form: formText(fingerprint) } : {}),
    ...(next === undefined ? {} : { next }),
  }
}

function presentRead({ isError, meta }: PresentedResult): ReadResultView | undefined {
  if (isError || !metaValidator.check(meta)) return undefined
  const { path, offset, text, count, totalLines, form } = meta as unknown as ReadMeta
  const lines = count === 0 ? [] : text.split('\n')
  const lang = languageOf(path)
  return {
    card: 'read',
    path,
    offset,
    lines: lines.map((line, index) => ({ number: offset + index, text: line })),
    totalLines: Math.max(totalLines, lines.length),
    ...(lang === undefined ? {} : { lang }),
    ...(form === undefined ? {} : { remarks: [form] }),
  }
}
