// Which addresses count as the public internet.
import { networkInterfaces } from 'node:os'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isGlobalAddress, isPublicAddress } from '../src/network/addresses.ts'

const octets = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255))
const hex = (bytes: readonly number[]): string =>
  [0, 2].map((at) => (((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)).toString(16)).join(':')

/** Written from RFC 6890 by hand, not from the table under test. */
const isSpecial = ([a = 0, b = 0, c = 0]: readonly number[]): boolean =>
  a === 0 ||
  a === 10 ||
  a === 127 ||
  a >= 224 ||
  (a === 100 && b >= 64 && b < 128) ||
  (a === 169 && b === 254) ||
  (a === 172 && b >= 16 && b < 32) ||
  (a === 192 && ((b === 0 && (c === 0 || c === 2)) || (b === 88 && c === 99) || b === 168)) ||
  (a === 198 && (b === 18 || b === 19 || (b === 51 && c === 100))) ||
  (a === 203 && b === 0 && c === 113)

describe('address classes', () => {
  it.each(['1.1.1.1', '8.8.8.8', '93.184.215.14', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111', '2a00:1450::1'])(
    '%s is public',
    (address) => expect(isGlobalAddress(address)).toBe(true),
  )

  it.each([
    '0.0.0.0',
    '127.0.0.1',
    '127.255.255.254',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '100.127.255.255',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'fc00::1',
    'fd12:3456::1',
    'ff02::1',
    '100::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:10.0.0.1',
    '::ffff:169.254.169.254',
    '::127.0.0.1',
    '64:ff9b::10.0.0.1',
    '64:ff9b:1::1',
    '2002:7f00:1::',
    '2001::1',
    '2001:db8::1',
    '3fff::1',
    '',
    'example.com',
    '127.1',
    '0x7f.0.0.1',
    '1.2.3.4.5',
    '[::1]',
  ])('%j is not', (address) => expect(isGlobalAddress(address)).toBe(false))

  it('judges every IPv4 address as the registry does, plain, mapped and behind NAT64 alike', () => {
    fc.assert(
      fc.property(octets, (bytes) => {
        const expected = !isSpecial(bytes)
        expect(isGlobalAddress(bytes.join('.'))).toBe(expected)
        expect(isGlobalAddress(`::ffff:${bytes.join('.')}`)).toBe(expected)
        expect(isGlobalAddress(`::FFFF:${hex(bytes)}`)).toBe(expected)
        expect(isGlobalAddress(`0:0:0:0:0:ffff:${hex(bytes)}`)).toBe(expected)
        expect(isGlobalAddress(`64:ff9b::${hex(bytes)}`)).toBe(expected)
      }),
      { numRuns: 2_000 },
    )
  })

  it('takes no IPv6 address for public outside global unicast', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 0, max: 0xffff }), (first, last) => {
        const address = `${first.toString(16)}:1:2:3:4:5:6:${last.toString(16)}`
        if (first >> 13 !== 1) expect(isGlobalAddress(address)).toBe(false)
        else if (![0x2001, 0x2002, 0x3fff].includes(first)) expect(isGlobalAddress(address)).toBe(true)
      }),
    )
  })

  it("does not take this machine's own addresses for public", () => {
    const own = Object.values(networkInterfaces()).flatMap((entries) => entries ?? [])
    for (const { address } of own) expect(isPublicAddress(address)).toBe(false)
    expect(isPublicAddress('1.1.1.1')).toBe(true)
  })
})
