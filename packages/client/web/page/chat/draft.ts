// Unsent text, kept per session for as long as the tab lives.
const keyOf = (id: string | undefined): string => `dsh.draft.${id ?? 'new'}`

export function readDraft(id: string | undefined): string {
  return sessionStorage.getItem(keyOf(id)) ?? ''
}

export function writeDraft(id: string | undefined, text: string): void {
  if (text === '') sessionStorage.removeItem(keyOf(id))
  else sessionStorage.setItem(keyOf(id), text)
}
