import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares two secrets in a time that does not tell how much of them is the same, nor how long they are. */
export function isSameSecret(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
