/** Addresses that a server must not be talked into calling, refused when they are entered and when they are connected to. */

import { lookup as dnsLookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/**
 * Addresses that a server must not be tricked into calling (SSRF): its own machine, its network, a cloud's metadata.
 * Names are checked after resolution, and the connection goes to exactly the checked address, so that DNS rebinding
 * gains nothing.
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
  // Hosts of clouds that are public addresses by their number. Azure's (DHCP, DNS, health, its agent's keys):
  // https://learn.microsoft.com/en-us/azure/virtual-network/what-is-ip-address-168-63-129-16
  ['168.63.129.16', 32],
  // IBM Cloud's networks of services: https://cloud.ibm.com/docs/vpc?topic=vpc-service-endpoints-for-vpc
  ['161.26.0.0', 16],
  ['166.8.0.0', 14],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  refused.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of [
  // Unspecified, loopback, and the old form that carries an IPv4 address.
  ['::', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['5f00::', 16],
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

/** A refused address; the message reveals nothing of the resolution. */
export class PrivateAddressError extends Error {
  override name = 'PrivateAddressError';
  readonly code = 'PRIVATE_ADDRESS';
}

/** A `lookup` for sockets that returns public addresses only. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  dnsLookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) {
      callback(error, '');
      return;
    }
    const [first] = addresses;
    // A private answer among public ones is an attack, not a choice.
    if (first === undefined || addresses.some(({ address }) => isPrivateAddress(address))) {
      callback(new PrivateAddressError('address refused'), '');
      return;
    }
    if (options.all === true) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};

export type AddressProblem =
  | 'not_a_url'
  | 'not_https'
  | 'has_credentials'
  | 'has_query'
  /** The host is written in a form that parsers read differently, or the port belongs to another protocol. */
  | 'unusual_form'
  | 'private_address';

/**
 * Checks a configured base address before it is stored: https, no user info, no query, written plainly, no literal private
 * address and no name that only a private network resolves. Names are checked again at every connection (`publicLookup`).
 * `allowPrivate` lifts the https, port and address rules.
 */
export function checkBaseUrl(text: string, allowPrivate: boolean): AddressProblem | null {
  // `URL` drops blanks and control characters and takes a backslash for a slash; other parsers do not.
  if (!URL.canParse(text) || /[^!-~\u0080-\u{10ffff}]|[\s\\]/u.test(text)) return 'not_a_url';
  const url = new URL(text);
  const written = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]+)/i.exec(text)?.[1];
  if (written === undefined) return 'not_a_url';
  if (url.username !== '' || url.password !== '' || written.includes('@')) return 'has_credentials';
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(text)) return 'has_query';
  if (url.protocol !== 'https:' && !(allowPrivate && url.protocol === 'http:')) return 'not_https';
  if (allowPrivate) return null;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 ? isPrivateAddress(host) : isPrivateName(host)) return 'private_address';
  return isPlain(written, url, host) ? null : 'unusual_form';
}

/**
 * Names that public DNS does not resolve: of one label (`ip6-localhost`, a machine of the same network), and below the
 * top levels for private use (RFC 6761, RFC 6762, RFC 8375, ICANN's `internal`, and those that home and company
 * networks use).
 */
function isPrivateName(host: string): boolean {
  const labels = host.toLowerCase().replace(/\.+$/, '').split('.');
  const last = labels.at(-1) ?? '';
  return labels.length < 2 || privateTopLevels.has(last) || labels.slice(-2).join('.') === 'home.arpa';
}

const privateTopLevels: ReadonlySet<string> = new Set([
  'localhost',
  'localdomain',
  'local',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'test',
  'invalid',
  'onion',
]);

/**
 * A host in its usual form: no trailing dot, no decimal, octal, hexadecimal or short IPv4, no port of another service.
 */
function isPlain(written: string, url: URL, host: string): boolean {
  if (host.endsWith('.') || host.includes('..') || host.includes('%')) return false;
  if (isIP(host) === 4 && written.replace(/:\d*$/, '') !== host) return false;
  const port = url.port === '' ? 443 : Number(url.port);
  return port === 443 || port >= minUnprivilegedPort;
}

/** Ports below it belong to mail, remote shells and files, which a request could be abused to reach. */
const minUnprivilegedPort = 1_024;
