// What a tab and the hub say to each other over their port. Types only.
import type { Connection } from '../stream.ts'
import type { SseMessage } from '../sse.ts'

export type FromTab =
  /** `session` is true when the tab is about to join one. */
  | { readonly kind: 'hello'; readonly session: boolean }
  /** The tab holds a Web Lock of this name for as long as it lives. */
  | { readonly kind: 'alive'; readonly lock: string }
  /** `after` is the `seq` of the newest event that the tab has, -1 for none. `key` names the subscription from now on. */
  | { readonly kind: 'join'; readonly key: number; readonly id: string; readonly after: number }
  | { readonly kind: 'leave'; readonly key: number }
  /** The tab has taken messages of this size; without `key` those of the host. */
  | { readonly kind: 'taken'; readonly key?: number; readonly size: number }
  /** Connect now, do not wait for the next attempt. */
  | { readonly kind: 'retry' }

export type FromHub =
  /** The hub holds a Web Lock of this name for as long as it lives. */
  | { readonly kind: 'alive'; readonly lock: string }
  | { readonly kind: 'messages'; readonly key: number; readonly messages: readonly SseMessage[]; readonly size: number }
  | { readonly kind: 'connection'; readonly key: number; readonly connection: Connection }
  | { readonly kind: 'host'; readonly messages: readonly string[]; readonly size: number }
  /** `open` also after frames were left out: read the list anew. */
  | { readonly kind: 'host-connection'; readonly connection: Connection }
  | { readonly kind: 'signed-out' }
