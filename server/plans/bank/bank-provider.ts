import type { IncomingHttpHeaders } from 'node:http';
import type { IncomingTransfer } from './transfers.ts';

/** The interface of a service that watches bank accounts: authentication of its messages, and their parsing. */
export interface BankProvider {
  /** Names the transfers' origin and the address of the webhook. */
  name: string;
  /** Decides from headers and raw bytes alone. Never throws. */
  authenticate(message: { headers: IncomingHttpHeaders; body: Buffer; now: Date }): Authentication;
  /** The transfers in an authenticated message; null for an unknown shape. */
  parse(body: Buffer, now: Date): IncomingTransfer[] | null;
  /** The body that the provider expects once its message is stored. */
  accepted: object;
}

type Authentication =
  | 'genuine'
  /** It carries no proof of the configured kind. */
  | 'unsigned'
  | 'forged'
  /** The signature may be right, but its time is too old or in the future. */
  | 'stale'
  /** No secret is configured, so every message is refused. */
  | 'not_configured';

/**
 * Maximum age of a signed message. Wide on purpose: whether providers sign their retries anew is not documented, and
 * replays are harmless, because every transfer is stored once.
 */
const messageLifetimeMs = 24 * 3_600_000;
/** Tolerated clock skew into the future: a wrong clock of ours must not refuse all money. */
const clockSkewMs = 15 * 60_000;

/** Whether the time of a signature is within the tolerated age and skew. */
export function soundAge(signedAt: Date, now: Date): boolean {
  const ageMs = now.getTime() - signedAt.getTime();
  return ageMs <= messageLifetimeMs && ageMs >= -clockSkewMs;
}

/** One header, exactly once: duplicates are refused. */
export function singleHeader(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : null;
}
