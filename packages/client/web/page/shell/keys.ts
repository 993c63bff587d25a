// The keys of the page; C belongs to the row that has the focus. Single letters act only when no field has the focus; every action has a button too.
import { useEffect, useRef } from 'react'
import { focusRow } from '../chat/list.tsx'

export interface KeyActions {
  readonly newSession: () => void
  readonly palette: () => void
  readonly sidebar: () => void
  readonly shortcuts: () => void
}

/** Opens every row of the newest turn, or closes them when all are open. */
function toggleTurn(): void {
  const calls = [...document.querySelectorAll<HTMLElement>('[data-chat-list] [data-kind=call]')]
  const turn = calls.at(-1)?.dataset['turn']
  const rows = calls
    .filter((call) => call.dataset['turn'] === turn)
    .map((call) => call.querySelector<HTMLElement>('[data-row]'))
  const target = rows.some((row) => row?.ariaExpanded === 'false') ? 'false' : 'true'
  for (const row of rows) if (row?.ariaExpanded === target) row.click()
}

function inField(): boolean {
  const focused = document.activeElement as HTMLElement | null
  return (
    focused !== null &&
    (focused.matches('input, textarea, select, [contenteditable]') ||
      focused.closest('[role=dialog],[role=menu]') !== null)
  )
}

export function usePageKeys(actions: KeyActions): void {
  const latest = useRef(actions)
  latest.current = actions
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.altKey) return
      const act = (event.metaKey || event.ctrlKey ? chord(latest.current) : inField() ? {} : letters(latest.current))[
        event.key
      ]
      if (!act) return
      event.preventDefault()
      act()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
}

type Bindings = Record<string, (() => void) | undefined>

const chord = (actions: KeyActions): Bindings => ({ k: actions.palette, b: actions.sidebar })

const letters = (actions: KeyActions): Bindings => ({
  n: actions.newSession,
  j: () => focusRow(1),
  k: () => focusRow(-1),
  e: toggleTurn,
  g: () => document.querySelector<HTMLElement>('[data-to-end]')?.click(),
  '/': () => document.querySelector<HTMLElement>('[data-composer]')?.focus(),
  '?': actions.shortcuts,
})
