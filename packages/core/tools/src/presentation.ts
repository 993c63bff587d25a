// The neutral vocabulary of content and cards. Safe in a browser: types and pure helpers only, no import of the runtime.

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json
}

/** A block of what a model reads or says. */
export interface TextBlock {
  readonly type: 'text'
  readonly text: string
}

export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const
export type ImageType = (typeof IMAGE_TYPES)[number]

/** A picture. A model that takes none reads `imageText` in its place. */
export interface ImageBlock {
  readonly type: 'image'
  readonly mediaType: ImageType
  /** The file in base64, on one line and with padding. */
  readonly data: string
}
export type ContentBlock = TextBlock | ImageBlock

export type GenericKind = 'read' | 'edit' | 'delete' | 'move' | 'search' | 'execute' | 'fetch' | 'other'

export interface FileLocation {
  readonly path: string
  /** 1-based. */
  readonly line?: number
}

export interface GenericCallView {
  readonly card: 'generic'
  readonly title: string
  /** Chooses the icon. Default `other`. */
  readonly kind?: GenericKind
  /** Shown as is when a string, as JSON otherwise. Omitted: the call's arguments. */
  readonly rawInput?: Json
  readonly content?: readonly ContentBlock[]
  /** Files the call touches, for an editor that follows along. */
  readonly locations?: readonly FileLocation[]
}

export interface TerminalCallView {
  readonly card: 'terminal'
  /** The command. */
  readonly title: string
  readonly description?: string
  /** Absolute as is; relative to the session's folder otherwise; omitted: the session's folder. */
  readonly cwd?: string
}

/** A change of one file: of the whole of it, or of one hunk of it. */
export interface FileDiff {
  readonly path: string
  /** Null for a new file, or when it is not known. */
  readonly oldText: string | null
  readonly newText: string
  /** 1-based line of the first line of each side. Omitted: 1. */
  readonly oldStart?: number
  readonly newStart?: number
}

export interface DiffCallView {
  readonly card: 'diff'
  readonly title: string
  readonly diffs: readonly FileDiff[]
  readonly locations?: readonly FileLocation[]
}

export type ToolCallView = GenericCallView | TerminalCallView | DiffCallView

export interface GenericResultView {
  readonly card: 'generic'
  /** Replaces the pending title. */
  readonly title?: string
  readonly content?: readonly ContentBlock[]
}

export interface TerminalResultView {
  readonly card: 'terminal'
  readonly title?: string
  /** Raw output, escape sequences included. */
  readonly output?: string
  readonly exitCode?: number
  readonly signal?: string
  /** Short facts for the right edge of the row, worst first, e.g. `timed out`, `2 survivors`. */
  readonly notes?: readonly string[]
  /** Sentences below the output: what was denied and by which rule, where the whole output is. */
  readonly remarks?: readonly string[]
}

/** What was really changed: hunks with a few lines around each. */
export interface DiffResultView {
  readonly card: 'diff'
  readonly title?: string
  readonly diffs: readonly FileDiff[]
  /** Short facts for the right edge of the row. */
  readonly notes?: readonly string[]
  /** Facts of the receipt, for the foot of the box. */
  readonly remarks?: readonly string[]
}

export interface ReadResultView {
  readonly card: 'read'
  readonly title?: string
  readonly path: string
  /** 1-based line of the first line shown. */
  readonly offset: number
  readonly lines: readonly { readonly number: number; readonly text: string }[]
  readonly totalLines: number
  /** Name of a language for highlighting. */
  readonly lang?: string
  readonly notes?: readonly string[]
  readonly remarks?: readonly string[]
}

export interface SearchMatch {
  /** 1-based. */
  readonly lineNumber: number
  readonly line: string
  /** Where in `line` it matched, in UTF-16 units: start and end of each. */
  readonly ranges?: readonly (readonly [start: number, end: number])[]
  /** A line around a match, not one itself. */
  readonly context?: true
}

interface SearchViewBase {
  readonly card: 'search'
  readonly title?: string
  /** Shows less than there is. */
  readonly truncated: boolean
  /** How many there are, as far as that is known. */
  readonly total: number
  readonly notes?: readonly string[]
  /** What was searched and what was not, and why. */
  readonly remarks?: readonly string[]
}

export type SearchResultView = SearchViewBase &
  (
    | {
        readonly shape: 'matches'
        readonly files: readonly { readonly path: string; readonly matches: readonly SearchMatch[] }[]
      }
    | { readonly shape: 'paths'; readonly paths: readonly string[] }
  )

export type ToolResultView = GenericResultView | TerminalResultView | DiffResultView | ReadResultView | SearchResultView

/** The text of content blocks, joined by newlines. An image is a line that names its type and size. */
export function contentText(content: readonly ContentBlock[]): string {
  return content.map((block) => (block.type === 'text' ? block.text : imageText(block))).join('\n')
}

/** `[image/png, 1,234 bytes]` */
export function imageText({ mediaType, data }: ImageBlock): string {
  return `[${mediaType}, ${imageBytes(data).toLocaleString('en')} bytes]`
}

/** The size of a file from its base64. */
function imageBytes(data: string): number {
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0
  return Math.max(0, (data.length / 4) * 3 - padding)
}
