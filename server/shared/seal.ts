import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

/**
 * Sealing of secrets at rest. Each is encrypted with a separate key (AES-256-GCM, random 96-bit nonce), and that key
 * with one that is derived from the server's secret key and never leaves memory. A sealed text is bound to its row and
 * column: copied elsewhere it does not open.
 *
 * version 1 | key id 8 | nonce 12 | wrapped key 32 | tag 16 | nonce 12 | text | tag 16
 */
const version = 1;
const keyIdLength = 8;
const nonceLength = 12;
const keyLength = 32;
const tagLength = 16;
const wrappedLength = nonceLength + keyLength + tagLength;
const headLength = 1 + keyIdLength;

/** The row and column of a sealed text, to which it is bound. */
export interface SealedPlace {
  table: string;
  rowId: string;
  column: string;
}

export interface Seal {
  seal(place: SealedPlace, text: string): Buffer;
  /** Null: sealed with an unknown key, for another row, or damaged. */
  unseal(place: SealedPlace, sealed: Uint8Array): string | null;
  /** Whether it was sealed with the current key. Texts of older keys should be resealed. */
  isCurrent(sealed: Uint8Array): boolean;
}

/** `secretKeys`: 32 bytes each; the first seals, all of them open, so that the secret key can be rotated. */
export function createSeal({ secretKeys }: { secretKeys: readonly [Buffer, ...Buffer[]] }): Seal {
  const wrapping = new Map(secretKeys.map((secretKey) => [keyIdOf(secretKey), deriveKey(secretKey)]));
  const currentId = keyIdOf(secretKeys[0]);
  const current = deriveKey(secretKeys[0]);

  return {
    seal(place, text) {
      const key = randomBytes(keyLength);
      const bound = bindingOf(place);
      return Buffer.concat([
        Buffer.from([version]),
        Buffer.from(currentId, 'hex'),
        encrypt(current, key, bound),
        encrypt(key, Buffer.from(text, 'utf8'), bound),
      ]);
    },
    unseal(place, sealed) {
      const bytes = Buffer.from(sealed);
      if (bytes.length < headLength + wrappedLength + nonceLength + tagLength || bytes[0] !== version) return null;
      const wrappingKey = wrapping.get(keyIdIn(bytes));
      if (wrappingKey === undefined) return null;
      const bound = bindingOf(place);
      const key = decrypt(wrappingKey, bytes.subarray(headLength, headLength + wrappedLength), bound);
      const text = key === null ? null : decrypt(key, bytes.subarray(headLength + wrappedLength), bound);
      return text?.toString('utf8') ?? null;
    },
    isCurrent: (sealed) => keyIdIn(Buffer.from(sealed)) === currentId,
  };
}

function keyIdIn(bytes: Buffer): string {
  return bytes.subarray(1, headLength).toString('hex');
}

/** An id of the key that reveals nothing about it. */
function keyIdOf(secretKey: Buffer): string {
  return createHash('sha256')
    .update('steyg seal key id')
    .update(secretKey)
    .digest('hex')
    .slice(0, keyIdLength * 2);
}

function deriveKey(secretKey: Buffer): Buffer {
  if (secretKey.length !== keyLength) throw new RangeError(`a secret key has ${keyLength} bytes`);
  return Buffer.from(hkdfSync('sha256', secretKey, '', 'steyg seal', keyLength));
}

function bindingOf({ table, rowId, column }: SealedPlace): Buffer {
  return Buffer.from([table, rowId, column].join('|'), 'utf8');
}

function encrypt(key: Buffer, plain: Buffer, bound: Buffer): Buffer {
  const nonce = randomBytes(nonceLength);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(bound);
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(key: Buffer, sealed: Buffer, bound: Buffer): Buffer | null {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceLength)).setAAD(bound);
  decipher.setAuthTag(sealed.subarray(-tagLength));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(nonceLength, -tagLength)), decipher.final()]);
  } catch {
    return null;
  }
}
