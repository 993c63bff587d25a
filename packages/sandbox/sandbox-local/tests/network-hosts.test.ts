// Which destinations a host pattern allows.
import { isIP } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matchesPattern, normalizeHost, parseAuthority, parseHostPattern } from '../src/network/hosts.ts'
import { SessionNetwork } from '../src/network/index.ts'

const allows = (pattern: string, authority: string): boolean => {
  const destination = parseAuthority(authority)
  return destination !== undefined && matchesPattern(parseHostPattern(pattern), destination.host, destination.port)
}

const label = fc.stringMatching(/^[a-z]([a-z0-9-]{0,10}[a-z0-9])?$/)
const name = fc.array(label, { minLength: 2, maxLength: 4 }).map((labels) => labels.join('.'))

describe('host patterns', () => {
  it.each([
    ['example.com', 'example.com:443', true],
    ['example.com', 'example.com:80', true],
    ['example.com', 'EXAMPLE.com.:443', true],
    ['Example.COM.', 'example.com:443', true],
    ['example.com', 'example.com:22', false],
    ['example.com', 'example.com:8443', false],
    ['example.com', 'a.example.com:443', false],
    ['example.com', 'example.com.evil.org:443', false],
    ['example.com', 'notexample.com:443', false],
    ['*.example.com', 'a.example.com:443', true],
    ['*.example.com', 'a.b.example.com:443', true],
    ['*.example.com', 'example.com:443', false],
    ['*.example.com', 'notexample.com:443', false],
    ['*.example.com', '.example.com:443', false],
    ['example.com:8443', 'example.com:8443', true],
    ['example.com:8443', 'example.com:443', false],
    ['*.example.com:22', 'git.example.com:22', true],
    ['bücher.example', 'xn--bcher-kva.example:443', true],
    ['93.184.215.14', '93.184.215.14:443', true],
    ['93.184.215.14', '93.184.215.15:443', false],
    ['2606:2800:0:0::1', '[2606:2800::1]:443', true],
    ['[2606:2800::1]:8080', '[2606:2800:0::1]:8080', true],
    ['localhost', 'localhost:80', true],
    ['a_b.example.com', 'a_b.example.com:443', true],
  ])('%s and %s: %s', (pattern, authority, expected) => {
    expect(allows(pattern, authority)).toBe(expected)
  })

  it.each([
    'example.com',
    'example.com:0',
    'example.com:65536',
    'example.com:4 43',
    ':443',
    'a/b:443',
    'user@example.com:443',
    'ex%61mple.com:443',
    'example.com\u0000:443',
    'a..b:443',
    '-a.com:443',
    '127.1:80',
    '0x7f000001:80',
    '2130706433:80',
    '[fe80::1%25eth0]:80',
    '[example.com]:80',
    '::1:80',
  ])('reads no destination out of %j', (authority) => {
    expect(parseAuthority(authority)).toBeUndefined()
  })

  it.each([
    '',
    '*',
    '*.',
    '*.*.com',
    'a.*.com',
    'https://example.com',
    'example.com/path',
    '*.1.2.3.4',
    'a b',
    '1.2',
    'x:y',
  ])('refuses the pattern %j by name', (pattern) => {
    expect(() => parseHostPattern(pattern)).toThrow(
      expect.objectContaining({
        code: 'SANDBOX_POLICY_INVALID',
        message: expect.stringContaining(JSON.stringify(pattern)),
      }),
    )
  })

  it('refuses a bad pattern when the session is set up, and does not read patterns it does not need', () => {
    const options = { sessionId: 's', allowedHosts: ['*'] }
    expect(() => new SessionNetwork({ ...options, network: 'allowlist' })).toThrow(/"\*" is not a host pattern/)
    expect(() => new SessionNetwork({ ...options, network: 'none' })).not.toThrow()
  })

  it('allows a name under any spelling and nothing that merely ends alike', () => {
    fc.assert(
      fc.property(name, label, fc.boolean(), (host, extra, upper) => {
        const spelled = `${upper ? host.toUpperCase() : host}${upper ? '.' : ''}`
        expect(allows(host, `${spelled}:443`)).toBe(true)
        expect(allows(`*.${host}`, `${extra}.${spelled}:443`)).toBe(true)
        expect(allows(`*.${host}`, `${spelled}:443`)).toBe(false)
        expect(allows(`*.${host}`, `${extra}${spelled}:443`)).toBe(false)
        expect(allows(host, `${extra}.${spelled}:443`)).toBe(false)
        expect(allows(host, `${spelled}.${extra}:443`)).toBe(false)
      }),
    )
  })

  it('normalises whatever it takes to a plain name or an address, once and for all', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.domain(), fc.ipV4(), fc.ipV6()), (text) => {
        const host = normalizeHost(text)
        if (host === undefined) return
        expect(isIP(host) !== 0 || /^[a-z0-9_.-]+$/.test(host)).toBe(true)
        expect(normalizeHost(host)).toBe(host)
      }),
    )
  })
})
