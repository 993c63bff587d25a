// From the TypeScript of a program to what the engine runs, and from positions there back to lines and columns of the program.
import { createRequire, SourceMap } from 'node:module'
import type { OxcError, TransformResult } from 'oxc-transform'
import { PROGRAM_FILE } from './protocol.ts'

/** The body stays on lines of its own, so that its columns are its own and its lines one too high. */
const OPENING = '(async () => {\n'
const CLOSING = '\n})'
const MAX_FRAMES = 5
const FRAME_CONTEXT = 1
const MAX_FRAME_WIDTH = 160

export interface Position {
  /** Both count from 1. */
  line: number
  column: number
}

export interface ErasedProgram {
  code: string
  /** Turns a position of `code` into one of the program; undefined for code that the program does not hold. */
  locate: (position: Position) => Position | undefined
}

const require = createRequire(import.meta.url)
/** A native library: hosts that never run a program must not pay for it at start. */
const transform = (): typeof import('oxc-transform') => require('oxc-transform') as typeof import('oxc-transform')

/** Erases types. A program that does not parse gives the message for its author. */
export function eraseTypes(program: string): ErasedProgram | { syntaxError: string } {
  const wrapped = OPENING + program + CLOSING
  const erase = (sourcemap: boolean): TransformResult =>
    transform().transformSync(PROGRAM_FILE, wrapped, { lang: 'ts', sourceType: 'module', target: 'esnext', sourcemap })
  const { code, errors } = erase(false)
  const error = errors.find((each) => (each.severity as string) === 'Error')
  if (error !== undefined) return { syntaxError: describeSyntaxError(program, wrapped, error) }
  let sourceMap: SourceMap | undefined
  return {
    code,
    locate(position) {
      // Made when a program has failed: most never ask where something is.
      sourceMap ??= new SourceMap(erase(true).map as unknown as ConstructorParameters<typeof SourceMap>[0])
      const entry = sourceMap.findEntry(position.line - 1, position.column - 1)
      if (!('originalLine' in entry)) return undefined
      // Note: the map counts lines from 0 and the opening takes one, so its number is ours.
      return inProgram(program, { line: entry.originalLine, column: entry.originalColumn + 1 })
    },
  }
}

function inProgram(program: string, position: Position): Position | undefined {
  return position.line >= 1 && position.line <= program.split('\n').length ? position : undefined
}

function describeSyntaxError(program: string, wrapped: string, error: OxcError): string {
  const help = error.helpMessage === null ? '' : `\n${error.helpMessage}`
  const [label] = error.labels.slice(-1)
  if (label === undefined) return `SyntaxError: ${error.message}${help}`
  // Note: offsets of labels count bytes of UTF-8.
  const before = Buffer.from(wrapped, 'utf8').subarray(0, label.start).toString('utf8').slice(OPENING.length)
  const lines = before.split('\n')
  const position = { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 }
  const within = inProgram(program, position)
  if (within === undefined) return `SyntaxError: ${error.message} at the end of the program${help}`
  return `SyntaxError: ${error.message} (${within.line}:${within.column})\n${codeFrame(program, within)}${help}`
}

/** The line of a position between its neighbours, with a caret under the column. */
export function codeFrame(program: string, { line, column }: Position): string {
  const lines = program.split('\n')
  const first = Math.max(1, line - FRAME_CONTEXT)
  const last = Math.min(lines.length, line + FRAME_CONTEXT)
  const width = String(last).length
  const shown: string[] = []
  for (let number = first; number <= last; number += 1) {
    const text = (lines[number - 1] ?? '').slice(0, MAX_FRAME_WIDTH)
    shown.push(`${number === line ? '>' : ' '} ${String(number).padStart(width)} | ${text}`)
    if (number === line && column <= MAX_FRAME_WIDTH) shown.push(`  ${' '.repeat(width)} | ${' '.repeat(column - 1)}^`)
  }
  return shown.join('\n')
}

/** The message of an exception with the places in the program that its stack names. */
export function describeException(program: string, erased: ErasedProgram, message: string, stack: string): string {
  const places: { name: string; position: Position }[] = []
  for (const [, name, line, column] of stack.matchAll(/^\s*at (?:(.*?) \()?program\.ts:(\d+):(\d+)\)?$/gm)) {
    const position = erased.locate({ line: Number(line), column: Number(column) })
    if (position !== undefined) places.push({ name: name ?? '', position })
  }
  const [top] = places
  if (top === undefined) return message
  const frames = places.slice(0, MAX_FRAMES).map(({ name, position }) => {
    const place = `line ${position.line}:${position.column}`
    return name === '' || name.startsWith('<') ? `    at ${place}` : `    at ${name} (${place})`
  })
  return `${message}\n${frames.join('\n')}\n${codeFrame(program, top.position)}`
}
