// What a module exports as a plugin, and the fresh wrapper that each row mounts instead of it.
import { Inject, type Context, type Plugin } from '@deepseek-ai/cordis'
import { LoaderError } from './errors.ts'
import { nearest } from './nearest.ts'
import type { ComposedRow } from './types.ts'

type PluginFunction = (ctx: Context, config: unknown) => unknown
type PluginClass = new (ctx: Context, config: unknown) => object

/** A plugin found in a module, with what cordis reads from it. */
export interface FoundPlugin {
  readonly start:
    | { readonly kind: 'function'; readonly run: PluginFunction }
    | { readonly kind: 'class'; readonly type: PluginClass }
  readonly name: string | undefined
  readonly inject: Inject | undefined
  readonly config: Plugin.Base['Config'] | undefined
  readonly provides: readonly string[]
}

type Bag = Record<string, unknown>

/**
 * The plugin of a module: its default export (a class, a function or an object with `apply`), otherwise its `apply`.
 * `name`, `inject` and `Config` may stand on the plugin or beside it as exports of the module.
 */
export function findPlugin(module: unknown): FoundPlugin {
  const exports = bag(module)
  for (const candidate of [exports['default'], bag(exports['default'])['default'], exports]) {
    const start = startOf(candidate)
    if (start === undefined) continue
    const own = bag(candidate)
    const read = (key: string): unknown => own[key] ?? exports[key]
    return {
      start,
      name: pluginName(own['name'], exports['name']),
      inject: checkedInject(read('inject')),
      config: checkedConfig(read('Config')),
      provides: [read('provide') ?? []].flat().filter((each): each is string => typeof each === 'string'),
    }
  }
  throw new LoaderError(noPlugin(exports), 'NO_PLUGIN')
}

function startOf(candidate: unknown): FoundPlugin['start'] | undefined {
  if (typeof candidate === 'function') {
    return isClass(candidate)
      ? { kind: 'class', type: candidate as PluginClass }
      : { kind: 'function', run: candidate as PluginFunction }
  }
  const apply = bag(candidate)['apply']
  if (typeof apply !== 'function') return undefined
  return { kind: 'function', run: (ctx, config) => Reflect.apply(apply, candidate, [ctx, config]) as unknown }
}

// A plain function has a `prototype` too, which is why upstream calls it with `new` and loses the disposer it returns.
function isClass(value: Function): boolean {
  return /^class\b/.test(Function.prototype.toString.call(value))
}

function bag(value: unknown): Bag {
  return (typeof value === 'object' && value !== null) || typeof value === 'function' ? (value as Bag) : {}
}

function pluginName(own: unknown, exported: unknown): string | undefined {
  for (const name of [exported, own]) {
    if (typeof name === 'string' && !['', 'apply', 'default'].includes(name)) return name
  }
  return undefined
}

function checkedInject(inject: unknown): Inject | undefined {
  if (inject === undefined || inject === null) return undefined
  if (Array.isArray(inject) ? inject.every((each) => typeof each === 'string') : typeof inject === 'object') {
    return inject
  }
  throw new LoaderError(
    `the plugin's "inject" must be a list of service names or an object, got ${JSON.stringify(inject)}`,
    'NO_PLUGIN',
  )
}

function checkedConfig(config: unknown): Plugin.Base['Config'] | undefined {
  if (config === undefined || config === null) return undefined
  if (typeof bag(bag(config)['~standard'])['validate'] === 'function') return config as Plugin.Base['Config']
  throw new LoaderError('the plugin\'s "Config" must be a Standard Schema (an object with "~standard")', 'NO_PLUGIN')
}

function noPlugin(exports: Bag): string {
  const names = Object.keys(exports)
  const close = nearest(
    'apply',
    names.filter((name) => name !== 'default'),
  )
  const found = names.length === 0 ? 'it exports nothing' : `it exports ${names.join(', ')}`
  const hint = close === undefined ? '' : `; is "${close}" meant to be "apply"?`
  return `the module is no plugin: ${found}; wanted a function "apply(ctx, config)" or a default export that is a plugin${hint}`
}

/** What a row mounts: its own wrapper, so that the module stays untouched and each row has a life of its own. */
export function wrapPlugin(plugin: FoundPlugin, row: ComposedRow): Plugin {
  const inject = Inject.resolve(row.inject, Inject.resolve(plugin.inject))
  const name = plugin.name ?? row.id
  const common = { inject, ...(plugin.config === undefined ? {} : { Config: plugin.config }) }
  if (plugin.start.kind === 'class') {
    const Wrapper = class extends plugin.start.type {}
    Object.defineProperty(Wrapper, 'name', { value: name, configurable: true })
    for (const [key, value] of Object.entries(common)) {
      Object.defineProperty(Wrapper, key, { value, configurable: true, writable: true, enumerable: true })
    }
    return Wrapper
  }
  const { run } = plugin.start
  return { ...common, name, apply: (ctx: Context, config: unknown) => run(ctx, config) }
}
