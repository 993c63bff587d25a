// The settings of the server and their check. Defaults are applied here and nowhere else.
import { homedir } from 'node:os'
import { join } from 'node:path'
import { isIP } from 'node:net'
import { ServerError } from './errors.ts'

export interface ServerConfig {
  /** Loopback name or address to listen on. Default `127.0.0.1`. Others are refused: the page can run commands on this machine. */
  host?: string
  /** Default 3080; 0 lets the system choose. */
  port?: number
  /** Launch token. Default: random at every start. At least 16 characters. */
  token?: string
  /** Largest request body in bytes. Default 4 MiB. */
  maxBodyBytes?: number
  /** File that keeps the secret behind the cookie, so that open pages survive a restart. Default: none, a secret per process. */
  secretFile?: string
  /** Folder of new sessions. Default: the process's. */
  cwd?: string
  /** Folder of sessions and settings, shown to people. Default `$DSH_HOME`, else `~/.dsh`. */
  home?: string
  /** Version shown to people. Default: this package's. */
  version?: string
  /** Pause between comments that keep an idle stream open, in milliseconds. Default 15000. */
  heartbeatMs?: number
  /** How long a reader of events may take nothing of what waits for it before its connection is cut, in milliseconds. Default 60000. */
  stallMs?: number
}

export interface ServerSettings {
  readonly host: string
  readonly port: number
  readonly token: string | undefined
  readonly maxBodyBytes: number
  readonly secretFile: string | undefined
  readonly cwd: string
  readonly home: string
  readonly version: string | undefined
  readonly heartbeatMs: number
  readonly stallMs: number
}

interface Field {
  readonly wanted: string
  ok(value: unknown): boolean
}

const text = (wanted: string, ok: (value: string) => boolean): Field => ({
  wanted,
  ok: (value) => typeof value === 'string' && ok(value),
})
const whole = (wanted: string, low: number, high: number): Field => ({
  wanted,
  ok: (value) => Number.isInteger(value) && (value as number) >= low && (value as number) <= high,
})
const filled = (value: string): boolean => value.trim() !== ''

const FIELDS: Record<keyof ServerConfig, Field> = {
  host: text('a loopback name or address such as "127.0.0.1", "localhost" or "::1"', isLoopback),
  port: whole('a whole number from 0 to 65535', 0, 65_535),
  token: text('at least 16 characters of A-Z a-z 0-9 - _ . ~', (value) => /^[\w.~-]{16,}$/.test(value)),
  maxBodyBytes: whole('a whole number of bytes from 1024 to 1073741824', 1024, 2 ** 30),
  secretFile: text('a path', filled),
  cwd: text('a path', filled),
  home: text('a path', filled),
  version: text('a text', filled),
  heartbeatMs: whole('a whole number of milliseconds from 10 to 600000', 10, 600_000),
  stallMs: whole('a whole number of milliseconds from 10 to 86400000', 10, 86_400_000),
}

/** True for `localhost`, `::1` and 127.0.0.0/8, in the form that a config or a Host header has. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, '$1')
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'))
}

function issuesOf(config: unknown): string[] {
  if (config === undefined) return []
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    return [`the config of the server must be an object, not ${JSON.stringify(config)}`]
  }
  return Object.entries(config).flatMap(([name, value]) => {
    if (value === undefined) return []
    if (!Object.hasOwn(FIELDS, name)) {
      return [`"${name}" is not a setting of the server; there are ${Object.keys(FIELDS).join(', ')}`]
    }
    const field = FIELDS[name as keyof ServerConfig]
    if (field.ok(value)) return []
    // The value of a bad token stays out of the log.
    const arrived = name === 'token' ? 'something else' : JSON.stringify(value)
    return [`"${name}" of the server must be ${field.wanted}, not ${arrived}`]
  })
}

/** Standard Schema of the plugin's config: names the field, what was wanted and what arrived. */
export const serverConfig = {
  '~standard': {
    version: 1 as const,
    vendor: 'dsh',
    validate(value: unknown): { value: ServerConfig } | { issues: { message: string }[] } {
      const issues = issuesOf(value)
      if (issues.length > 0) return { issues: issues.map((message) => ({ message })) }
      return { value: value ?? {} }
    },
  },
}

/** Applies the defaults. Throws `INVALID_CONFIG`. */
export function resolveConfig(config: ServerConfig = {}): ServerSettings {
  const issues = issuesOf(config)
  if (issues.length > 0) throw new ServerError(issues.join('; '), 'INVALID_CONFIG')
  return {
    host: config.host ?? '127.0.0.1',
    port: config.port ?? 3080,
    token: config.token,
    maxBodyBytes: config.maxBodyBytes ?? 4 * 1024 * 1024,
    secretFile: config.secretFile,
    cwd: config.cwd ?? process.cwd(),
    home: config.home ?? process.env['DSH_HOME'] ?? join(homedir(), '.dsh'),
    version: config.version,
    heartbeatMs: config.heartbeatMs ?? 15_000,
    stallMs: config.stallMs ?? 60_000,
  }
}
