import { lookup as dnsLookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/**
 * Addresses that a server must not be talked into calling: its own machine, its network, a cloud's metadata. Names are
 * checked after resolution and the connection goes to the very address that was checked, so that a name which resolves
 * differently the second time gains nothing.
 */

const refused = new BlockList();
for (const [network, prefix] of [
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
] as const)
  refused.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of [
  // Nobody, this machine, and the old form that carries an IPv4 address.
  ['::', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const)
  refused.addSubnet(network, prefix, 'ipv6');

/** True for loopback, private, link-local, reserved and multicast addresses, and for IPv6 forms that carry such an IPv4. */
export function isPrivateAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 0) return true;
  if (family === 4) return refused.check(address, 'ipv4');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return refused.check(mapped, 'ipv4');
  // `::ffff:7f00:1` is the same address in its other spelling; no public service lives in that range.
  return /^::ffff:/i.test(address) || refused.check(address, 'ipv6');
}

/** A refused address; the message names nothing that was resolved. */
export class PrivateAddressError extends Error {
  override name = 'PrivateAddressError';
  readonly code = 'PRIVATE_ADDRESS';
}

/** A `lookup` for sockets that hands out public addresses only. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  dnsLookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) {
      callback(error, '');
      return;
    }
    const [first] = addresses;
    // One private answer among public ones is an attempt to get through, not a choice.
    if (first === undefined || addresses.some(({ address }) => isPrivateAddress(address))) {
      callback(new PrivateAddressError('address refused'), '');
      return;
    }
    if (options.all === true) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};

export type AddressProblem = 'not_a_url' | 'not_https' | 'has_credentials' | 'has_query' | 'private_address';

/**
 * Checks a configured base address before it is stored: https, no user info, no query, no literal private address.
 * Names are checked again at every connection (`publicLookup`). `allowPrivate` lifts the https and address rules.
 */
export function checkBaseUrl(text: string, allowPrivate: boolean): AddressProblem | null {
  if (!URL.canParse(text)) return 'not_a_url';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'has_credentials';
  if (url.search !== '' || url.hash !== '') return 'has_query';
  if (url.protocol !== 'https:' && !(allowPrivate && url.protocol === 'http:')) return 'not_https';
  if (allowPrivate) return null;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 ? isPrivateAddress(host) : /(^|\.)(localhost|local|internal)$/i.test(host))
    return 'private_address';
  return null;
}
