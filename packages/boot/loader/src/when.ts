// `when`: the conditions under which a row exists at all.
import { suggestion } from './nearest.ts'
import type { Source } from './source.ts'
import type { EnvCondition, When } from './types.ts'

const PLATFORMS = [
  'aix',
  'android',
  'cygwin',
  'darwin',
  'freebsd',
  'haiku',
  'linux',
  'netbsd',
  'openbsd',
  'sunos',
  'win32',
]
const COMMON_NAMES: Record<string, string> = { windows: 'win32', macos: 'darwin', mac: 'darwin', osx: 'darwin' }

export interface Surroundings {
  readonly platform: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Reads and checks a `when` mapping. */
export function readConditions(source: Source, node: unknown): When {
  const when: { platform?: string[]; env?: EnvCondition } = {}
  for (const { key, keyNode, value } of source.fields(node, '"when"')) {
    if (key === 'platform') when.platform = readPlatforms(source, value)
    else if (key === 'env') when.env = readEnv(source, value)
    else throw source.invalid(keyNode, `unknown condition "${key}"${suggestion(key, ['platform', 'env'])}`)
  }
  return when
}

function readPlatforms(source: Source, node: unknown): string[] {
  const data = source.data(node)
  const names: unknown[] = Array.isArray(data) ? data : [data]
  for (const name of names) {
    if (typeof name !== 'string') throw source.mismatch(node, '"when.platform"', 'a platform name or a list of them')
    if (PLATFORMS.includes(name)) continue
    const common = COMMON_NAMES[name.toLowerCase()]
    const hint = common === undefined ? suggestion(name, PLATFORMS) : `; did you mean "${common}"?`
    throw source.invalid(node, `unknown platform "${name}"${hint}`)
  }
  return names as string[]
}

function readEnv(source: Source, node: unknown): EnvCondition {
  const data = source.data(node)
  if (typeof data === 'string' && data !== '') return data
  if (!source.isMapping(node)) {
    throw source.mismatch(node, '"when.env"', 'a variable name, or a mapping of names to values')
  }
  const wanted: Record<string, string | null> = {}
  for (const { key, value } of source.fields(node, '"when.env"')) {
    const each = source.data(value)
    if (typeof each === 'object' && each !== null) throw source.mismatch(value, `"when.env.${key}"`, 'a plain value')
    wanted[key] = each === null ? null : typeof each === 'string' ? each : JSON.stringify(each)
  }
  return wanted
}

/** Why `when` leaves a row out here, or undefined when it stays. */
export function unmetCondition(when: When | undefined, here: Surroundings): string | undefined {
  if (when?.platform !== undefined && !when.platform.includes(here.platform)) {
    return `only on ${when.platform.join(', ')}; this is ${here.platform}`
  }
  if (when?.env === undefined) return undefined
  if (typeof when.env === 'string') {
    return (here.env[when.env] ?? '') === '' ? `only when ${when.env} is set` : undefined
  }
  for (const [name, wanted] of Object.entries(when.env)) {
    const actual = here.env[name] ?? null
    if (actual === wanted) continue
    return wanted === null ? `only when ${name} is not set` : `only when ${name} is ${JSON.stringify(wanted)}`
  }
  return undefined
}
