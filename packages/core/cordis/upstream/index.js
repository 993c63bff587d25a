// The only place that names upstream cordis. Two copies in one process would give services that do not see each
// other, so the second one is refused at once instead of failing in odd places later.
const key = Symbol.for('@deepseek-ai/cordis')
const loaded = globalThis[key]
if (loaded !== undefined && loaded !== import.meta.url) {
  const error = new Error(
    `two copies of @deepseek-ai/cordis are loaded: ${loaded} and ${import.meta.url}. ` +
      'Make it a peer dependency of your plugin and install one copy (npm ls @deepseek-ai/cordis shows both).',
  )
  error.code = 'DUPLICATE_CORDIS'
  throw error
}
globalThis[key] = import.meta.url

export * from 'cordis'
