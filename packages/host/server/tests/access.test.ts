import { chmod, readFile, stat, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startHost, tempFolder, type TestHost } from './host.ts'

let host: TestHost
let folder: Awaited<ReturnType<typeof tempFolder>>

beforeAll(async () => {
  folder = await tempFolder()
  host = await startHost(folder.path)
})
afterAll(async () => {
  await host.dispose()
  await folder.remove()
})

interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: string
}

/** fetch() may not set Host, Origin or Sec-Fetch-*; a plain request may. */
function raw(
  path: string,
  options: { method?: string; headers?: Record<string, string>; body?: string; origin?: string } = {},
): Promise<Answer> {
  const { method = 'GET', headers = {}, body, origin = host.origin } = options
  return new Promise((resolve, reject) => {
    const sent = request(origin + path, { method, headers, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

const post = (headers: Record<string, string>, body = '{}') => raw('/api/host.info', { method: 'POST', headers, body })
const json = { 'content-type': 'application/json' }

async function launch(): Promise<string> {
  const { headers } = await raw(`/?token=${host.token}`)
  return String(headers['set-cookie']).split(';')[0] ?? ''
}

describe('the launch token', () => {
  it('is exchanged for a same-site cookie and leaves the address', async () => {
    const { status, headers } = await raw(`/?token=${host.token}`)
    expect(status).toBe(302)
    expect(headers['location']).toBe('/')
    const cookie = String(headers['set-cookie'])
    expect(cookie).toMatch(new RegExp(`^dsh_${host.server.port}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict`))
    expect(cookie).not.toContain(host.token)
  })

  it('sets no cookie when it is wrong, empty or nearly right', async () => {
    for (const token of ['', 'x', host.token.slice(1), `${host.token}x`, host.token.toUpperCase()]) {
      const { headers, status } = await raw(`/?token=${token}`)
      expect([token, headers['set-cookie'], status]).toEqual([token, undefined, 404])
    }
  })

  it('keeps the page of a deep address and never leads to another host', async () => {
    expect((await raw(`/s/abc?token=${host.token}`)).headers['location']).toBe('/s/abc')
    expect((await raw(`//evil.example/x?token=${host.token}`)).headers['location']).toBe('/evil.example/x')
  })
})

describe('the API', () => {
  it('admits the cookie and the token as bearer, and nothing else', async () => {
    const cookie = await launch()
    const name = cookie.split('=')[0]
    const cases: [string, Record<string, string>, number][] = [
      ['cookie', { cookie }, 200],
      ['cookie among others', { cookie: `a=b; ${cookie}; c=d` }, 200],
      ['bearer', { authorization: `Bearer ${host.token}` }, 200],
      ['nothing', {}, 401],
      ['token as cookie', { cookie: `${name}=${host.token}` }, 401],
      ['other value', { cookie: `${name}=${'x'.repeat(43)}` }, 401],
      ['cookie of another port', { cookie: cookie.replace(/^dsh_\d+/, 'dsh_1') }, 401],
      ['wrong bearer', { authorization: 'Bearer nope' }, 401],
      // A wrong bearer is not rescued by a cookie: the caller meant the token.
      ['wrong bearer, good cookie', { authorization: 'Bearer nope', cookie }, 401],
      ['basic', { authorization: `Basic ${host.token}` }, 401],
    ]
    for (const [title, headers, status] of cases) {
      expect([title, (await post({ ...json, ...headers })).status]).toEqual([title, status])
    }
  })

  it('guards the event streams and unknown paths too, and names the remedy', async () => {
    for (const path of ['/api/events', '/api/sessions/x/events', '/api/nope', '/api/', '/api']) {
      const { status, body } = await raw(path)
      if (path === '/api') continue // covered below: not below /api/
      expect([path, status]).toEqual([path, 401])
      const { error } = JSON.parse(body) as { error: { code: string; message: string } }
      expect(error.code).toBe('UNAUTHORIZED')
      expect(error.message).toContain('dsh web')
    }
  })

  it('is not stored by caches and carries the security headers', async () => {
    const { headers } = await post({ ...json, authorization: `Bearer ${host.token}` })
    expect(headers['cache-control']).toBe('no-store')
    expect(headers['x-content-type-options']).toBe('nosniff')
    expect(headers['referrer-policy']).toBe('no-referrer')
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; worker-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    )
  })
})

describe('the fence', () => {
  it('accepts loopback names with the right port only', async () => {
    const { port } = host.server
    const good = [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`, `127.8.8.8:${port}`]
    const bad = [
      'evil.example',
      `evil.example:${port}`,
      `127.0.0.1:${port + 1}`,
      '127.0.0.1',
      `127.0.0.1.evil.example:${port}`,
      `localhost.:${port}`,
      `0.0.0.0:${port}`,
      `192.168.1.4:${port}`,
    ]
    for (const name of good) {
      const { status } = await post({ ...json, authorization: `Bearer ${host.token}`, host: name })
      expect([name, status]).toEqual([name, 200])
    }
    for (const name of bad) {
      for (const path of ['/', '/api/host.info']) {
        const { status, body } = await raw(path, { headers: { host: name, authorization: `Bearer ${host.token}` } })
        expect([name, path, status]).toEqual([name, path, 403])
        expect(body).toContain(name)
      }
    }
  })

  it('accepts its own origin only', async () => {
    const { port } = host.server
    const auth = { ...json, authorization: `Bearer ${host.token}` }
    expect((await post({ ...auth, origin: host.origin })).status).toBe(200)
    for (const origin of [
      'https://evil.example',
      'null',
      `http://localhost:${port}`,
      `https://127.0.0.1:${port}`,
      `http://127.0.0.1:${port + 1}`,
    ]) {
      const { status, body } = await post({ ...auth, origin })
      expect([origin, status]).toEqual([origin, 403])
      expect((JSON.parse(body) as { error: { message: string } }).error.message).toContain(origin)
    }
  })

  it('refuses cross-site fetches, and lets a person follow a link to the page', async () => {
    const auth = { ...json, authorization: `Bearer ${host.token}` }
    for (const site of ['same-origin', 'none'])
      expect((await post({ ...auth, 'sec-fetch-site': site })).status).toBe(200)
    for (const site of ['cross-site', 'same-site']) {
      const { status, body } = await post({ ...auth, 'sec-fetch-site': site })
      expect([site, status]).toEqual([site, 403])
      expect(body).toContain(site)
    }
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
    expect((await raw(`/?token=${host.token}`, { headers: link })).status).toBe(302)
    expect((await raw('/api/events', { headers: { ...auth, ...link } })).status).toBe(403)
    const framed = { ...link, 'sec-fetch-dest': 'iframe' }
    expect((await raw('/', { headers: framed })).status).toBe(403)
  })
})

describe('request bodies', () => {
  const call = (body: string, type = 'application/json') =>
    post({ authorization: `Bearer ${host.token}`, ...(type === '' ? {} : { 'content-type': type }) }, body)

  it('must be declared as JSON', async () => {
    for (const type of [
      '',
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'application/jsonx',
    ]) {
      expect([type, (await call('{}', type)).status]).toEqual([type, 415])
    }
    expect((await call('{}', 'application/json; charset=utf-8')).status).toBe(200)
  })

  it('are answered with the place where they stop being JSON', async () => {
    const { status, body } = await call('{"a":\n tru }')
    expect(status).toBe(400)
    expect((JSON.parse(body) as { error: { code: string; message: string } }).error).toEqual({
      code: 'INVALID_JSON',
      message: 'the body is not JSON: unexpected "tru }" at position 7 (line 2, column 2)',
    })
    expect((await call('{"a":')).body).toContain('ends too early, at position 5')
  })

  it('are bounded, declared length or not', async () => {
    const small = await startHost(join(folder.path, 'small'), { maxBodyBytes: 1024 })
    try {
      const headers = { ...json, authorization: `Bearer ${small.token}` }
      const big = JSON.stringify({ text: 'x'.repeat(5000) })
      const declared = await small.fetch('/api/sessions.send', { method: 'POST', headers, body: big })
      expect(declared.status).toBe(413)
      expect(await declared.json()).toMatchObject({ error: { code: 'BODY_TOO_LARGE' } })
      const chunked = await small.fetch('/api/sessions.send', {
        method: 'POST',
        headers,
        body: new Blob([big]).stream(),
        duplex: 'half',
      } as RequestInit)
      expect(chunked.status).toBe(413)
      // The server is still there for the next request.
      expect((await small.call('host.info', {})).ok).toBe(true)
    } finally {
      await small.dispose()
    }
  })

  it('reach methods that exist, by POST', async () => {
    const headers = { ...json, authorization: `Bearer ${host.token}` }
    const unknown = await raw('/api/sessions.lst', { method: 'POST', headers, body: '{}' })
    expect(unknown.status).toBe(404)
    expect(unknown.body).toContain('sessions.list')
    for (const name of ['__proto__', 'constructor', 'toString']) {
      expect((await raw(`/api/${name}`, { method: 'POST', headers, body: '{}' })).status).toBe(404)
    }
    const get = await raw('/api/host.info', { headers })
    expect([get.status, get.headers['allow']]).toEqual([405, 'POST'])
    const put = await raw('/', { method: 'PUT' })
    expect([put.status, put.headers['allow']]).toEqual([405, 'GET, HEAD'])
  })
})

describe('the cookie secret', () => {
  it('lets open pages survive a restart when it has a file, and only then', async () => {
    const secretFile = join(folder.path, 'kept', 'server.json')
    const first = await startHost(join(folder.path, 'k1'), { secretFile })
    const { port } = first.server
    const launched = await first.fetch(`/?token=${first.token}`, { redirect: 'manual' })
    const cookie = (launched.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
    await first.dispose()
    expect((await stat(secretFile)).mode & 0o777).toBe(0o600)
    const ask = async ({ origin }: TestHost) =>
      (await raw('/api/host.info', { method: 'POST', headers: { ...json, cookie }, body: '{}', origin })).status

    const again = await startHost(join(folder.path, 'k1'), { secretFile, port })
    expect(again.token).not.toBe(first.token)
    expect(await ask(again)).toBe(200)
    await again.dispose()

    const forgetful = await startHost(join(folder.path, 'k1'), { port })
    expect(await ask(forgetful)).toBe(401)
    await forgetful.dispose()
  })

  it('is replaced when others could have read it or it makes no sense', async () => {
    const secretFile = join(folder.path, 'bad.json')
    for (const [content, mode] of [
      [JSON.stringify({ cookieSecret: 'A'.repeat(43) }), 0o644],
      ['{"cookieSecret":"short"}', 0o600],
      ['not json', 0o600],
    ] as const) {
      await writeFile(secretFile, content)
      await chmod(secretFile, mode)
      const started = await startHost(join(folder.path, 'bad'), { secretFile })
      expect(started.log.join('\n')).toContain('replaced')
      await started.dispose()
      expect(await readFile(secretFile, 'utf8')).not.toBe(content)
      expect((await stat(secretFile)).mode & 0o777).toBe(0o600)
    }
  })
})
