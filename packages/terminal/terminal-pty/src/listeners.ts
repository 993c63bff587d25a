// Who wants to hear of something.
import { errorMessage } from '@deepseek-ai/cordis'

/** A function of its own lets the same listener be entered twice and leave once. */
export function entered<Args extends readonly unknown[]>(
  listeners: Set<(...args: Args) => void>,
  listener: (...args: Args) => void,
): () => void {
  const entry = (...args: Args): void => listener(...args)
  listeners.add(entry)
  return () => void listeners.delete(entry)
}

/** One that fails must not keep the others from hearing. */
export function told<Args extends readonly unknown[]>(
  listeners: Iterable<(...args: Args) => void>,
  args: Args,
  onTrouble: (message: string) => void,
): void {
  for (const listener of listeners) {
    try {
      listener(...args)
    } catch (error) {
      onTrouble(`a listener failed: ${errorMessage(error)}`)
    }
  }
}
