import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import Llm from '@deepseek-ai/dsh-llm'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startMockLlm } from '../../../testing/llm-mock/src/index.ts'
import { drain, textOf } from '../../llm/tests/adapter-contract.ts'
import { openAiAdapter } from '../src/adapter.ts'
import { resolveConfig } from '../src/config.ts'
import * as plugin from '../src/index.ts'
import type { OpenAiConfig } from '../src/index.ts'

const KEY = 'sk-stored-0123456789abcdef'
let home: string
beforeEach(() => void (home = mkdtempSync(join(tmpdir(), 'dsh-llm-'))))
afterEach(() => rmSync(home, { recursive: true, force: true }))

function adapterFor(config: Partial<OpenAiConfig> = {}, env: NodeJS.ProcessEnv = {}) {
  return openAiAdapter(resolveConfig({ provider: 'deepseek', home, ...config }), env)
}

function request() {
  const signal = new AbortController().signal
  return { provider: 'deepseek', model: 'm', system: '', tools: [], messages: [], signal }
}

describe('the key', () => {
  it('comes from the config, then the environment, then the settings', async () => {
    const adapter = adapterFor()
    await adapter.configure?.({ apiKey: KEY })
    const env = { DEEPSEEK_API_KEY: 'sk-env' }
    expect(adapter.status().keySource).toBe('settings')
    expect(adapterFor({}, env).status().keySource).toBe('environment DEEPSEEK_API_KEY')
    expect(adapterFor({ apiKeyEnv: 'MY_KEY' }, { MY_KEY: 'x' }).status().keySource).toBe('environment MY_KEY')
    expect(adapterFor({ apiKey: 'sk-config' }, env).status().keySource).toBe('config')
    expect(adapterFor({ apiKey: ' ' }, { DEEPSEEK_API_KEY: '' }).status().keySource).toBe('settings')
  })

  it('is asked for before any network use when it is missing', async () => {
    const server = await startMockLlm()
    expect(adapterFor({ baseURL: server.url }).status()).toMatchObject({ configured: true })
    const adapter = adapterFor({ baseURL: server.url, requireKey: true })
    expect(adapter.status()).toMatchObject({
      configured: false,
      remedy: 'Set DEEPSEEK_API_KEY or add a key in Settings.',
    })
    expect(await drain(adapter.stream(request()))).toEqual([
      {
        type: 'error',
        failure: {
          code: 'MISSING_CREDENTIAL',
          message: '"deepseek" has no API key. Set DEEPSEEK_API_KEY or add a key in Settings.',
        },
      },
    ])
    expect(server.requests).toEqual([])
    await server.close()
  })

  it('is refused without being shown when no header could carry it', async () => {
    for (const apiKey of ['sk-with space-123456', 'sk-line\nbreak-123456', 'sk-ümlaut-123456']) {
      const chunks = await drain(adapterFor({ apiKey, baseURL: 'http://127.0.0.1:9' }).stream(request()))
      expect(chunks).toMatchObject([{ failure: { code: 'AUTH', message: expect.stringContaining('from config') } }])
      expect(JSON.stringify(chunks)).not.toContain('123456')
    }
  })

  it('is named by its source when the server refuses it', async () => {
    const server = await startMockLlm({ apiKey: 'right' })
    const env = { DEEPSEEK_API_KEY: KEY }
    const chunks = await drain(adapterFor({ baseURL: server.url }, env).stream(request()))
    expect(chunks).toMatchObject([
      { failure: { code: 'AUTH', message: expect.stringContaining('environment DEEPSEEK_API_KEY (ending in …cdef)') } },
    ])
    await server.close()
  })

  it('never shows in a status or an error', async () => {
    const adapter = adapterFor({ baseURL: `https://host/v1?token=${KEY}` }, { DEEPSEEK_API_KEY: KEY })
    expect(JSON.stringify(adapter.status())).not.toContain(KEY)
    await expect(adapter.configure?.({ apiKey: 'sk-other' })).rejects.toSatisfy(
      (error) => !String(error).includes('sk-other'),
    )
    const root = new Context()
    await root.plugin(Llm)
    await expect(root.plugin(plugin, { provider: 'x', apiKey: [KEY] as never })).rejects.toSatisfy(
      (error) => String(error).includes('"apiKey" must be a string, got a object') && !String(error).includes(KEY),
    )
  })
})

