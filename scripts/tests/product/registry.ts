// A registry on loopback that takes what npm publishes, keeps it in memory and writes down what it was asked.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface LoopbackRegistry {
  readonly url: string
  /** `METHOD /path` of each request, names decoded. */
  readonly requests: string[]
  /** What it has: documents of packages by name. */
  readonly packages: Map<string, PackageDocument>
  /** Status to answer the next publication of a name with, and whether the package is kept all the same. */
  readonly failures: Map<string, { status: number; kept: boolean }>
  close(): Promise<void>
}

export interface PackageDocument {
  readonly name: string
  readonly versions: Readonly<Record<string, { readonly dist: { readonly integrity: string } }>>
  readonly 'dist-tags': Readonly<Record<string, string>>
}

export async function startRegistry(): Promise<LoopbackRegistry> {
  const requests: string[] = []
  const packages: LoopbackRegistry['packages'] = new Map()
  const failures: LoopbackRegistry['failures'] = new Map()
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '/').replace(/\?.*/, '')
    requests.push(`${request.method} ${path}`)
    const name = path.slice(1)
    const answer = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (request.method !== 'PUT') {
        const document = packages.get(name)
        if (document === undefined) answer(404, { error: 'Not found' })
        else answer(200, document)
        return
      }
      const failure = failures.get(name)
      failures.delete(name)
      if (failure?.kept !== false) packages.set(name, JSON.parse(Buffer.concat(chunks).toString()) as PackageDocument)
      if (failure === undefined) answer(201, { ok: true })
      else answer(failure.status, { error: 'the registry has a bad day' })
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    requests,
    packages,
    failures,
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}
