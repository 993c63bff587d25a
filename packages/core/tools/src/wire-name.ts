// Names that model providers accept. A tool may be called anything; what a provider would refuse gets a name of its own.
import { createHash } from 'node:crypto'

const ACCEPTED = /^[A-Za-z0-9_-]{1,64}$/
const HASH_LENGTH = 12

/**
 * The name a model is told: the tool's own where every provider accepts it, otherwise its readable part and a hash of the whole, so
 * that two tools never share one. Deterministic.
 */
export function wireName(name: string): string {
  if (ACCEPTED.test(name)) return name
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_LENGTH)
  const readable = name.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 64 - HASH_LENGTH - 1)
  return `${readable}_${hash}`
}
