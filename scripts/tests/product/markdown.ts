// Reads the code blocks and links of a Markdown file. A block names its file behind the language: ```ts src/plugin.ts
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface CodeBlock {
  readonly language: string
  /** The file that the block is, relative to the folder a reader works in. */
  readonly file: string | undefined
  readonly text: string
  /** 1-based line of the opening fence. */
  readonly line: number
}

export function codeBlocks(markdown: string): CodeBlock[] {
  const blocks: CodeBlock[] = []
  let open: { language: string; file: string | undefined; line: number; lines: string[] } | undefined
  for (const [index, line] of markdown.split('\n').entries()) {
    const fence = /^```(\S*) *(\S*)/.exec(line)
    if (open === undefined) {
      if (fence !== null) open = { language: fence[1] ?? '', file: fence[2] || undefined, line: index + 1, lines: [] }
    } else if (fence === null) {
      open.lines.push(line)
    } else {
      const { lines, ...rest } = open
      blocks.push({ ...rest, text: `${lines.join('\n')}\n` })
      open = undefined
    }
  }
  if (open !== undefined) throw new Error(`the code block of line ${open.line} is not closed`)
  return blocks
}

/** Writes the blocks that name a file below `folder`, as a reader would who has come to the line `until`. */
export function writeFiles(markdownFile: string, folder: string, until = Infinity): void {
  for (const { file, text, line } of codeBlocks(readFileSync(markdownFile, 'utf8'))) {
    if (file === undefined || line > until) continue
    const path = join(folder, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
}

/** What is in generated pages: signatures and shapes, which are no programs. */
const FRAGMENTS: readonly (string | undefined)[] = ['website-api', 'tool-output']

/** TypeScript that a reader could use. */
export function programs(blocks: readonly CodeBlock[]): CodeBlock[] {
  return blocks.filter(({ language, file }) => language === 'ts' && !FRAGMENTS.includes(file))
}

/** What a program says that it prints, a `console.log(…) // …` a line; empty for one that says nothing or leaves something out. */
export function announced({ text }: CodeBlock): string[] {
  if (/^\s*\/\/ …/m.test(text)) return []
  return [...text.matchAll(/^\s*console\.log\(.*\) \/\/ (.+)$/gm)].map((match) => match[1] ?? '')
}

/** True when the output is what the text shows. A line `…` stands for any lines, `…` in a line for anything there, a time for any time. */
export function prints(shown: string, output: string): boolean {
  const lines = (text: string): string[] => text.replaceAll(/\b\d+(\.\d+)? (m?s)\b/g, '0 $2').split('\n')
  return matches(lines(shown), lines(output))
}

function matches(shown: readonly string[], output: readonly string[]): boolean {
  const [line, ...rest] = shown
  if (line === undefined) return output.length === 0
  if (line !== '…') return matchesLine(line, output[0]) && matches(rest, output.slice(1))
  return output.concat('').some((_, skipped) => matches(rest, output.slice(skipped)))
}

function matchesLine(shown: string, line: string | undefined): boolean {
  if (line === undefined || !shown.includes('…')) return line === shown
  const parts = shown.split('…').map((text) => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`))
  return new RegExp(`^${parts.join('.*')}$`).test(line)
}

/** Targets of links and images outside code blocks. */
export function links(markdown: string): string[] {
  const prose = markdown.replaceAll(/^```[^]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? '')
}

/** `$ command` lines of `console` blocks, each with the output that follows it and the line where its block begins. */
export function transcript(blocks: readonly CodeBlock[]): { command: string; output: string; line: number }[] {
  return blocks
    .filter((block) => block.language === 'console')
    .flatMap(({ text, line }) =>
      text
        .split(/^\$ /m)
        .slice(1)
        .map((entry) => ({ entry, line })),
    )
    .map(({ entry, line }) => {
      const end = entry.indexOf('\n')
      return { command: entry.slice(0, end), output: entry.slice(end + 1).trim(), line }
    })
}
