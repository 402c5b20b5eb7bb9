/** Removes the operator's upstream key from what an upstream says: no customer and no log may see it. */

export function textWithoutSecret(secret: string | null, text: string): string {
  return secret === null || secret === '' ? text : text.replaceAll(secret, '[redacted]');
}

/** The same for bytes; without an occurrence the bytes themselves. */
export function bytesWithoutSecret(secret: string | null, bytes: Uint8Array): Uint8Array {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (secret === null || secret === '' || !buffer.includes(secret)) return bytes;
  return Buffer.from(textWithoutSecret(secret, buffer.toString('latin1')), 'latin1');
}
