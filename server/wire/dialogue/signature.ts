import type { WireContext } from '../protocol.ts';

/**
 * Signatures for thinking blocks that no Messages vendor signed. Clients refuse a thinking block without one, and
 * send it back later; a vendor that is handed a signature it did not make answers 400.
 */

const PREFIX = 'gw1.';

/** Signs reasoning text that came from an upstream without signatures. */
export function mintSignature(text: string, context: WireContext): string {
  return PREFIX + context.digest('thinking', text);
}

/** A signature of the gateway: its block is left out before a real Messages upstream. A client that forges one removes its own block. */
export function isMintedSignature(signature: string): boolean {
  return signature.startsWith(PREFIX);
}
