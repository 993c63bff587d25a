// Serves the files of the built page: precompressed siblings, caching by kind, the theme before the first paint, and no path
// that leads out of the folder.
import { createReadStream } from 'node:fs'
import { readFile, realpath, stat } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { readCookie } from './auth.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.webp': 'image/webp',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.woff': 'font/woff',
  '.wasm': 'application/wasm',
}

const ENCODINGS = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
] as const

/** A build names files by their content: `index-B3xk9_Qa.js`. Such a file never changes. */
const HASHED = /[-.][A-Za-z0-9_-]{8,}\.[a-z0-9]+$/

/** The path below the folder that a request target means; undefined for one that is malformed or leads elsewhere. */
export function pagePath(target: string): string | undefined {
  const raw = target.replace(/[?#].*$/s, '')
  let path: string
  try {
    path = decodeURIComponent(raw)
  } catch {
    return undefined // a broken percent escape
  }
  // Decoded once, so an escape that is still there was meant to be decoded twice.
  if (!path.startsWith('/') || /[\\\0]|%[0-9a-f]{2}/i.test(path)) return undefined
  const segments = path.split('/').slice(1)
  if (segments.some((segment) => segment.startsWith('.') || segment.includes(':'))) return undefined
  return segments.filter((segment) => segment !== '').join('/')
}

/** Answers a GET or HEAD from `folder`. Resolves to false when there is nothing of that name; nothing has been sent then. */
export async function servePage(folder: string, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
  const path = pagePath(request.url ?? '/')
  if (path === undefined) return false
  if (path !== '' && path !== 'index.html' && (await sendFile(folder, path, request, response))) return true
  // Addresses within the page, such as /s/<id>, have no file; a missing asset must stay a 404.
  if (path !== 'index.html' && extname(path) !== '') return false
  return sendIndex(folder, request, response)
}

async function sendIndex(folder: string, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
  let html: string
  try {
    html = await readFile(join(folder, 'index.html'), 'utf8')
  } catch {
    return false // the folder has no page (any more)
  }
  const theme = readCookie(request.headers.cookie, 'theme')
  if (theme === 'light' || theme === 'dark') html = withTheme(html, theme)
  const body = Buffer.from(html)
  response.writeHead(200, {
    'Content-Type': TYPES['.html'],
    'Content-Length': body.length,
    'Cache-Control': 'no-cache',
    Vary: 'Cookie',
  })
  response.end(request.method === 'HEAD' ? undefined : body)
  return true
}

function withTheme(html: string, theme: string): string {
  return html.replace(/<html\b([^>]*)>/i, (_, attributes: string) => {
    return `<html${attributes.replace(/\s+data-theme=("[^"]*"|'[^']*'|[^\s>]*)/i, '')} data-theme="${theme}">`
  })
}

async function sendFile(
  folder: string,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const plain = await fileIn(folder, path)
  if (plain === undefined) return false
  const packed = await packedSibling(folder, path, request.headers['accept-encoding'])
  const { file, size } = packed ?? plain
  const etag = `"${size.toString(36)}-${Math.trunc((packed ?? plain).modified).toString(36)}"`
  response.setHeader('Cache-Control', HASHED.test(path) ? 'public, max-age=31536000, immutable' : 'no-cache')
  response.setHeader('Vary', 'Accept-Encoding')
  response.setHeader('ETag', etag)
  if (request.headers['if-none-match'] === etag) {
    response.writeHead(304).end()
    return true
  }
  response.setHeader('Content-Type', TYPES[extname(path).toLowerCase()] ?? 'application/octet-stream')
  response.setHeader('Content-Length', size)
  if (packed !== undefined) response.setHeader('Content-Encoding', packed.encoding)
  response.writeHead(200)
  if (request.method === 'HEAD') response.end()
  else await pipeline(createReadStream(file), response).catch(() => response.destroy()) // the reader left
  return true
}

interface FileFacts {
  readonly file: string
  readonly size: number
  readonly modified: number
}

/** A regular file below the folder, links resolved: a link inside the folder must not show what is outside. */
async function fileIn(folder: string, path: string): Promise<FileFacts | undefined> {
  try {
    const file = await realpath(join(folder, path))
    if (!file.startsWith(folder.endsWith(sep) ? folder : folder + sep)) return undefined
    const facts = await stat(file)
    return facts.isFile() ? { file, size: facts.size, modified: facts.mtimeMs } : undefined
  } catch {
    return undefined // no such file, or one that cannot be read
  }
}

async function packedSibling(
  folder: string,
  path: string,
  accepted: string | undefined,
): Promise<(FileFacts & { encoding: string }) | undefined> {
  for (const { name, suffix } of ENCODINGS) {
    if (!accepts(accepted, name)) continue
    const facts = await fileIn(folder, path + suffix)
    if (facts !== undefined) return { ...facts, encoding: name }
  }
  return undefined
}

function accepts(header: string | undefined, encoding: string): boolean {
  return (header ?? '').split(',').some((part) => {
    const [name = '', ...parameters] = part.trim().split(/\s*;\s*/)
    return name.toLowerCase() === encoding && !parameters.some((each) => /^q=0(\.0*)?$/i.test(each))
  })
}
