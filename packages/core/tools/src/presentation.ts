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
export type ContentBlock = TextBlock

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

export type ToolCallView = GenericCallView | TerminalCallView

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

export type ToolResultView = GenericResultView | TerminalResultView

/** The text of content blocks, joined by newlines. */
export function contentText(content: readonly ContentBlock[]): string {
  return content.map((block) => block.text).join('\n')
}
