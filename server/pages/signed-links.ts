import { createHmac, hkdfSync } from 'node:crypto';
import { z } from 'zod';
import { isSameSecret } from '../shared/constant-time.ts';

/**
 * Links that a browser can follow without its own headers: the link carries its grant, signed and with an expiry. It
 * is a bearer credential, so it is short-lived and never sent to other sites.
 */
export interface SignedLinks<Contents> {
  /** `holder`: who makes it, as the audit log names them. It lives no longer than their access (`link-access.ts`). */
  link(contents: Contents, holder: string): SignedLink;
  /** The grant of a link; null when its signature is wrong or it has expired. */
  open(grant: unknown): { contents: Contents; holder: string } | null;
}

export interface SignedLink {
  url: string;
  expiresAt: Date;
}

/** Longer texts are refused before they are parsed. */
const maxGrantLength = 4_096;

/** What all links share. */
export interface LinkBase {
  secretKey: Buffer;
  /** Read for each link: operators change it while the service runs. */
  readonly publicUrl: string;
}

export function createSignedLinks<Contents>(
  base: LinkBase,
  options: {
    /** The purpose of the links: a grant of one purpose opens no other. */
    purpose: string;
    path: string;
    validMs: number;
    contents: z.ZodType<Contents>;
  },
): SignedLinks<Contents> {
  const { path, validMs } = options;
  const key = Buffer.from(hkdfSync('sha256', base.secretKey, '', `steyg ${options.purpose}`, 32));
  const sign = (payload: string): Buffer => createHmac('sha256', key).update(payload).digest();
  const shape = z.object({ contents: z.unknown(), holder: z.string(), until: z.number() });
  return {
    link(contents, holder) {
      const until = Date.now() + validMs;
      const payload = Buffer.from(JSON.stringify({ contents, holder, until })).toString('base64url');
      const grant = `${payload}.${sign(payload).toString('base64url')}`;
      return { url: `${base.publicUrl}${path}?grant=${grant}`, expiresAt: new Date(until) };
    },
    open(grant) {
      if (typeof grant !== 'string' || grant.length > maxGrantLength) return null;
      const [payload = '', signature = ''] = grant.split('.');
      const given = Buffer.from(signature, 'base64url');
      const expected = sign(payload);
      if (!isSameSecret(given, expected)) return null;
      const parsed = shape.safeParse(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')));
      if (!parsed.success || parsed.data.until <= Date.now()) return null;
      const { data } = options.contents.safeParse(parsed.data.contents);
      return data === undefined ? null : { contents: data, holder: parsed.data.holder };
    },
  };
}

/** Headers of every answer to such a link: no caching, no referrer. */
export const linkHeaders: Record<string, string> = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

/** The answer to a link that is wrong or expired. */
export const deadLink = 'This link is not valid any more; make a new one.\n';
