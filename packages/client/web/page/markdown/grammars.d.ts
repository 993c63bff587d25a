// The grammars come from lowlight's own copy of highlight.js (see vite.config.ts), whose types this package cannot reach.
declare module 'highlight.js/lib/languages/*' {
  import type { createLowlight } from 'lowlight'
  const grammar: Parameters<ReturnType<typeof createLowlight>['register']>[0] extends infer First
    ? Extract<First, Record<string, unknown>>[string]
    : never
  export default grammar
}
