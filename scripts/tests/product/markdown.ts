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

/** Writes the blocks that name a file below `folder`, as a reader would. */
export function writeFiles(markdownFile: string, folder: string): void {
  for (const { file, text } of codeBlocks(readFileSync(markdownFile, 'utf8'))) {
    if (file === undefined) continue
    const path = join(folder, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
}

/** Targets of links and images outside code blocks. */
export function links(markdown: string): string[] {
  const prose = markdown.replaceAll(/^```[^]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? '')
}

/** `$ command` lines of `console` blocks, each with the output that follows it. */
export function transcript(blocks: readonly CodeBlock[]): { command: string; output: string }[] {
  return blocks
    .filter((block) => block.language === 'console')
    .flatMap(({ text }) => text.split(/^\$ /m).slice(1))
    .map((entry) => {
      const end = entry.indexOf('\n')
      return { command: entry.slice(0, end), output: entry.slice(end + 1).trim() }
    })
}
