// Recognises a line that stands for code that was left out: written into a file, it would delete what it stands for.

const COMMENT = String.raw`(?:\/\/+|#+|\/\*+|<!--|--|;+|%|\{\/\*)`
const DOTS = String.raw`(?:\.{3}|…)`
const LEFT_OUT = String.raw`(?:rest|remain(?:s|ing|der)|existing|other|previous|same|unchanged|keep|omitted|original|your)`
const WHAT = String.raw`(?:code|file|content|function|method|class|implementation|import|line|logic|as (?:is|before)|here|unchanged|stays|remains)`

const LINE = new RegExp(
  // Dots that touch a word are code where no comment begins: `...rest` spreads.
  String.raw`^\s*(?:(?:${COMMENT}\s*${DOTS}\s*|${DOTS}\s+)[([]?\s*(?:the\s+)?${LEFT_OUT}\b.*|${COMMENT}?\s*(?:the\s+)?${LEFT_OUT}\b.*\b${WHAT}s?\b.*${DOTS}.*)$`,
  'i',
)

/** The first such line of `newText` that `oldText` does not have. */
export function placeholderIn(newText: string, oldText: string): string | undefined {
  // Most texts have no dots, and need no lines made of them.
  if (!newText.includes('...') && !newText.includes('…')) return undefined
  const found = newText.split(/\r\n|\n|\r/).filter((line) => line.length < 200 && LINE.test(line))
  if (found.length === 0) return undefined
  const known = new Set(oldText.split(/\r\n|\n|\r/).map((line) => line.trim()))
  return found.find((line) => !known.has(line.trim()))?.trim()
}
