// Plugin that serves the built page through the host's server. Owns no routes and no state: the page is a folder of files.
import { fileURLToPath } from 'node:url'
import type { Context } from '@deepseek-ai/cordis'
// For the type of `ctx.server`.
import type * as _server from '@deepseek-ai/dsh-server'

export const name = 'web'
export const inject = ['server']

export function apply(ctx: Context): void {
  // The server takes the page back by itself when this plugin ends.
  ctx.server.page(fileURLToPath(new URL('../dist/page/', import.meta.url)))
}
