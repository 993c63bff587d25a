// How numbers and times read in the page. Pure; the clock is always passed in.

/** `48 ms`, `2.1 s`, `2m 14s`, `1h 03m`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  const two = (value: number): string => String(value).padStart(2, '0')
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s`
  return `${Math.floor(seconds / 3600)}h ${two(Math.floor((seconds % 3600) / 60))}m`
}

/** Whole seconds for a clock that counts, so that it does not jitter. */
export function formatElapsed(ms: number): string {
  return ms < 60_000 ? `${Math.max(0, Math.floor(ms / 1000))} s` : formatDuration(ms)
}

/** `14:02`, in the reader's own time zone. */
export function formatClock(time: number): string {
  const date = new Date(time)
  const two = (value: number): string => String(value).padStart(2, '0')
  return `${two(date.getHours())}:${two(date.getMinutes())}`
}

/** `now`, `12m`, `3h`, `6d`, `2w`, then years. */
export function formatAge(time: number, now: number, justNow: string): string {
  const minutes = Math.floor((now - time) / 60_000)
  if (minutes < 1) return justNow
  if (minutes < 60) return `${minutes}m`
  if (minutes < 60 * 24) return `${Math.floor(minutes / 60)}h`
  const days = Math.floor(minutes / (60 * 24))
  if (days < 14) return `${days}d`
  return days < 365 ? `${Math.floor(days / 7)}w` : `${Math.floor(days / 365)}y`
}

/** Last part of a path of either platform. */
export function folderName(path: string): string {
  const parts = path.split(/[/\\]/).filter((part) => part !== '')
  return parts.at(-1) ?? path
}
