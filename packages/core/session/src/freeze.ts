// Deep freezing of JSON that is ours alone.

/** Freezes `value` and everything in it; returns it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const key of Object.keys(value)) {
    const item: unknown = value[key as keyof T & string]
    if (typeof item === 'object' && item !== null) deepFreeze(item)
  }
  return Object.freeze(value)
}
