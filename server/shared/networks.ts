import { BlockList, isIP } from 'node:net';

/** Networks in CIDR notation that may call, e.g. `203.0.113.0/24`, `2001:db8::/32`, or single addresses. */

interface Network {
  address: string;
  prefix: number;
  family: 'ipv4' | 'ipv6';
}

function parseNetwork(text: string): Network | null {
  const [address = '', prefix, ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0 || address.includes('%')) return null;
  const bits = version === 4 ? 32 : 128;
  if (prefix !== undefined && (!/^(0|[1-9]\d{0,2})$/.test(prefix) || Number(prefix) > bits)) return null;
  return { address, prefix: prefix === undefined ? bits : Number(prefix), family: version === 4 ? 'ipv4' : 'ipv6' };
}

export function isNetwork(text: string): boolean {
  return parseNetwork(text) !== null;
}

/** Whether an address lies in one of the networks. What cannot be read lies in none. */
export type NetworkTest = (address: string) => boolean;

/** Null without networks: every address may call. An IPv4 address in its IPv6 form is that IPv4 address. */
export function testNetworks(networks: readonly string[]): NetworkTest | null {
  if (networks.length === 0) return null;
  const list = new BlockList();
  for (const text of networks) {
    const network = parseNetwork(text);
    if (network !== null) list.addSubnet(network.address, network.prefix, network.family);
  }
  return (given) => {
    const address = given.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');
    const version = isIP(address);
    return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6');
  };
}
