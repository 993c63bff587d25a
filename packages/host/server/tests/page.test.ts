import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pagePath } from '../src/page.ts'
import { startHost, tempFolder, type TestHost } from './host.ts'

const HTML = '<!doctype html><html lang="en"><head><title>dsh</title></head><body></body></html>'
const SCRIPT = 'console.log("hello")\n'.repeat(50)

let host: TestHost
let folder: Awaited<ReturnType<typeof tempFolder>>
let dist: string

beforeAll(async () => {
  folder = await tempFolder()
  dist = join(folder.path, 'dist')
  await mkdir(join(dist, 'assets'), { recursive: true })
  await writeFile(join(folder.path, 'secret.txt'), 'SECRET')
  await writeFile(join(dist, 'index.html'), HTML)
  await writeFile(join(dist, '.hidden'), 'SECRET')
  await writeFile(join(dist, 'assets/index-B3xk9_Qa.js'), SCRIPT)
  await writeFile(join(dist, 'assets/index-B3xk9_Qa.js.br'), brotliCompressSync(SCRIPT))
  await writeFile(join(dist, 'assets/index-B3xk9_Qa.js.gz'), gzipSync(SCRIPT))
  await writeFile(join(dist, 'assets/geist-Cd3fGh4I.woff2'), 'font')
  await writeFile(join(dist, 'favicon.svg'), '<svg/>')
  await symlink(join(folder.path, 'secret.txt'), join(dist, 'link.txt'))
  await symlink(folder.path, join(dist, 'up'))
  host = await startHost(folder.path)
})
afterAll(async () => {
  await host.dispose()
  await folder.remove()
})

interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer
}

/** The path goes out as it is: fetch() would tidy it. */
function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  const { hostname, port } = new URL(host.origin)
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, headers, method, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      )
    })
    sent.on('error', reject)
    sent.end()
  })
}

describe('without a page', () => {
  it('says so in plain text', async () => {
    const { status, headers, body } = await get('/')
    expect(status).toBe(404)
    expect(headers['content-type']).toMatch(/^text\/plain/)
    expect(body.toString()).toContain('no page is installed')
  })

  it('refuses a folder without index.html and a second page', () => {
    expect(() => host.server.page(join(folder.path, 'nowhere'))).toThrow(/index.html is missing: build the page first/)
    const remove = host.server.page(dist)
    expect(() => host.server.page(dist)).toThrow(/a page is served already/)
    remove()
  })

  it('takes the page away with the plugin that brought it', async () => {
    const fiber = await host.ctx.plugin({
      name: 'page',
      inject: ['server'],
      apply: (ctx) => void ctx.server.page(dist),
    })
    expect((await get('/')).status).toBe(200)
    await fiber.dispose()
    expect((await get('/')).status).toBe(404)
  })
})

describe('the page', () => {
  beforeAll(() => {
    host.server.page(dist)
  })

  it('loads without a cookie and is asked for anew each time', async () => {
    const { status, headers, body } = await get('/')
    expect(status).toBe(200)
    expect(headers['cache-control']).toBe('no-cache')
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
    expect(body.toString()).toBe(HTML)
    expect((await get('/?token=wrong')).body.toString()).toBe(HTML)
  })

  it('has the theme of the cookie before it is drawn, and no other text of it', async () => {
    const themed = async (cookie: string) => (await get('/', { cookie })).body.toString()
    expect(await themed('theme=dark')).toContain('<html lang="en" data-theme="dark">')
    expect(await themed('a=b; theme=light')).toContain('data-theme="light"')
    for (const theme of ['"><script>', 'blue', '', 'DARK']) expect(await themed(`theme=${theme}`)).toBe(HTML)
  })

  it('is given for addresses within it, and missing files are missing', async () => {
    for (const path of ['/s/abc-123', '/settings', '/s/x?call=1', '/index.html']) {
      expect([path, (await get(path)).body.toString()]).toEqual([path, HTML])
    }
    for (const path of ['/nope.js', '/assets/gone-12345678.css', '/s/x.y/z.png']) {
      expect([path, (await get(path)).status]).toEqual([path, 404])
    }
  })

  it('sends packed siblings to whoever takes them', async () => {
    const asset = '/assets/index-B3xk9_Qa.js'
    const br = await get(asset, { 'accept-encoding': 'gzip, deflate, br' })
    expect(br.headers['content-encoding']).toBe('br')
    expect(br.headers['content-type']).toBe('text/javascript; charset=utf-8')
    expect(br.headers['vary']).toBe('Accept-Encoding')
    expect(brotliDecompressSync(br.body).toString()).toBe(SCRIPT)
    const gz = await get(asset, { 'accept-encoding': 'gzip, br;q=0' })
    expect(gz.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(gz.body).toString()).toBe(SCRIPT)
    const plain = await get(asset)
    expect(plain.headers['content-encoding']).toBeUndefined()
    expect(plain.body.toString()).toBe(SCRIPT)
  })

  it('lets hashed files be kept for ever, others be checked', async () => {
    for (const path of ['/assets/index-B3xk9_Qa.js', '/assets/geist-Cd3fGh4I.woff2']) {
      expect((await get(path)).headers['cache-control']).toBe('public, max-age=31536000, immutable')
    }
    const icon = await get('/favicon.svg')
    expect(icon.headers['cache-control']).toBe('no-cache')
    expect(icon.headers['content-type']).toBe('image/svg+xml')
    const again = await get('/favicon.svg', { 'if-none-match': String(icon.headers['etag']) })
    expect([again.status, again.body.length]).toEqual([304, 0])
    const head = await get('/favicon.svg', {}, 'HEAD')
    expect([head.status, head.headers['content-length'], head.body.length]).toEqual([200, '6', 0])
  })

  it('gives nothing from outside the folder, however the path is written', async () => {
    const attempts = [
      '/../secret.txt',
      '/%2e%2e/secret.txt',
      '/%2E%2E%2Fsecret.txt',
      '/..%2fsecret.txt',
      '/assets/../../secret.txt',
      '/assets/%2e%2e/%2e%2e/secret.txt',
      '/%252e%252e/secret.txt',
      '/..\\secret.txt',
      '/..%5csecret.txt',
      '/%5c..%5csecret.txt',
      '//secret.txt',
      '/./../secret.txt',
      '/secret.txt%00.html',
      '/%c0%ae%c0%ae/secret.txt',
      `/${join(folder.path, 'secret.txt')}`,
      '/link.txt',
      '/up/secret.txt',
      '/.hidden',
      '/assets/.hidden',
    ]
    for (const path of attempts) {
      const { status, body } = await get(path)
      expect([path, body.toString().includes('SECRET')]).toEqual([path, false])
      expect([path, status === 404 || body.toString() === HTML || status === 400]).toEqual([path, true])
    }
  })

  it('maps no request target to a path that could leave the folder', () => {
    const piece = fc.constantFrom(
      '..',
      '.',
      '%2e',
      '%2E%2e',
      '/',
      '%2f',
      '\\',
      '%5c',
      '%00',
      'a',
      'x.js',
      '%',
      '?',
      '#',
      ':',
      'C:',
      '%25',
      '🎈',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const path = pagePath(`/${pieces.join('')}`)
        if (path === undefined) return
        expect(path.split('/')).not.toContain('..')
        expect(path).not.toMatch(/^\/|[\\\0:]/)
      }),
    )
  })
})
