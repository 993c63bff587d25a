// The first so many of any number of things in an order, in memory that does not grow with the number. Of a small number all are held.

export class FirstFew<T> {
  /** Of all that were added. */
  total = 0
  /** Once there is one: what is not before it is none of the first few. */
  bound: T | undefined
  private readonly size: number
  private readonly compare: (left: T, right: T) => number
  private readonly holdUpTo: number
  private kept: T[] = []
  private held: T[] = []

  /** `holdUpTo`: all are held as long as there are no more than these. */
  constructor(size: number, compare: (left: T, right: T) => number, holdUpTo = 0) {
    this.size = size
    this.compare = compare
    this.holdUpTo = holdUpTo
  }

  /** The next one would be held with all others. */
  get isHolding(): boolean {
    return this.total < this.holdUpTo
  }

  add(item: T): void {
    this.total++
    if (this.total <= this.holdUpTo) this.held.push(item)
    else if (this.held.length > 0) this.held = []
    if (this.bound !== undefined && this.compare(item, this.bound) >= 0) return
    this.kept.push(item)
    // Sorting now and then is cheaper than keeping a heap, and as bounded.
    if (this.kept.length >= this.size * 2 + 64) this.trim()
  }

  /** Counts one that its owner knows not to be before the bound. For those that would not be held. */
  pass(): void {
    this.total++
  }

  /** The first few, in order. */
  items(): readonly T[] {
    this.trim()
    return this.kept
  }

  /** In order; undefined when there are more than are held. */
  all(): readonly T[] | undefined {
    if (this.total <= this.size) return this.items()
    return this.total <= this.holdUpTo ? this.held.toSorted(this.compare) : undefined
  }

  private trim(): void {
    this.kept.sort(this.compare)
    if (this.kept.length > this.size) this.kept.length = this.size
    if (this.kept.length === this.size) this.bound = this.kept.at(-1)
  }
}
