// Deep freezing of JSON that is ours alone.

/** Freezes `value` and everything in it; returns it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) if (typeof item === 'object' && item !== null) deepFreeze(item)
    return Object.freeze(value)
  }
  // Note: for-in walks V8's cached list of keys, where `Object.keys` makes one an object. JSON inherits no enumerable keys.
  for (const key in value) {
    const item: unknown = value[key]
    if (typeof item === 'object' && item !== null) deepFreeze(item)
  }
  return Object.freeze(value)
}
