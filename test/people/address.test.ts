/** The canonical spelling of sign-in addresses, and mailboxes behind them. */

import { describe, expect, it } from 'vitest';
import { mailboxOf, personAddress } from '../../server/people/address.ts';
import { networkOf } from '../../server/people/sign-in/throttle.ts';

describe('an address', () => {
  it.each([
    [' Ada@Example.COM ', 'ada@example.com'],
    ['ａｄａ@example.com', 'ada@example.com'],
    ['a+b.c@sub.example.co', 'a+b.c@sub.example.co'],
    ['ada@localhost', null],
    ['ada', null],
    ['a b@example.com', null],
    ['a@b@example.com', null],
    ['a\u200D@example.com', null],
    ['\u202Ea@example.com', null],
    [`${'a'.repeat(65)}@example.com`, null],
    [`a@${'b'.repeat(300)}.com`, null],
    ['a..b@example.com', null],
    ['"a"@example.com', null],
    ['a@example.com\nbcc: b@example.com', null],
  ])('%j is %j', (text, address) => {
    expect(personAddress(text)).toBe(address);
  });

  it.each([
    ['a.d.a+trial@gmail.com', 'ada@gmail.com'],
    ['ada@googlemail.com', 'ada@gmail.com'],
    ['a.d.a+trial@example.com', 'a.d.a@example.com'],
    ['+only@example.com', '+only@example.com'],
  ])('%s belongs to the mailbox %s', (address, mailbox) => {
    expect(mailboxOf(address)).toBe(mailbox);
  });
});

describe('a network', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2::1', '2001:db8:1:2'],
    ['2001:0db8:0001:0002::ffff', '2001:db8:1:2'],
    ['::1', '0:0:0:0'],
  ])('%s is in %s', (ip, network) => {
    expect(networkOf(ip)).toBe(network);
  });
});
