// Small hooks over the browser: stores, clocks, the address bar, the theme cookie and what is copied.
import { useCallback, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore, type RefObject } from 'react'

/** The time, renewed every `everyMs` while `active`. */
export function useNow(active: boolean, everyMs = 1000): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    if (!active) return undefined
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [active, everyMs])
  return now
}

const places = new Set<() => void>()

export function navigate(path: string, options: { replace?: boolean } = {}): void {
  if (path !== location.pathname) history[options.replace ? 'replaceState' : 'pushState'](null, '', path)
  for (const listener of places) listener()
}

function subscribePlace(listener: () => void): () => void {
  places.add(listener)
  window.addEventListener('popstate', listener)
  return () => {
    places.delete(listener)
    window.removeEventListener('popstate', listener)
  }
}

/** The session that the address names; undefined on the first page. */
export function useSessionId(): string | undefined {
  const path = useSyncExternalStore(subscribePlace, () => location.pathname)
  const found = /^\/s\/([A-Za-z0-9_-]+)\/?$/.exec(path)
  return found?.[1]
}

export const sessionPath = (id: string): string => `/s/${id}`

export function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (listener: () => void) => {
      const list = matchMedia(query)
      list.addEventListener('change', listener)
      return () => list.removeEventListener('change', listener)
    },
    [query],
  )
  return useSyncExternalStore(subscribe, () => matchMedia(query).matches)
}

export const useNarrow = (): boolean => useMedia('(max-width: 759px)')

export type Theme = 'light' | 'dark' | 'system'

export function currentTheme(): Theme {
  const { theme } = document.documentElement.dataset
  return theme === 'light' || theme === 'dark' ? theme : 'system'
}

/** Remembered in a cookie, so that the next first paint has it. */
export function chooseTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
  const age = theme === 'system' ? 0 : 60 * 60 * 24 * 365
  document.cookie = `theme=${theme}; path=/; max-age=${age}; samesite=lax`
}

/** `copied` is true for a moment after a copy. */
export function useCopy(): { copied: boolean; copy: (text: string) => void } {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return undefined
    const timer = setTimeout(() => setCopied(false), 1500)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = useCallback((text: string) => {
    void navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      // A browser may refuse the clipboard; the text stays selectable.
      () => setCopied(false),
    )
  }, [])
  return { copied, copy }
}

/** Keeps a scrolled box at the end of growing content, until a person scrolls away from there. */
export function useTail<Box extends HTMLElement>(content: unknown): RefObject<Box | null> {
  const box = useRef<Box>(null)
  const atEnd = useRef(true)
  useEffect(() => {
    const { current } = box
    const look = (): void => {
      if (current) atEnd.current = current.scrollHeight - current.scrollTop - current.clientHeight < 8
    }
    current?.addEventListener('scroll', look, { passive: true })
    return () => current?.removeEventListener('scroll', look)
  }, [])
  useLayoutEffect(() => {
    if (box.current && atEnd.current) box.current.scrollTop = box.current.scrollHeight
  }, [content])
  return box
}

const isMac = /Mac|iP/.test(navigator.platform)

export const keyLabel = (keys: string): string => (isMac ? keys : keys.replace('⌘', 'Ctrl'))
