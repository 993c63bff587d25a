// Finds the known name that a mistyped one was probably meant to be.

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

// Insertions, deletions, substitutions and swaps of neighbours each count as one edit.
function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min(previous[j]! + 1, current[j - 1]! + 1, previous[j - 1]! + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, beforePrevious[j - 2]! + 1)
      }
      current.push(cost)
    }
    beforePrevious = previous
    previous = current
  }
  return previous[b.length]!
}
