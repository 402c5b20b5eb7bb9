const longestAddress = 254;
const longestLocalPart = 64;
// Lists, comments and quotes have no place in an address that mail goes to.
const local = /^[^\s@"(),:;<>[\\\]]+$/u;
const domain = /^[\p{L}\p{N}](?:[\p{L}\p{N}.-]*[\p{L}\p{N}])?$/u;
// What cannot be seen: control and format characters, halves of characters, unassigned ones, blanks.
const invisible = /[\p{C}\p{Z}\u034F\u115F\u1160\u17B4\u17B5\u3164\uFFA0]/u;

/**
 * The one spelling of an e-mail address (NFKC, lower case), by which an account is known: there is one trial for each.
 * Null when the text is no address, or has something in it that nobody can see.
 */
export function normalAddress(text: string): string | null {
  if (text.length > longestAddress) return null;
  const address = text.normalize('NFKC').toLowerCase();
  if (address.length > longestAddress || invisible.test(address)) return null;
  const at = address.lastIndexOf('@');
  const [name, host] = [address.slice(0, at), address.slice(at + 1)];
  if (at < 1 || name.length > longestLocalPart || !local.test(name) || !domain.test(host)) return null;
  if (name.startsWith('.') || name.endsWith('.') || address.includes('..')) return null;
  return address;
}
