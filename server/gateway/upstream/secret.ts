/** Removes the operator's upstream key from an upstream's text: it must not reach customers or logs. */

export function textWithoutSecret(secret: string | null, text: string): string {
  return secret === null || secret === '' ? text : text.replaceAll(secret, '[redacted]');
}

/** The same for bytes; returns the same bytes when the key does not occur. */
export function bytesWithoutSecret(secret: string | null, bytes: Uint8Array): Uint8Array {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (secret === null || secret === '' || !buffer.includes(secret)) return bytes;
  return Buffer.from(textWithoutSecret(secret, buffer.toString('latin1')), 'latin1');
}
