// Which requests are refused before anything else looks at them, and the headers that every answer carries. Closes DNS
// rebinding, cross-site requests and framing; who the caller is, is the business of auth.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isLoopback } from './config.ts'

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "worker-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

/** Sets the headers on the raw response: they then also hold for answers that Hono does not write. */
export function setSecurityHeaders(response: ServerResponse): void {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value)
}

/** Why the request is not from a page of this server or a local client; undefined when it may pass. */
export function foreignReason(request: IncomingMessage, port: number, isApi: boolean): string | undefined {
  const { host, origin } = request.headers
  if (!isOurHost(host, port)) {
    return `the Host header is "${host ?? ''}", which is not this server; use http://127.0.0.1:${port} or http://localhost:${port}`
  }
  if (origin !== undefined && origin.toLowerCase() !== `http://${host}`.toLowerCase()) {
    return `the Origin header is "${origin}", and only pages of http://${host} may call this server`
  }
  const site = request.headers['sec-fetch-site']
  if (site === 'cross-site' && !isNavigation(request, isApi)) {
    return `the Sec-Fetch-Site header is "${site}", and only pages of this server may call it`
  }
  // Another port of this machine is the same site but not the same origin.
  if (isApi && site === 'same-site') {
    return `the Sec-Fetch-Site header is "${site}": another port is another origin, and only pages of http://${host} may call this server`
  }
  return undefined
}

/** A person who follows a link to the page: harmless, since the page itself holds nothing and cannot be framed. */
function isNavigation(request: IncomingMessage, isApi: boolean): boolean {
  const { headers, method } = request
  return (
    !isApi && method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
  )
}

function isOurHost(host: string | undefined, port: number): boolean {
  const parts = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(host ?? '')
  return parts !== null && isLoopback(parts[1] ?? '') && Number(parts[2] ?? 80) === port
}
