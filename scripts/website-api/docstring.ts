// Reads a docstring: its prose, what it says of parameters and of the return, and which of its sentences tell of errors.

export interface Docstring {
  /** Markdown, without the sentences of `errors`. */
  readonly text: string
  readonly params: ReadonlyMap<string, string>
  readonly returns: string | undefined
  /** Sentences on what a caller has to expect when it goes wrong. */
  readonly errors: string
}

export const NO_DOCSTRING: Docstring = { text: '', params: new Map(), returns: undefined, errors: '' }

const ERROR_SENTENCE = /^(Throws|Rejects|Fails)\b|\bfail\.$|\bfailures resolve\b/

/** `comment` is the whole of it, with its delimiters. */
export function parseDocstring(comment: string): Docstring {
  const lines = comment
    .replace(/^\/\*\*|\*\/$/g, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trimEnd())
  const [prose = '', ...tags] = lines.join('\n').split(/^@/m)
  const params = new Map<string, string>()
  let returns: string | undefined
  const thrown: string[] = []
  for (const tag of tags) {
    const [, kind = '', rest = ''] = /^(\w+)\s*([^]*)$/.exec(tag) ?? []
    if (kind === 'returns') returns = oneLine(rest)
    if (kind === 'throws') thrown.push(oneLine(rest))
    const param = kind === 'param' ? /^(\w+)\s*(?:-\s*)?([^]*)$/.exec(rest) : null
    if (param !== null) params.set(param[1] ?? '', oneLine(param[2] ?? ''))
  }
  const paragraphs = paragraphsOf(prose).map((paragraph) => sentences(paragraph).flatMap(clauses))
  const errors = paragraphs.flat().filter((each) => ERROR_SENTENCE.test(each))
  const text = paragraphs
    .map((paragraph) => paragraph.filter((each) => !ERROR_SENTENCE.test(each)).join(' '))
    .filter((paragraph) => paragraph !== '')
    .join('\n\n')
  return { text, params, returns, errors: [...errors, ...thrown].join(' ') }
}

/** What a contract says, then what an implementation adds to it. */
export function joinDocstrings(contract: Docstring, own: Docstring): Docstring {
  const both = (a: string, b: string, between: string): string =>
    a.includes(b) ? a : b.includes(a) ? b : `${a}${between}${b}`
  return {
    text: both(contract.text, own.text, '\n\n'),
    params: new Map([...contract.params, ...own.params]),
    returns: own.returns ?? contract.returns,
    errors: both(contract.errors, own.errors, ' '),
  }
}

/** The first sentence, for a line in a list. */
export function firstSentence(text: string): string {
  return sentences(text.split(/\n\n|\n- /)[0] ?? '')[0] ?? ''
}

/** Paragraphs on a line each; a list stays a list. */
function paragraphsOf(prose: string): string[] {
  return prose
    .trim()
    .split(/\n\s*\n/)
    .map((paragraph) => {
      if (!/^- /m.test(paragraph)) return oneLine(paragraph)
      return paragraph
        .split(/\n(?=- )/)
        .map(oneLine)
        .join('\n')
    })
}

function sentences(paragraph: string): string[] {
  if (paragraph.includes('\n- ') || paragraph.startsWith('- ')) return [paragraph]
  // A full stop inside of code, or before a small letter, ends no sentence.
  return paragraph
    .split(/(?<=[^`\s]{2}[.!?]|[`)][.!?])(?<!\b(?:e\.g|i\.e)\.)\s+(?=[A-Z`{])/)
    .filter((sentence) => sentence !== '')
}

/** What a sentence says of failing, apart from what it says besides. */
function clauses(sentence: string): string[] {
  const [, before, fails] = /^([A-Z][^;]*); ([^;]*\bfail\.)$/.exec(sentence) ?? []
  if (before === undefined || fails === undefined) return [sentence]
  return [`${before}.`, fails.charAt(0).toUpperCase() + fails.slice(1)]
}

function oneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, ' ').trim()
}
