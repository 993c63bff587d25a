// Finds the known name that a mistyped one was probably meant to be.
import { editDistance } from '@deepseek-ai/cordis'

/** The closest of `known` within a third of the word's length (at least 2 edits), or undefined. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1
  for (const candidate of known) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase())
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance]
  }
  return best
}

/** `; did you mean "x"?`, or the list of what is known when nothing is close. */
export function suggestion(word: string, known: Iterable<string>): string {
  const names = [...known]
  const close = nearest(word, names)
  if (close !== undefined) return `; did you mean "${close}"?`
  return names.length === 0 ? '' : `; known: ${names.join(', ')}`
}
