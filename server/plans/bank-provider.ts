import type { IncomingHttpHeaders } from 'node:http';
import type { IncomingTransfer } from './transfers.ts';

/** What a service that watches bank accounts has to offer: proof that a message is its own, and what the message says. */
export interface BankProvider {
  /** Names the transfers' origin and the address of the webhook. */
  name: string;
  /** Decides from headers and raw bytes alone. Never throws. */
  authenticate(message: { headers: IncomingHttpHeaders; body: Buffer; now: Date }): Authentication;
  /** The transfers that an authenticated message tells of; null when it has another shape. */
  parse(body: Buffer, now: Date): IncomingTransfer[] | null;
  /** What the provider wants to read after its message is stored. */
  accepted: object;
}

type Authentication =
  | 'genuine'
  | 'forged'
  /** Genuine perhaps, but too old or from the future: no reason to believe it. */
  | 'stale'
  /** No secret is configured: nothing can be believed, so nothing is taken. */
  | 'not_configured';

/**
 * How old a signed message may be. Wide on purpose: whether providers sign their retries anew is not documented, and
 * replays are harmless, because every transfer is stored once.
 */
const messageLifetimeMs = 24 * 3_600_000;
/** How far a provider's clock may run ahead, or ours behind: a clock of ours that is wrong must not refuse all money. */
const clockSkewMs = 15 * 60_000;

/** Whether a message that was signed at this moment is still (and already) to be believed. */
export function soundAge(signedAt: Date, now: Date): boolean {
  const ageMs = now.getTime() - signedAt.getTime();
  return ageMs <= messageLifetimeMs && ageMs >= -clockSkewMs;
}

/** One header, exactly once. Two of them are nobody's mistake. */
export function singleHeader(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : null;
}
