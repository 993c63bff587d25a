// Which card draws which view kind. A new kind is one entry here; a kind of a newer server falls back to the generic card and says so.
import type { ComponentType } from 'react'
import type { CallItem } from '../state/items.ts'
import { diff } from './diff.tsx'
import { generic } from './generic.tsx'
import { read } from './read.tsx'
import { search } from './search.tsx'
import { terminal } from './terminal.tsx'

export interface Card {
  /** Inside of the expanded box. Pure: the same item gives the same elements, live and on replay. */
  readonly Body: ComponentType<{ item: CallItem }>
  /** Facts of the footer, worst first. */
  receipts(item: CallItem): readonly string[]
  copyText(item: CallItem): string
}

const cards: Record<string, Card> = { generic, terminal, diff, read, search }

export function cardOf(item: CallItem): { readonly card: Card; readonly unknownKind: string | undefined } {
  const kind: string = item.resultView?.card ?? item.callView?.card ?? 'generic'
  const card = Object.hasOwn(cards, kind) ? cards[kind] : undefined
  return card ? { card, unknownKind: undefined } : { card: generic, unknownKind: kind }
}
