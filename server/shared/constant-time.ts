/** Compares secrets in a time that tells nothing about them. */

import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether two secrets or digests are equal. The time tells neither how much of them is the same nor how long they are. */
export function isSameSecret(one: string | Uint8Array, other: string | Uint8Array): boolean {
  const digest = (value: string | Uint8Array): Buffer => createHash('sha256').update(value).digest();
  return timingSafeEqual(digest(one), digest(other));
}
