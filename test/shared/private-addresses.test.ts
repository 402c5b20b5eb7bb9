import { describe, expect, it } from 'vitest';
import { checkBaseUrl, isPrivateAddress } from '../../server/shared/private-addresses.ts';

/** Addresses that the server must not be talked into calling, in each of their spellings. */

describe('an address', () => {
  it.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.31.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    // Hosts and metadata of clouds: Azure, Alibaba, Oracle, IBM, Scaleway, AWS and Google over IPv6.
    '168.63.129.16',
    '::ffff:168.63.129.16',
    '64:ff9b::a83f:8110',
    '100.100.100.200',
    '192.0.0.192',
    '161.26.0.10',
    '166.9.0.1',
    '169.254.42.42',
    'fd00:42::42',
    'fd00:ec2::254',
    'fd20:ce::254',
    '::',
    '::1',
    'fe80::1',
    'fec0::1',
    'fd00::1',
    'ff02::1',
    '2001:db8::1',
    // IPv4 inside IPv6: mapped, compatible, translated, tunnelled.
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::127.0.0.1',
    '::7f00:1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    'no address at all',
  ])('%s is private', (address) => {
    expect(isPrivateAddress(address)).toBe(true);
  });

  it.each(['8.8.8.8', '1.1.1.1', '2606:4700:4700::1111', '2a00:1450:4001::1'])('%s is public', (address) => {
    expect(isPrivateAddress(address)).toBe(false);
  });
});

describe('a base address', () => {
  it.each([
    ['https://api.example.com/v1', null],
    ['https://[2606:4700:4700::1111]/', null],
    ['http://api.example.com', 'not_https'],
    ['https://user:word@api.example.com', 'has_credentials'],
    ['https://api.example.com/?a=b', 'has_query'],
    ['https://2130706433/', 'private_address'],
    ['https://0x7f.1/', 'private_address'],
    ['https://[::127.0.0.1]/', 'private_address'],
    ['https://localhost/', 'private_address'],
    ['https://metadata.google.internal/', 'private_address'],
    ['nonsense', 'not_a_url'],
    // Other spellings of a machine of ours.
    ['https://localhost.:1', 'private_address'],
    ['https://LOCALHOST./', 'private_address'],
    ['https://ip6-localhost', 'private_address'],
    ['https://ip6-loopback:8443/v1', 'private_address'],
    ['https://postgres/', 'private_address'],
    ['https://nas.lan/', 'private_address'],
    ['https://box.home.arpa./', 'private_address'],
    ['https://metadata.google.internal./', 'private_address'],
    ['https://017700000001/', 'private_address'],
    ['https://0x7f000001/', 'private_address'],
    ['https://127.1/', 'private_address'],
    ['https://0177.0.0.1/', 'private_address'],
    ['https://１２７.0.0.1/', 'private_address'],
    ['https://127.0.0.1./', 'private_address'],
    ['https://[::1]/', 'private_address'],
    ['https://[0:0:0:0:0:ffff:127.0.0.1]/', 'private_address'],
    ['https://[::ffff:a00:1]/', 'private_address'],
    ['https://[fe80::1]/', 'private_address'],
    ['https://[::ffff:0:127.0.0.1]/', 'private_address'],
    // Forms that readers of addresses disagree about.
    ['https://api.example.com./', 'unusual_form'],
    ['https://0x08080808/', 'unusual_form'],
    ['https://134744072/', 'unusual_form'],
    ['https://8.8.2056/', 'unusual_form'],
    ['https://010.8.8.8/', 'unusual_form'],
    ['https://api.example.com:25/', 'unusual_form'],
    ['https://api.example.com:0/', 'unusual_form'],
    ['https:\\\\127.0.0.1\\', 'not_a_url'],
    ['https://api.example.com\\@127.0.0.1/', 'not_a_url'],
    ['https://api.example.com\\.internal/', 'not_a_url'],
    [' https://api.example.com/', 'not_a_url'],
    ['https://api.exa\tmple.com/', 'not_a_url'],
    ['https:api.example.com', 'not_a_url'],
    ['https:///api.example.com', 'not_a_url'],
    ['https://@api.example.com/', 'has_credentials'],
    ['https://:@api.example.com/', 'has_credentials'],
    ['https://api.example.com/?', 'has_query'],
    ['https://api.example.com/#', 'has_query'],
    // Plain ones.
    ['https://8.8.8.8/v1', null],
    ['https://8.8.8.8:8443/v1', null],
    ['https://api.example.com:443/v1', null],
    ['https://API.Example.com/v1', null],
    ['https://bücher.example.com/v1', null],
  ])('%s: %s', (address, problem) => {
    expect(checkBaseUrl(address, false)).toBe(problem);
  });
});
