// Which file the page shows beside the session, if any. Any card may ask for one.

export interface FilePlace {
  /** As a card tells it: absolute, or relative to the session's folder. */
  readonly path: string
  /** 1-based. */
  readonly line?: number
}

let place: FilePlace | undefined
const listeners = new Set<() => void>()

export const openedFile = {
  snapshot: (): FilePlace | undefined => place,
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
}

export function openFile(next: FilePlace | undefined): void {
  place = next
  for (const listener of listeners) listener()
}
