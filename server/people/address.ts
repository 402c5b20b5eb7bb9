import { z } from 'zod';
import { normalAddress } from '../accounts/address.ts';

/** E-mail addresses of people: their one spelling, and the mailbox behind them. */

const mailable = z.email();

/**
 * The canonical spelling of an address that a person signs in with, or null when it is none. Narrower than the address
 * of an account: better-auth accepts these and no others.
 */
export function personAddress(text: string): string | null {
  const address = text.length > 1_024 ? null : normalAddress(text.trim());
  return address !== null && mailable.safeParse(address).success ? address : null;
}

// Providers that deliver `a.b+c@` and `ab@` into one mailbox.
const dotless = new Set(['gmail.com', 'googlemail.com']);

/**
 * The mailbox behind an address, for the rule of one trial per mailbox: the part behind a `+` is dropped everywhere,
 * dots and the second domain where the provider is known to ignore them. Takes a canonical address.
 */
export function mailboxOf(address: string): string {
  const [local = '', domain = ''] = address.split('@');
  const name = local.split('+')[0] ?? '';
  if (!dotless.has(domain)) return `${name === '' ? local : name}@${domain}`;
  return `${name.replaceAll('.', '')}@gmail.com`;
}
