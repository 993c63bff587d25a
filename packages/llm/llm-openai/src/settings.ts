// `providers.json`: what people stored for their providers. One small file for all of them, readable by its owner only.
import { randomUUID } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { errorMessage } from '@deepseek-ai/cordis'
import type { LlmProviderSettings } from '@deepseek-ai/dsh-llm'
import { ProviderSettingsError } from './errors.ts'

export interface StoredSettings {
  readonly apiKey?: string
  readonly baseURL?: string
  readonly model?: string
}

type Fields = Record<string, unknown>
const FILE = 'providers.json'
const KEYS = ['apiKey', 'baseURL', 'model'] as const

export function settingsPath(home: string): string {
  return join(home, FILE)
}

/** Empty when there is no file. Throws `SETTINGS_UNREADABLE` for one that is broken or open to others. */
export function readSettings(home: string, provider: string): StoredSettings {
  const fields = providerFields(readFile(settingsPath(home)), provider)
  return Object.fromEntries(
    KEYS.flatMap((key) => {
      const value = fields[key]
      return typeof value === 'string' && value.trim() !== '' ? [[key, value.trim()]] : []
    }),
  )
}

/**
 * Merges settings of one provider into the file and leaves everything else in it alone. Synchronous from reading to renaming, so
 * that two rows of one process never overwrite each other; the new content is on the disk before it gets the name.
 */
export function writeSettings(home: string, provider: string, settings: LlmProviderSettings): void {
  const path = settingsPath(home)
  const content = readFile(path)
  const providers = isFields(content['providers']) ? content['providers'] : {}
  const fields = { ...providerFields(content, provider) }
  for (const key of KEYS) {
    const value = settings[key]
    if (value === null) delete fields[key]
    else if (value !== undefined) fields[key] = value.trim()
  }
  const next = { version: 1, ...content, providers: { ...providers, [provider]: fields } }
  mkdirSync(home, { recursive: true, mode: 0o700 })
  publish(path, `${JSON.stringify(next, undefined, 2)}\n`)
}

function publish(path: string, text: string): void {
  const temporary = `${path}.${randomUUID()}.tmp`
  try {
    const file = openSync(temporary, 'wx', 0o600)
    try {
      writeSync(file, text)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

function readFile(path: string): Fields {
  let text: string
  try {
    const mode = statSync(path).mode
    // Windows keeps no such bits: the profile folder's own access list guards the file there.
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new ProviderSettingsError(
        `${path} holds keys and can be read by others; run: chmod 600 ${path}`,
        'SETTINGS_UNREADABLE',
      )
    }
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof ProviderSettingsError) throw error
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {}
    throw new ProviderSettingsError(`${path} cannot be read: ${errorMessage(error)}`, 'SETTINGS_UNREADABLE', {
      cause: error,
    })
  }
  return parse(text, path)
}

/** The reason of a JSON error quotes the text around it, which may be a key: it is not passed on. */
function parse(text: string, path: string): Fields {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    throw new ProviderSettingsError(`${path} is not JSON; repair or delete it`, 'SETTINGS_UNREADABLE')
  }
  if (isFields(content) && (content['version'] === 1 || content['version'] === undefined)) return content
  throw new ProviderSettingsError(
    `${path} has a shape that this version does not know; it must be {"version": 1, "providers": {…}}`,
    'SETTINGS_UNREADABLE',
  )
}

function providerFields(content: Fields, provider: string): Fields {
  const providers = content['providers']
  if (!isFields(providers) || !Object.hasOwn(providers, provider)) return {}
  const fields = providers[provider]
  return isFields(fields) ? fields : {}
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
