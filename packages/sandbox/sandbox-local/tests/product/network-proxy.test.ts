// The proxy of a session, from programs inside its namespace: what passes, what is refused, what is told of it.
import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isPublicAddress } from '../../src/network/addresses.ts'
import type { PreparedNetwork, SessionNetwork } from '../../src/network/index.ts'
import { missing, node, run, serve, session, type Host } from './network-world.ts'

const BODY = randomBytes(8 * 1024 * 1024)
const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
const curlMissing = existsSync('/usr/bin/curl') ? '' : 'curl'
const lacks = [missing, curlMissing].filter(Boolean).join(' and ')

describe.skipIf(lacks !== '')(`the allowlist${lacks && ` (needs ${lacks})`}`, () => {
  let host: Host
  let network: SessionNetwork
  let prepared: PreparedNetwork
  const seen: { method?: string | undefined; url?: string | undefined; host?: string | undefined; raw: string[] }[] = []
  const curl = (...args: string[]) => run(prepared, 'curl', '-sS', '--max-time', '20', ...args)
  const allow = async (...args: Parameters<typeof session>): Promise<void> => {
    network = session(...args)
    prepared = await network.prepare()
  }

  beforeEach(async () => {
    seen.length = 0
    host = await serve((request, response) => {
      const { method, url, rawHeaders: raw } = request
      seen.push({ method, url, host: request.headers.host, raw })
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        if (url === '/big') response.end(BODY)
        else if (url === '/echo') response.end(digest(Buffer.concat(chunks)))
        else if (url === '/broken')
          response.writeHead(200, { 'content-length': 10 }).write('half', () => response.destroy())
        else {
          response.writeHead(200, ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'Connection', 'X-Hop', 'X-Hop', '1'])
          response.end('hello')
        }
      })
    })
    await allow('allowlist', [`allowed.test:${host.port}`, `*.wild.test:${host.port}`])
  })
  afterEach(async () => {
    await network.dispose()
    await host.close()
  })

  it('carries plain requests and tunnels to an allowed host, by curl under the environment alone', async () => {
    const url = `http://allowed.test:${host.port}/path?query=1`
    expect(await curl(url)).toMatchObject({ code: 0, stdout: 'hello' })
    expect(await curl('--proxytunnel', url)).toMatchObject({ code: 0, stdout: 'hello' })
    expect(await curl(`http://ALLOWED.Test.:${host.port}/`)).toMatchObject({ code: 0, stdout: 'hello' })
    expect(await curl('-p', `http://a.b.wild.test:${host.port}/`)).toMatchObject({ code: 0, stdout: 'hello' })
    expect(seen.map((request) => request.url)).toEqual(['/path?query=1', '/path?query=1', '/', '/'])
    expect(network.denials(0)).toEqual([])
  })

  it('refuses every other host and port, says so to the program, and records exactly what was asked', async () => {
    const since = Date.now()
    const plain = await curl('-i', 'http://other.test/')
    expect(plain.stdout).toContain('403 Forbidden')
    expect(plain.stdout).toContain('other.test:80: the sandbox policy does not allow this host and port.')
    expect(await curl('https://Other.test./')).toMatchObject({ code: 56, stderr: expect.stringContaining('403') })
    expect(await curl('-p', 'http://allowed.test:22/')).toMatchObject({ code: 56 })
    expect(await curl('-p', `http://wild.test:${host.port}/`)).toMatchObject({ code: 56 })
    await curl('-p', 'http://other.test:80/')
    expect(seen).toEqual([])
    const denied = (target: string) => ({ kind: 'network', target, rule: 'host-not-allowed', confidence: 'confirmed' })
    expect(network.denials(since)).toEqual(
      ['other.test:80', 'other.test:443', 'allowed.test:22', `wild.test:${host.port}`].map(denied),
    )
    expect(network.denials(Date.now() + 1)).toEqual([])
  })

  it('refuses what leads to private addresses, however the policy names it', async () => {
    await network.dispose()
    const names = ['localhost', '127.0.0.1', '169.254.169.254', '[::1]', '[::ffff:127.0.0.1]', 'inside.test']
    await allow(
      'allowlist',
      names.map((name) => `${name}:${host.port}`),
      { isPublic: isPublicAddress },
    )
    for (const name of names) {
      const { stdout } = await curl('--noproxy', '', '-g', '-i', `http://${name}:${host.port}/`)
      expect(stdout, name).toContain('private network')
    }
    expect(seen).toEqual([])
    expect(network.denials(0).map(({ target, rule }) => `${target} ${rule}`)).toEqual(
      ['localhost', '127.0.0.1', '169.254.169.254', '[::1]', '[::ffff:7f00:1]', 'inside.test'].map(
        (name) => `${name}:${host.port} private-address`,
      ),
    )
  })

  it('connects to the address it checked, whatever the name resolves to a moment later', async () => {
    await network.dispose()
    const answers = ['127.0.0.1', '127.0.0.2']
    let asked = 0
    await allow('allowlist', [`allowed.test:${host.port}`], {
      resolve: async () => [{ address: answers[asked++] ?? '', family: 4 }],
    })
    expect(await curl(`http://allowed.test:${host.port}/`)).toMatchObject({ stdout: 'hello' })
    expect(asked).toBe(1)
    expect((await curl('-i', `http://allowed.test:${host.port}/`)).stdout).toContain('private network')
    expect(network.denials(0)).toHaveLength(1)
  })

  it('passes over the private addresses of a name that has public ones too', async () => {
    await network.dispose()
    await allow('allowlist', [`allowed.test:${host.port}`], {
      resolve: async () => [
        { address: '10.0.0.1', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ],
    })
    expect(await curl(`http://allowed.test:${host.port}/`)).toMatchObject({ stdout: 'hello' })
  })

  it('asks the host for the name that was judged, not for the one in the Host header', async () => {
    await curl('-H', 'Host: secret.test', '-H', 'Proxy-Authorization: Basic eA==', `http://allowed.test:${host.port}/`)
    expect(seen[0]?.host).toBe(`allowed.test:${host.port}`)
    expect(seen[0]?.raw.join('\n')).not.toMatch(/secret|proxy/i)
  })

  it('keeps headers that come twice and drops those that end at a hop', async () => {
    const { stdout } = await curl('-i', `http://allowed.test:${host.port}/`)
    expect(stdout.match(/^set-cookie: .*$/gim)?.map((line) => line.trim())).toEqual([
      'Set-Cookie: a=1',
      'Set-Cookie: b=2',
    ])
    expect(stdout).not.toMatch(/x-hop/i)
  })

  it('carries large bodies both ways unchanged, plain, chunked and tunnelled', async () => {
    const url = `http://allowed.test:${host.port}`
    for (const tunnel of [[], ['-p']]) {
      const { stdout } = await curl(...tunnel, `${url}/big`)
      expect(digest(Buffer.from(stdout, 'latin1'))).toBe(digest(BODY))
    }
    const upload = ['-X', 'POST', '--data-binary', `@${process.execPath}`]
    const expected = await run(prepared, 'sha256sum', process.execPath)
    for (const how of [[], ['-p'], ['-H', 'Transfer-Encoding: chunked']])
      expect((await curl(...how, ...upload, `${url}/echo`)).stdout).toBe(expected.stdout.slice(0, 64))
  })

  it('does not complete a body that the host broke off', async () => {
    expect((await curl(`http://allowed.test:${host.port}/broken`)).code).not.toBe(0)
  })

  it('answers a host that cannot be reached, and a request that is not for a proxy', async () => {
    await network.dispose()
    const closed = createServer().listen(0, '127.0.0.1')
    await once(closed, 'listening')
    const { port } = closed.address() as AddressInfo
    await new Promise((resolve) => closed.close(resolve))
    await allow('allowlist', [`allowed.test:${port}`, 'unknown.test'], {
      resolve: async (name) => {
        if (name === 'unknown.test') throw new Error('getaddrinfo ENOTFOUND unknown.test')
        return [{ address: '127.0.0.1', family: 4 }]
      },
    })
    expect((await curl('-i', `http://allowed.test:${port}/`)).stdout).toMatch(/502 Bad Gateway[^]*ECONNREFUSED/)
    expect((await curl('-i', 'http://unknown.test/')).stdout).toMatch(/502 Bad Gateway[^]*ENOTFOUND/)
    expect((await curl('-i', 'http://127.0.0.1:3128/')).stdout).toMatch(/400 Bad Request[^]*This is a proxy/)
    expect(network.denials(0)).toEqual([])
  })

  it('survives nonsense on its port', async () => {
    const script = `const net = require('net'), lines = ${JSON.stringify([
      'CONNECT\r\n\r\n',
      'CONNECT  HTTP/1.1\r\n\r\n',
      'CONNECT a b c HTTP/1.1\r\n\r\n',
      'CONNECT user@allowed.test:443 HTTP/1.1\r\n\r\n',
      'CONNECT \u001b[31m:443 HTTP/1.1\r\n\r\n',
      'GET ftp://allowed.test/ HTTP/1.1\r\nHost: x\r\n\r\n',
      '\u0000\u0001\u0002\r\n\r\n',
      'GET http://allowed.test/ HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ])}
      let left = lines.length
      for (const line of lines) net.connect(3128, '127.0.0.1').on('error', () => {}).on('close', () => {
        if (--left === 0) console.log('done')
      }).resume().end(line, 'latin1')`
    expect((await node(prepared, script)).stdout).toBe('done\n')
    expect(seen).toEqual([])
    expect(await curl(`http://allowed.test:${host.port}/`)).toMatchObject({ stdout: 'hello' })
    for (const { target } of network.denials(0)) expect(target).toMatch(/^[\x21-\x7e]*$/)
  })

  it('keeps sessions with different lists apart', async () => {
    const other = session('allowlist', [`b.test:${host.port}`])
    const theirs = await other.prepare()
    try {
      const [mine, yours] = await Promise.all([
        curl('-w', '%{http_code}', '-o', '/dev/null', `http://b.test:${host.port}/`),
        run(theirs, 'curl', '-sS', `http://b.test:${host.port}/`),
      ])
      expect([mine.stdout, yours.stdout]).toEqual(['403', 'hello'])
      expect([network.denials(0).length, other.denials(0).length]).toEqual([1, 0])
    } finally {
      await other.dispose()
    }
  })

  it('cuts open tunnels when the session ends', async () => {
    const held: import('node:net').Socket[] = []
    const silent = createServer((socket) => held.push(socket.on('error', () => {}))).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    await network.dispose()
    await allow('allowlist', [`allowed.test:${port}`])
    const waiting = curl('-p', `http://allowed.test:${port}/`)
    await once(silent, 'connection')
    await network.dispose()
    expect((await waiting).code).not.toBe(0)
    for (const socket of held) if (!socket.destroyed) await once(socket, 'close')
    await new Promise((resolve) => silent.close(resolve))
  })

  it('is not there for programs outside the session', async () => {
    const socket = connect(3128, '127.0.0.1')
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException]
    expect(error.code).toBe('ECONNREFUSED')
  })
})
