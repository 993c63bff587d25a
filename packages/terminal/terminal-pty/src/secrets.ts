// Hides what was typed as a secret in whatever is read as text.

const MASK = '••••'
/** A shorter one is hidden only where it stands alone: otherwise a "y" would eat every word. */
const DISTINCT_LENGTH = 4

export class Secrets {
  readonly #secrets = new Set<string>()
  #pattern: RegExp | undefined

  /** Each line of it is one. */
  add(data: string): void {
    for (const line of data.split(/[\r\n]+/)) if (line.trim() !== '') this.#secrets.add(line)
    // The longest first: one may begin with another.
    const parts = Array.from(this.#secrets)
      .toSorted((a, b) => b.length - a.length)
      .map((secret) => {
        const literal = secret.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`)
        return secret.length < DISTINCT_LENGTH ? String.raw`(?<![\p{L}\p{N}])${literal}(?![\p{L}\p{N}])` : literal
      })
    this.#pattern = parts.length === 0 ? undefined : new RegExp(parts.join('|'), 'gu')
  }

  mask(text: string): string {
    return this.#pattern === undefined ? text : text.replaceAll(this.#pattern, MASK)
  }
}
