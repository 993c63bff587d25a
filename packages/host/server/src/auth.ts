// Who may talk to the server: the launch token, the cookie it is exchanged for, and the comparison of both.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

export interface Auth {
  readonly token: string
  readonly cookieName: string
  /** True when the text is the launch token. */
  isToken(candidate: string): boolean
  /** True when the request carries the cookie or the token as a bearer. */
  admits(request: IncomingMessage): boolean
  /** The `Set-Cookie` value that admits later requests of the same browser. */
  setCookie(): string
}

/** A random launch token, safe in a URL. */
export function newToken(): string {
  return randomBytes(24).toString('base64url')
}

/**
 * `secret` is what cookies are derived from. The port is part of the cookie's name and value: browsers send cookies to every port of a
 * host, so two servers would overwrite or accept each other's otherwise.
 */
export function createAuth(token: string, secret: Buffer, port: number): Auth {
  const cookieName = `dsh_${port}`
  const cookie = createHmac('sha256', secret).update(`session cookie, port ${port}`).digest('base64url')
  const isToken = (candidate: string): boolean => sameText(candidate, token)
  return {
    token,
    cookieName,
    isToken,
    admits(request) {
      const bearer = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1]
      if (bearer !== undefined) return isToken(bearer)
      const sent = readCookie(request.headers.cookie, cookieName)
      return sent !== undefined && sameText(sent, cookie)
    },
    setCookie: () => `${cookieName}=${cookie}; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000`,
  }
}

/** The value of a cookie by name, unquoted. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const pair of (header ?? '').split(';')) {
    const equals = pair.indexOf('=')
    if (equals > 0 && pair.slice(0, equals).trim() === name) {
      return pair
        .slice(equals + 1)
        .trim()
        .replace(/^"(.*)"$/, '$1')
    }
  }
  return undefined
}

/** Compares in a time that depends on neither text: digests have one length and one comparison. */
function sameText(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
