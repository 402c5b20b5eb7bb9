import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';

/** Texts that a client keeps for the service and cannot read or change. */
export interface TextSeal {
  seal(text: string): string;
  /** Null: it was not sealed with this key. */
  open(sealed: string): string | null;
}

/** A digest with a separate key. */
export type TextDigest = (scope: string, text: string) => string;

/** Names the form, so that a later one can be told from it. */
const mark = 'gwc1.';
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Seals with AES-256-GCM. `digest` is keyed, and its key is that of the seal: one account's seal opens no other's. The nonce is
 * made of the text, so that the same text gives the same seal, and no nonce serves two texts. What `earlier` digests sealed can
 * still be opened.
 */
export function createTextSeal(digest: TextDigest, earlier: readonly TextDigest[] = []): TextSeal {
  let cachedKey: Buffer | null = null;
  // Every request has a seal, and few use it.
  const key = (): Buffer => {
    cachedKey ??= keyOf(digest);
    return cachedKey;
  };
  return {
    seal(text) {
      const nonce = createHash('sha256').update(digest('seal-nonce', text)).digest().subarray(0, nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', key(), nonce);
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return mark + Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
    },
    open(sealed) {
      const bytes = Buffer.from(sealed.startsWith(mark) ? sealed.slice(mark.length) : '', 'base64url');
      if (bytes.length < nonceBytes + tagBytes) return null;
      let text = openWith(key(), bytes);
      for (const each of earlier) text ??= openWith(keyOf(each), bytes);
      return text;
    },
  };
}

const keyOf = (digest: TextDigest): Buffer => createHash('sha256').update(digest('seal', 'key')).digest();

function openWith(key: Buffer, bytes: Buffer): string | null {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
  decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}
