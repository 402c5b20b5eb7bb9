/**
 * Tool call ids between vendors. The Messages protocol takes only letters, digits, `_` and `-`, while others emit
 * ids such as `functions.Bash:0`; one such id in the history would make every later turn of the session fail.
 * The mapping is stateless (any process can undo it), and injective: no two ids ever become one.
 */

const CONFORMING = /^[a-zA-Z0-9_-]+$/;
const PREFIX = 'toolu_gw_';
/** For ids that are no valid Unicode: UTF-8 would turn different lone surrogates into the same character. */
const WIDE_PREFIX = 'toolu_gw16_';

/** The id as the Messages protocol accepts it. An id that looks like one of ours is wrapped too, to stay reversible. */
export function encodeToolId(id: string): string {
  if (CONFORMING.test(id) && !id.startsWith(PREFIX) && !id.startsWith(WIDE_PREFIX)) return id;
  if (id.isWellFormed()) return PREFIX + Buffer.from(id, 'utf8').toString('base64url');
  return WIDE_PREFIX + Buffer.from(id, 'utf16le').toString('base64url');
}

/** Undoes {@link encodeToolId}; every other id comes back as it is. */
export function decodeToolId(id: string): string {
  const decoded = unwrap(id);
  return decoded !== null && encodeToolId(decoded) === id ? decoded : id;
}

function unwrap(id: string): string | null {
  if (id.startsWith(PREFIX)) return Buffer.from(id.slice(PREFIX.length), 'base64url').toString('utf8');
  if (id.startsWith(WIDE_PREFIX)) return Buffer.from(id.slice(WIDE_PREFIX.length), 'base64url').toString('utf16le');
  return null;
}

/**
 * Tells the calls of one answer apart where the vendor gave several of them the same id: it would be unknown afterwards which
 * result belongs to which, and the Messages protocol refuses such a history. The first one keeps its id.
 */
export function createDistinctIds(): (id: string) => string {
  /** By each id in use, the ordinal that its next double may get. */
  const next = new Map<string, number>();
  return (id) => {
    let own = id;
    let ordinal = next.get(id) ?? 2;
    for (; next.has(own); ordinal += 1) own = `${id}_${ordinal}`;
    next.set(id, ordinal);
    if (own !== id) next.set(own, 2);
    return own;
  };
}