describe('stored settings', () => {
  it('are used from the next request on, and private', async () => {
    const server = await startMockLlm({ apiKey: KEY })
    const adapter = adapterFor()
    await adapter.configure?.({ apiKey: ` ${KEY}\n`, baseURL: server.url, model: 'my-model' })
    expect(textOf(await drain(adapter.stream(request())))).toContain('You said')
    expect(adapter.status()).toMatchObject({ configured: true, baseURL: server.url, configurable: true })
    expect(adapter.status().models.map((model) => model.id)).toEqual([
      'my-model',
      'deepseek-v4-flash',
      'deepseek-v4-pro',
    ])
    expect(statSync(join(home, 'providers.json')).mode & 0o777).toBe(0o600)
    expect(readdirSync(home)).toEqual(['providers.json'])
    await server.close()
  })

  it('keep other providers and unknown fields, and clear what is null', async () => {
    const file = join(home, 'providers.json')
    const before = {
      version: 1,
      later: true,
      providers: { other: { apiKey: 'o' }, deepseek: { apiKey: 'a', model: 'm', x: 1 } },
    }
    writeFileSync(file, JSON.stringify(before), { mode: 0o600 })
    await adapterFor().configure?.({ apiKey: null, baseURL: 'https://x.example/v1' })
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      version: 1,
      later: true,
      providers: { other: { apiKey: 'o' }, deepseek: { model: 'm', x: 1, baseURL: 'https://x.example/v1' } },
    })
  })

  it('of many providers written at once are all there', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `p${index}`)
    await Promise.all(
      names.map(async (provider) => adapterFor({ provider }).configure?.({ apiKey: `key-${provider}` })),
    )
    const stored = JSON.parse(readFileSync(join(home, 'providers.json'), 'utf8')) as { providers: object }
    expect(Object.keys(stored.providers)).toHaveLength(20)
  })

  it('create their folder', async () => {
    const folder = join(home, 'a', 'b')
    await adapterFor({ home: folder }).configure?.({ apiKey: KEY })
    expect(existsSync(join(folder, 'providers.json'))).toBe(true)
  })

  it('are refused when others can read the file', async () => {
    const file = join(home, 'providers.json')
    writeFileSync(file, JSON.stringify({ version: 1, providers: { deepseek: { apiKey: KEY } } }))
    chmodSync(file, 0o644)
    expect(adapterFor().status()).toMatchObject({
      configured: false,
      remedy: expect.stringContaining(`chmod 600 ${file}`),
    })
    await expect(adapterFor().configure?.({ model: 'm' })).rejects.toMatchObject({ code: 'SETTINGS_UNREADABLE' })
    expect(adapterFor({}, { DEEPSEEK_API_KEY: 'k' }).status().configured).toBe(true)
  })

  it.each(['{"version":1,"providers":{"deepseek":{"apiKey":"sk-secret', '[]', '{"version":2}'])(
    'that cannot be read are not overwritten: %s',
    async (content) => {
      const file = join(home, 'providers.json')
      writeFileSync(file, content, { mode: 0o600 })
      const { remedy } = adapterFor().status()
      expect(remedy).toContain(file)
      expect(remedy).not.toContain('sk-secret')
      await expect(adapterFor().configure?.({ apiKey: KEY })).rejects.toMatchObject({ code: 'SETTINGS_UNREADABLE' })
      expect(readFileSync(file, 'utf8')).toBe(content)
    },
  )

  it('that the environment would hide are refused, equal ones are not', async () => {
    const env = { DEEPSEEK_API_KEY: 'sk-env', DEEPSEEK_BASE_URL: 'https://x.example' }
    const adapter = adapterFor({}, env)
    await expect(adapter.configure?.({ apiKey: KEY })).rejects.toMatchObject({
      code: 'SETTINGS_SHADOWED',
      message: expect.stringContaining('environment DEEPSEEK_API_KEY'),
    })
    await adapter.configure?.({ baseURL: 'https://x.example', model: 'm' })
    expect(readFileSync(join(home, 'providers.json'), 'utf8')).not.toContain('x.example')
  })

  it.each([
    [{ baseURL: 'not a url' }, 'is no URL'],
    [{ baseURL: 'file:///etc/passwd' }, 'must start with https'],
    [{ baseURL: 'https://me:secret@host/v1' }, 'must not hold a name or password'],
    [{ apiKey: 'two words' }, 'holds a blank'],
  ])('that could not work are refused: %j', async (settings, message) => {
    await expect(adapterFor().configure?.(settings)).rejects.toMatchObject({
      code: 'SETTINGS_INVALID',
      message: expect.stringContaining(message),
    })
    expect(readdirSync(home)).toEqual([])
  })

  it('need a folder', async () => {
    const adapter = openAiAdapter(resolveConfig({ provider: 'deepseek' }), {})
    expect(adapter.status()).toMatchObject({ configurable: false, remedy: 'Set DEEPSEEK_API_KEY.' })
    await expect(adapter.configure?.({ model: 'm' })).rejects.toMatchObject({ code: 'SETTINGS_UNAVAILABLE' })
  })
})

describe('the row', () => {
  it('names the field, what arrived and what was wanted', async () => {
    const root = new Context()
    await root.plugin(Llm)
    const load = (config: unknown) => root.plugin(plugin, config as OpenAiConfig)
    await expect(load({ provider: 'x', timeoutMs: 0 })).rejects.toThrow(/"timeoutMs" must be above 0.*got 0/)
    await expect(load({ provider: 'x', models: [{}] })).rejects.toThrow(/"models" must be a list of model ids/)
    await expect(load({ provider: 'x', modles: [] })).rejects.toThrow(/unknown field "modles"/)
    await expect(load({})).rejects.toThrow(/"provider" is missing/)
    await expect(load({ provider: 'a/b' })).rejects.toMatchObject({ code: 'INVALID_PROVIDER' })
  })

  it('makes one provider each', async () => {
    const root = new Context()
    await root.plugin(Llm)
    await root.plugin(plugin, {
      provider: 'local',
      requireKey: false,
      baseURL: 'http://127.0.0.1:9/v1',
      models: ['a/b'],
    })
    const other = await root.plugin({ ...plugin, apply: plugin.apply }, { provider: 'second', home })
    expect(root.llm.resolve('a/b')).toEqual({ provider: 'local', model: 'a/b' })
    await other.dispose()
    expect(root.llm.status().map((each) => each.provider)).toEqual(['local'])
  })
})
