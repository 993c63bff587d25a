// Everything upstream exports, plus the helpers that close its traps. Anything added here is public.
export * from '../upstream/index.js'
export { HarnessError, errorCode, errorMessage, type HarnessErrorOptions } from './errors.ts'
export { createHost, type Host, type HostOptions, type LogLevel } from './host.ts'
export { createScope, scopeChain, scopeOf, type Scope, type ScopeKey } from './scope.ts'
export { disposeAndJoin, fiberTable, ordered, type FiberRow } from './fibers.ts'
export { dispatchChain, emitContained, hooksOf, type ListenerTable } from './dispatch.ts'
export {
  MAX_DELAY_MS,
  configSchema,
  fillDefaults,
  nonBlankText,
  nonBlankTexts,
  trueOrFalse,
  wholeNumber,
  type ConfigCheck,
  type ConfigIssue,
  type ConfigSchema,
} from './config.ts'
export { retire } from './retire.ts'
export { lightEffect } from './effect.ts'
export { lightenListeners } from './listeners.ts'
export { editDistance } from './edit-distance.ts'
export { utf8CompleteLength, utf8ContinuationLength } from './utf8.ts'
