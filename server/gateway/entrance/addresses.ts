/** How addresses of the data plane may be spelled, and what a wrong base address looks like. */

/** Calls that lie below `/v1`. */
const versioned =
  'chat\\/completions|completions|models(?:\\/.*)?|responses(?:\\/.*)?|embeddings|images\\/(?:generations|edits)';
const withoutVersion = new RegExp(`^/api/(?:${versioned})$`);
const twiceVersioned = /^\/api\/v1\/v1(?:\/|$)/;
const ofDataPlane = new RegExp(`^/api/(?:v1(?:/|$)|messages$|(?:${versioned})$)`);

/**
 * The address under which a request is served: people write base addresses with a slash at the end, and client libraries
 * join them with a path that begins with one. Addresses of other parts of the service stay as they are.
 */
export function servedAddress(url: string): string {
  if (!url.startsWith('/')) return url;
  const end = url.search(/[?#]/);
  const path = end === -1 ? url : url.slice(0, end);
  if (!path.includes('//') && !path.endsWith('/')) return url;
  const short = withoutSpareSlashes(path);
  return ofDataPlane.test(short) ? short + url.slice(path.length) : url;
}

function withoutSpareSlashes(path: string): string {
  const parts = path.split('/').filter((part) => part !== '');
  return `/${parts.join('/')}`;
}

/** Whether the data plane answers there, if only with the reason why there is nothing. */
export const isOfDataPlane = (path: string): boolean => ofDataPlane.test(path);

/**
 * What is wrong with the client's base address: `missing` the `/v1` of chat completions, `twice` because the client adds
 * one itself, `messages`: a messages client that does not add it. Null: nothing.
 */
export function wrongBase(path: string): 'missing' | 'twice' | 'messages' | null {
  if (withoutVersion.test(path)) return 'missing';
  if (twiceVersioned.test(path)) return 'twice';
  return path === '/api/messages' ? 'messages' : null;
}

/** Whether WebSockets are spoken at the address. */
export const isSocketAddress = (url: string): boolean => servedAddress(url).split('?', 1)[0] === '/api/v1/responses';
