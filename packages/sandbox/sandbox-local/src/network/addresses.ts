// Tells addresses of the public internet from those that lead to this machine or into a private network.
import { BlockList, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'

/** Special-purpose IPv4 blocks (IANA registry): this network, private, shared (CGNAT), loopback, link-local, test nets, multicast, reserved. */
const SPECIAL_IPV4: readonly (readonly [net: string, bits: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]

/** Inside 2000::/3 and still not the internet: Teredo and other protocol blocks, documentation, 6to4 (which carries any IPv4 address). */
const SPECIAL_IPV6: readonly (readonly [net: string, bits: number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]

/** Prefixes of 96 bits whose last 32 are an IPv4 address: mapped, and the well-known one of NAT64. */
const EMBEDDING = ['::ffff:', '64:ff9b::'] as const

const globalIpv6 = new BlockList()
globalIpv6.addSubnet('2000::', 3, 'ipv6')
for (const prefix of EMBEDDING) globalIpv6.addSubnet(`${prefix}0.0.0.0`, 96, 'ipv6')

const special = new BlockList()
for (const [net, bits] of SPECIAL_IPV4) {
  special.addSubnet(net, bits, 'ipv4')
  for (const prefix of EMBEDDING) special.addSubnet(`${prefix}${net}`, 96 + bits, 'ipv6')
}
for (const [net, bits] of SPECIAL_IPV6) special.addSubnet(net, bits, 'ipv6')

/** Whether an address is public by its class. Anything that is not an address, or carries a zone, is not. */
export const isGlobalAddress = (address: string): boolean => {
  if (address.includes('%')) return false
  const family = isIP(address)
  if (family === 4) return !special.check(address, 'ipv4')
  return family === 6 && globalIpv6.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

/** Public, and not one of this machine's own: a server bound to every interface is as private on its public address as on loopback. */
export const isPublicAddress = (address: string): boolean => isGlobalAddress(address) && !isOwnAddress(address)

const isOwnAddress = (address: string): boolean => {
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
  const own = new BlockList()
  for (const entry of Object.values(networkInterfaces()).flatMap((entries) => entries ?? []))
    own.addAddress(entry.address, entry.family === 'IPv4' ? 'ipv4' : 'ipv6')
  return own.check(address, family)
}
