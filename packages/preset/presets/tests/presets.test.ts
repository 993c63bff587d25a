import { existsSync, readFileSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { describe, expect, it } from 'vitest'
import { presetFiles, presetNames } from '../src/index.ts'
// By path: the loader is no dependency of the presets, only what reads them.
import { compose } from '../../../boot/loader/src/compose.ts'
import type { Composition } from '../../../boot/loader/src/types.ts'

const options = { env: {}, cwd: '/work', home: '/home/me/.dsh' }
const composed = (name: string, platform: string, env: Record<string, string> = {}): Composition =>
  compose({ ...options, env, platform, presets: presetFiles(name) })
const ids = (composition: Composition): string[] => composition.rows.map((row) => row.id)

const core = ['system-prompt', 'tools', 'code-runtime', 'sessions', 'llm', 'deepseek', 'openai', 'offline', 'agents']
const shared = [...core, 'spill', 'jobs', 'tool-jobs', 'sandbox-policy']
const posix = ['sandbox', 'shell', 'tool-bash']
const windows = ['pwsh', 'tool-pwsh']
const files = ['fs', 'tool-fs', 'tool-fs-search', 'read-before-write']
const terminals = ['terminals', 'terminal-pty', 'tool-terminal']
const browser = ['approval', 'user-questions', 'server', 'page']

describe('presets', () => {
  it.each([
    ['web', 'linux', [...shared, ...posix, ...files, ...terminals, ...browser], windows],
    ['web', 'darwin', [...shared, ...posix, ...files, ...terminals, ...browser], windows],
    ['web', 'win32', [...shared, ...windows, ...files, ...browser], [...posix, ...terminals]],
    ['headless', 'linux', [...shared, ...posix, ...files], windows],
    ['headless', 'darwin', [...shared, ...posix, ...files], windows],
    ['headless', 'win32', [...shared, ...windows, ...files], posix],
  ])('compose %s on %s', (name, platform, wanted, left) => {
    const composition = composed(name, platform)
    expect(ids(composition)).toEqual(wanted)
    expect(composition.rows.filter((row) => !row.required).map((row) => row.id)).toEqual(['code-runtime'])
    expect(composition.rows.every((row) => !row.disabled)).toBe(true)
    expect(composition.skipped.map((row) => row.id)).toEqual(left)
  })

  it('keep sessions and provider settings under the home folder, and the server on loopback', () => {
    const config = (id: string): unknown => composed('web', 'linux').rows.find((row) => row.id === id)?.config
    expect(config('sessions')).toEqual({ dir: '/home/me/.dsh/sessions' })
    expect(config('deepseek')).toEqual({ provider: 'deepseek', home: '/home/me/.dsh' })
    expect(config('openai')).toEqual({ provider: 'openai', home: '/home/me/.dsh', models: ['gpt-5-mini'] })
    expect(config('llm')).toEqual({ default: '' })
    expect(config('server')).toMatchObject({ host: '127.0.0.1', port: 3080 })
  })

  it('take the permission and the network of commands from the environment, and confine without', () => {
    const policy = (env: Record<string, string>): unknown =>
      composed('headless', 'linux', env).rows.find(({ id }) => id === 'sandbox-policy')?.config
    expect(policy({})).toEqual({ mode: 'workspace-write', network: 'open' })
    expect(policy({ DSH_PERMISSION: 'read-only', DSH_NETWORK: 'none' })).toEqual({ mode: 'read-only', network: 'none' })
  })

  it('take models from the environment', () => {
    const { rows } = composed('headless', 'linux', { DSH_MODEL: 'openai/local', OPENAI_MODEL: 'qwen3' })
    expect(rows.find(({ id }) => id === 'llm')?.config).toEqual({ default: 'openai/local' })
    expect(rows.find(({ id }) => id === 'openai')?.config).toMatchObject({ models: ['qwen3'] })
  })

  it('name only packages that the presets package brings along', () => {
    const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
      dependencies: Record<string, string>
    }
    for (const name of presetNames()) {
      for (const row of composed(name, 'linux').rows) expect(Object.keys(manifest.dependencies)).toContain(row.name)
    }
  })

  it('are absolute paths of files that exist', () => {
    expect(presetNames()).toEqual(['web', 'headless'])
    for (const file of presetNames().flatMap(presetFiles)) {
      expect(isAbsolute(file) && existsSync(file), file).toBe(true)
    }
  })

  it.each(['desktop', '', 'toString', '../web'])('refuse the unknown name %j and name the known ones', (name) => {
    expect(() => presetFiles(name)).toThrow(`unknown preset "${name}"; known: web, headless`)
  })
})
