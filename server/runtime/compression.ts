import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';

/**
 * Compresses the public pages of a scope. A page is one string for all its readers, so it is compressed once for each
 * rendering, not for each request: a request for a page never costs more than a look into a map.
 */

type Encoding = 'br' | 'gzip';

const compressors: Record<Encoding, (text: string) => Buffer> = {
  // Quality 5 takes a tenth of the time of 11, and a page changes with every round of probes.
  br: (text) => brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (text) => gzipSync(text),
};

/** Shorter answers are not worth the header. */
const minLength = 1_024;
/** Renderings that are kept, the newest: pages of two languages, documents and a few models. */
const maxKept = 64;

/** Registers compression for text answers of this scope and the scopes within it. Nothing secret may be in them (BREACH). */
export function registerCompression(scope: FastifyInstance): void {
  const kept = new Map<string, Partial<Record<Encoding, Buffer>>>();
  const compressed = (text: string, encoding: Encoding): Buffer => {
    const known = kept.get(text) ?? {};
    kept.delete(text);
    kept.set(text, known);
    if (kept.size > maxKept) {
      const [oldest] = kept.keys();
      if (oldest !== undefined) kept.delete(oldest);
    }
    return (known[encoding] ??= compressors[encoding](text));
  };

  scope.addHook('onSend', async (request, reply, payload) => {
    if (typeof payload !== 'string' || payload.length < minLength) return payload;
    // What caches may not keep is one reader's alone: a text that is new each time would cost its compression each time.
    if (!String(reply.getHeader('cache-control') ?? '').startsWith('public')) return payload;
    addVary(reply.getHeader('vary'), (vary) => void reply.header('vary', vary));
    const encoding = acceptedEncoding(request.headers['accept-encoding']);
    if (encoding === null) return payload;
    void reply.header('content-encoding', encoding).removeHeader('content-length');
    return compressed(payload, encoding);
  });
}

function addVary(present: unknown, set: (vary: string) => void): void {
  const text = typeof present === 'string' ? present : '';
  set(text === '' ? 'Accept-Encoding' : `${text}, Accept-Encoding`);
}

/** The best encoding that the client accepts (RFC 9110, 12.5.3); null: as it is. */
export function acceptedEncoding(header: string | undefined): Encoding | null {
  const accepted = new Set(
    (header ?? '')
      .slice(0, 200)
      .toLowerCase()
      .split(',')
      .map((part) => part.trim().split(';'))
      .filter(([, quality]) => quality === undefined || !/^\s*q=0(\.0*)?\s*$/.test(quality))
      .map(([name]) => name?.trim()),
  );
  if (accepted.has('br')) return 'br';
  return accepted.has('gzip') ? 'gzip' : null;
}
