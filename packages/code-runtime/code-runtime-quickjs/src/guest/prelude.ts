// The code that every fresh context starts with, and the parts that come when asked for: the guest functions as texts. They are
// written here, typed and linted with the rest, and never run outside QuickJS.
import { bridge } from './bridge.ts'
import { makeStructuredClone } from './clone.ts'
import { makeInspector } from './inspect.ts'
import { makeLazy } from './lazy.ts'
import { lossless } from './lossless.ts'
import { makeText } from './text.ts'
import { makeTimers } from './timers.ts'
import { makeUrl } from './url.ts'

/** An expression: a function of the guest's host that returns the entry points of `Bridge` and `fire`. */
export const PRELUDE = `'use strict'; (host) => {
  const program = (${bridge})(host, (${lossless})(), (${makeLazy})(host).inspect)
  const timers = (${makeTimers})(host, program.fail)
  return { ...program, ...timers }
}`

/** Expressions: functions of the guest's host that return what the part makes. */
export const PARTS: Readonly<Record<string, string>> = {
  inspector: `'use strict'; (${makeInspector})`,
  url: `'use strict'; (${makeUrl})`,
  text: `'use strict'; (${makeText})`,
  clone: `'use strict'; (${makeStructuredClone})`,
}
