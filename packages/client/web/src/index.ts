// Plugin that serves the built page through the host's server. Owns no routes and no state: the page is a folder of files.
import { fileURLToPath } from 'node:url'
import type { Context } from '@deepseek-ai/cordis'

/** The one method of `ctx.server` this plugin needs. `page` serves a folder at `/` and returns its disposer. */
interface PageHost {
  page(dir: string): () => void
}

export const name = 'web'
export const inject = ['server']

export function apply(ctx: Context): void {
  const { server } = ctx as Context & { server: PageHost }
  const dir = fileURLToPath(new URL('../dist/page/', import.meta.url))
  ctx.effect(() => server.page(dir), 'web.page')
}
