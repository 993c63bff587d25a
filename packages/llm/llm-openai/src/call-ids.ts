// Call ids on the wire: servers refuse ids above 64 characters, logs may hold longer ones from another provider.
import { createHash } from 'node:crypto'

export const LONGEST_ID = 64

/**
 * Ids of one request. Short ids stay; a long one becomes its start and a hash, the same in every request. Two ids of the request
 * never become one, whatever they are.
 */
export class CallIds {
  private readonly wire = new Map<string, string>()
  private readonly taken: Set<string>

  /** `ids`: every id that the request holds. */
  constructor(ids: Iterable<string>) {
    const all = [...new Set(ids)]
    this.taken = new Set(all.filter(fits))
    for (const id of all.filter((each) => !fits(each)).sort()) this.wire.set(id, this.shorten(id))
  }

  of(id: string): string {
    return this.wire.get(id) ?? id
  }

  private shorten(id: string): string {
    for (let salt = 0; ; salt++) {
      const hash = createHash('sha256')
        .update(salt === 0 ? id : `${salt}:${id}`)
        .digest('hex')
        .slice(0, 32)
      const short = `${id.replace(/[^\w-]/g, '').slice(0, LONGEST_ID - 33)}_${hash}`
      if (this.taken.has(short)) continue
      this.taken.add(short)
      return short
    }
  }
}

function fits(id: string): boolean {
  return id !== '' && id.length <= LONGEST_ID && !LONE_SURROGATE.test(id)
}

const LONE_SURROGATE = /\p{Surrogate}/u
