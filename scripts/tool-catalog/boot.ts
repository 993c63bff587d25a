// Boots one tool package in a host of its own, with the services it asks for, and hands over what it registered.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createHost, type Context, type Fiber, type Plugin } from '@deepseek-ai/cordis'
import ToolRegistry, { type ToolDefinition, type ToolSchema } from '@deepseek-ai/dsh-tools'

/** What a tool package may find in a host: packages that start on any machine, and a stand-in for the one that does not. */
const SERVICES: Readonly<Record<string, string>> = {
  systemPrompt: 'core/system-prompt',
  sessions: 'core/session',
  llm: 'llm/llm',
  agents: 'core/agent',
  jobs: 'jobs/jobs',
  spill: 'spill/spill',
  approval: 'interaction/approval',
  userQuestions: 'interaction/user-questions',
  sandboxPolicy: 'sandbox/sandbox',
  fs: 'fs/fs-local',
  terminals: 'terminal/terminal',
}

/** A shell is bash or PowerShell, confined or not, whatever this machine has: schemas must not depend on it. */
const DIALECTS = ['bash', 'pwsh'] as const
type Dialect = (typeof DIALECTS)[number]
export const CONFINED_SHELL = 'a confined shell'

export interface BootedTools {
  readonly tools: readonly { readonly definition: ToolDefinition; readonly schema: ToolSchema }[]
  /** Services that the package waits for. */
  readonly requires: readonly string[]
  /** Services that it uses where they are there. */
  readonly uses: readonly string[]
  /** Text of the prompt sections that it adds. */
  readonly guidance: string
}

interface ToolModule {
  readonly inject?: readonly string[] | Readonly<Record<string, unknown>>
}

export class ToolBooter {
  readonly #packages: string
  /** Entries that refused the first dialect. */
  readonly #dialects = new Map<string, Dialect>()
  readonly #temp = mkdtempSync(join(tmpdir(), 'dsh-catalogue-'))

  /** `packages` is the folder of packages that services are taken from, as built. */
  constructor(packages: string) {
    this.#packages = packages
  }

  /** `without` names optional services, or `CONFINED_SHELL`, that the host lacks. */
  async boot(entry: string, without: readonly string[] = []): Promise<BootedTools> {
    const module = (await import(pathToFileURL(entry).href)) as Plugin & ToolModule & { default?: Plugin & ToolModule }
    const plugin = module.default ?? module
    const needed = Array.isArray(plugin.inject) ? plugin.inject : Object.keys(plugin.inject ?? {})
    const requires = needed.filter((service) => service !== 'tools')
    // Only a tool that wants a shell has a reason to refuse one dialect.
    const known = this.#dialects.get(entry)
    const [dialect, ...others] = requires.includes('shell') && known === undefined ? DIALECTS : [known ?? DIALECTS[0]]
    try {
      return { ...(await this.#bootWith(plugin, dialect, without)), requires }
    } catch (error) {
      for (const other of others) {
        const booted = await this.#bootWith(plugin, other, without).catch(() => undefined)
        if (booted === undefined) continue
        this.#dialects.set(entry, other)
        return { ...booted, requires }
      }
      throw error
    }
  }

  dispose(): void {
    rmSync(this.#temp, { recursive: true, force: true })
  }

  async #bootWith(
    plugin: Plugin,
    dialect: Dialect,
    without: readonly string[],
  ): Promise<Omit<BootedTools, 'requires'>> {
    // A plugin that fails says so twice: here, and by what its mounting throws.
    const host = createHost({ write: () => {} })
    const { ctx } = host
    try {
      await ctx.plugin(ToolRegistry, { mode: 'native' })
      ctx.provide('shell', shellStandIn(dialect, !without.includes(CONFINED_SHELL)) as never)
      for (const [service, path] of Object.entries(SERVICES)) {
        if (!without.includes(service)) await this.#mount(ctx, path)
      }
      if (!without.includes('llm')) (ctx.get('llm') as ModelTable).register(modelStandIn)
      const known = sectionsOf(ctx).map(({ name }) => name)
      const fiber = await ctx.plugin(plugin)
      const waiting = missing(fiber)
      if (waiting.length > 0) {
        throw new Error(`it waits for ${waiting.join(', ')}: name what provides it in scripts/tool-catalog/boot.ts`)
      }
      await settled(ctx)
      const tools = ctx.tools.schemas().flatMap((schema) => {
        const definition = ctx.tools.get(schema.name)
        return definition === undefined ? [] : [{ definition, schema }]
      })
      const added = sectionsOf(ctx).filter(({ name }) => !known.includes(name))
      return { tools, uses: usedBelow(ctx, fiber), guidance: added.map(({ text }) => text).join('\n\n') }
    } finally {
      await host.dispose()
    }
  }

  async #mount(ctx: Context, path: string): Promise<void> {
    const entry = pathToFileURL(join(this.#packages, path, 'dist/index.js')).href
    const { default: plugin } = (await import(entry)) as { default: Plugin }
    await ctx.plugin(
      plugin as never,
      (path === 'core/session' || path === 'spill/spill' ? { dir: this.#temp } : {}) as never,
    )
  }
}

interface ModelTable {
  register(adapter: object): unknown
}

/** A model that reads whatever there is, so that tools for such models are offered. It answers nothing. */
const modelStandIn = {
  provider: 'catalogue',
  status: () => ({
    provider: 'catalogue',
    label: 'Catalogue',
    configured: true,
    models: [{ provider: 'catalogue', id: 'any', input: ['text', 'image'] }],
    configurable: false,
  }),
  stream: () => {
    throw new Error('the catalogue asks no model')
  },
}

function shellStandIn(dialect: string, confined: boolean): object {
  const refuse = (): never => {
    throw new Error('the catalogue runs no command')
  }
  return { dialect, sandboxMode: confined ? 'workspace-write' : undefined, resolve: refuse, run: refuse, start: refuse }
}

function sectionsOf(ctx: Context): readonly { readonly name: string; readonly text: string }[] {
  const prompt = ctx.get('systemPrompt') as { assemble(): { sections: { name: string; text: string }[] } } | undefined
  return prompt?.assemble().sections ?? []
}

function missing(fiber: Fiber): string[] {
  return Object.keys(fiber.inject).filter((service) => fiber.ctx.get(service) === undefined)
}

/** What the fibers below the plugin's wait for: the services that it does without. */
function usedBelow(ctx: Context, plugin: Fiber): string[] {
  const used = new Set<string>()
  for (const runtime of ctx.registry.values()) {
    for (const fiber of runtime.fibers) {
      if (isBelow(fiber, plugin)) for (const service of Object.keys(fiber.inject)) used.add(service)
    }
  }
  return [...used].sort()
}

function isBelow(fiber: Fiber, ancestor: Fiber): boolean {
  for (let each = fiber; each.parent.fiber !== each; each = each.parent.fiber) {
    if (each.parent.fiber.uid === ancestor.uid) return true
  }
  return false
}

/** Optional services reach a plugin in fibers of their own, which start after it. */
async function settled(ctx: Context): Promise<void> {
  for (const runtime of ctx.registry.values()) {
    for (const fiber of runtime.fibers) if (missing(fiber).length === 0) await fiber.await()
  }
}
