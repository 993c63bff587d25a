// The plugin of terminals on pseudo terminals: registers the backend `shell`. Confines by `ctx.sandboxPolicy` and `ctx.sandbox` where they are.
import type { Context } from '@deepseek-ai/cordis'
import { PtyBackend } from './backend.ts'
import { Config, withDefaults, type TerminalPtyOptions } from './config.ts'

export const name = 'terminal-pty'
export const inject = ['terminals']
export { Config }

export function apply(ctx: Context, options: TerminalPtyOptions = {}): void {
  const backend = new PtyBackend(ctx, withDefaults(options))
  ctx.terminals.registerBackend(backend)
  ctx.effect(() => () => backend.dispose(), 'terminal-pty.watchdog')
}
