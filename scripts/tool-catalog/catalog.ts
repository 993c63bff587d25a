// The catalogue as data: every tool package of a checkout, booted, and what the registry itself brings.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createHost, errorMessage } from '@deepseek-ai/cordis'
import ToolRegistry from '@deepseek-ai/dsh-tools'
import { CONFINED_SHELL, ToolBooter, type BootedTools } from './boot.ts'
import { describeTool, tokensOf, type ToolFacts } from './describe.ts'
import { policyParts, presetExposure, type Exposure, type PolicyPart } from './presets.ts'

export interface CatalogTool extends ToolFacts {
  /** Parameters that appear only where the host has all that is listed for each. */
  readonly conditional: Readonly<Record<string, readonly string[]>>
}

export interface CatalogPackage {
  readonly name: string
  /** Relative to the root, with forward slashes. */
  readonly dir: string
  readonly description: string
  readonly requires: readonly string[]
  readonly uses: readonly string[]
  /** What the package adds to the system prompt, counted as `tokensOf` does. */
  readonly guidanceTokens: number
  readonly presets: readonly Exposure[]
  readonly tools: readonly CatalogTool[]
}

export interface Catalog {
  readonly packages: readonly CatalogPackage[]
  readonly policy: readonly PolicyPart[]
}

/** Thrown with every package that is missing, not only the first. */
export class CatalogError extends Error {
  override readonly name = 'CatalogError'
}

/** Boots what is built. `root` has the tool packages; `host` the services, loader and presets. */
export async function makeCatalog(root: string, host: string): Promise<Catalog> {
  const services = join(host, 'packages')
  const exposure = await presetExposure(services)
  const booter = new ToolBooter(services)
  const problems: string[] = []
  const packages: CatalogPackage[] = []
  try {
    for (const dir of toolPackages(root)) {
      try {
        packages.push(await describePackage(root, dir, booter, exposure))
      } catch (error) {
        problems.push(`${dir}: ${errorMessage(error)}`)
      }
    }
    packages.push(await registryItself(host, exposure))
  } finally {
    booter.dispose()
  }
  if (problems.length > 0) throw new CatalogError(problems.join('\n'))
  return { packages, policy: policyParts(services, exposure) }
}

/** `packages/*` + `/tool-*`, in order of their paths: a package that is not here is in no catalogue. */
export function toolPackages(root: string): string[] {
  return readdirSync(join(root, 'packages'))
    .flatMap((group) => readdirSync(join(root, 'packages', group)).map((name) => `packages/${group}/${name}`))
    .filter((dir) => /\/tool-[^/]+$/.test(dir) && existsSync(join(root, dir, 'package.json')))
    .sort()
}

async function describePackage(
  root: string,
  dir: string,
  booter: ToolBooter,
  exposure: ReadonlyMap<string, readonly Exposure[]>,
): Promise<CatalogPackage> {
  const { name, description = '' } = manifestOf(root, dir)
  const entry = join(root, dir, 'dist/index.js')
  if (!existsSync(entry)) throw new Error('it is not built; run "npm run build"')
  const booted = await booter.boot(entry)
  if (booted.tools.length === 0) throw new Error('it registers no tool')
  const conditions = await conditionsOf(booter, entry, booted)
  return {
    name,
    dir,
    description,
    requires: booted.requires,
    uses: booted.uses,
    guidanceTokens: tokensOf(booted.guidance),
    presets: exposure.get(name) ?? [],
    tools: booted.tools.map(({ definition, schema }) => ({
      ...describeTool(definition, schema),
      conditional: conditions.get(schema.name) ?? {},
    })),
  }
}

/** Takes one service away at a time, and sees which parameters go with it. */
async function conditionsOf(
  booter: ToolBooter,
  entry: string,
  full: BootedTools,
): Promise<ReadonlyMap<string, Readonly<Record<string, readonly string[]>>>> {
  const found = new Map<string, Record<string, string[]>>()
  const optional = [...full.uses, ...(full.requires.includes('shell') ? [CONFINED_SHELL] : [])]
  for (const service of optional) {
    const { tools } = await booter.boot(entry, [service])
    for (const { schema } of full.tools) {
      const left = tools.find((each) => each.schema.name === schema.name)?.schema.parameters.properties ?? {}
      for (const parameter of Object.keys(schema.parameters.properties ?? {})) {
        if (Object.hasOwn(left, parameter)) continue
        const conditional = found.get(schema.name) ?? {}
        conditional[parameter] = [...(conditional[parameter] ?? []), service]
        found.set(schema.name, conditional)
      }
    }
  }
  return found
}

/** `run_code`, which no package registers. */
async function registryItself(
  root: string,
  exposure: ReadonlyMap<string, readonly Exposure[]>,
): Promise<CatalogPackage> {
  const dir = 'packages/core/tools'
  const { name, description = '' } = manifestOf(root, dir)
  const host = createHost()
  const { ctx } = host
  try {
    await ctx.plugin(ToolRegistry, { mode: 'both' })
    const tools = ctx.tools.schemas().flatMap((schema) => {
      const definition = ctx.tools.get(schema.name)
      return definition === undefined ? [] : [{ ...describeTool(definition, schema), conditional: {} }]
    })
    return {
      name,
      dir,
      description,
      requires: ['codeRuntime'],
      uses: [],
      guidanceTokens: 0,
      presets: exposure.get(name) ?? [],
      tools,
    }
  } finally {
    await host.dispose()
  }
}

function manifestOf(root: string, dir: string): { name: string; description?: string } {
  return JSON.parse(readFileSync(join(root, dir, 'package.json'), 'utf8')) as { name: string; description?: string }
}
