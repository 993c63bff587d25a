// Starts a composition in a context and reports what became of every row.
import { pathToFileURL } from 'node:url'
import type { Context, Fiber } from '@deepseek-ai/cordis'
import { Loader } from './loader.ts'
import type { BootOptions, BootReport, Composition } from './types.ts'

/**
 * Mounts every row and waits until each is active, failed, waiting for a service, or overdue. One failing row leaves the
 * others working; the caller decides by `report.ok` whether to go on. Provides `ctx.loader`. Does not reject for rows.
 */
export async function boot(composition: Composition, options: BootOptions): Promise<BootReport> {
  const given = options.hostURL ?? []
  const hosts = [
    ...(typeof given === 'string' ? [given] : given),
    // Presets bring the packages they name as their own dependencies, and the loader brings cordis.
    ...composition.presets.map((file) => pathToFileURL(file).href),
    import.meta.url,
  ]
  const loader = new Loader(composition, options, [...new Set(hosts)])
  await options.ctx.plugin({
    name: 'loader',
    apply: (ctx: Context) => {
      ctx.on('internal/status', (fiber: Fiber) => loader.observe(fiber), { global: true })
      ctx.provide('loader', loader)
    },
  })
  await loader.start()
  return loader.report()
}
