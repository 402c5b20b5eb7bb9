/** The canonical spelling of an e-mail address, by which accounts are identified. */

const maxAddressLength = 254;
const maxLocalPartLength = 64;
// Lists, comments and quotes have no place in a mail address.
const local = /^[^\s@"(),:;<>[\\\]]+$/u;
const domain = /^[\p{L}\p{N}](?:[\p{L}\p{N}.-]*[\p{L}\p{N}])?$/u;
// Invisible characters: control, format, surrogates, unassigned, blanks.
const invisible = /[\p{C}\p{Z}\u034F\u115F\u1160\u17B4\u17B5\u3164\uFFA0]/u;

/**
 * The canonical spelling (NFKC, lower case) of an e-mail address, which identifies an account: one trial for each. Null
 * when the text is no address, or contains invisible characters.
 */
export function normalAddress(text: string): string | null {
  if (text.length > maxAddressLength) return null;
  const address = text.normalize('NFKC').toLowerCase();
  if (address.length > maxAddressLength || invisible.test(address)) return null;
  const at = address.lastIndexOf('@');
  const [name, host] = [address.slice(0, at), address.slice(at + 1)];
  if (at < 1 || name.length > maxLocalPartLength || !local.test(name) || !domain.test(host)) return null;
  if (name.startsWith('.') || name.endsWith('.') || address.includes('..')) return null;
  return address;
}
