// The nearest known name to a mistyped one, for "did you mean". Knows nothing of models.

/** The known name that is closest to `name`, or undefined when none is close enough to be what was meant. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  const wanted = name.toLowerCase()
  let best: string | undefined
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1
  for (const candidate of known) {
    const distance = editDistance(wanted, candidate.toLowerCase(), bestDistance)
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance]
  }
  return best
}

/** Levenshtein distance; gives up and returns `limit` as soon as it cannot be smaller. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    let smallest = row
    for (let column = 1; column <= b.length; column++) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1
      const distance = Math.min(
        (previous[column] ?? limit) + 1,
        (current[column - 1] ?? limit) + 1,
        (previous[column - 1] ?? limit) + cost,
      )
      current.push(distance)
      smallest = Math.min(smallest, distance)
    }
    if (smallest >= limit) return limit
    previous = current
  }
  return previous[b.length] ?? limit
}
