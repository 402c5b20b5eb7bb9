import { stopwatch } from '../escrow/witness.ts';
import type { Statement } from './flight.ts';
import { renewLease } from './statements.ts';

/**
 * The lease of this process, under which its holds live. It is renewed by the batches of the ledger, so that a ledger that
 * can write cannot lose it.
 */
export interface Lease {
  /** A renewal that is due; null when none is. */
  due(): Renewal | null;
  /** Whether the last renewal whose answer has come began less than a lease ago, by this machine's clocks. */
  readonly isRenewed: boolean;
}

export interface Renewal {
  statement: Statement;
  /** It is committed. */
  confirmed(): void;
}

/** `onLate`: a renewal this late may have followed a sweep, which has released the holds. */
export function createLease(processId: string, leaseMs: number, onLate: () => void): Lease {
  /** How long ago the last renewal whose answer has come began. */
  let ageMs = (): number => Number.POSITIVE_INFINITY;

  return {
    due() {
      if (ageMs() < leaseMs / 4) return null;
      const renewalAgeMs = stopwatch();
      return {
        statement: renewLease(processId, String(leaseMs)),
        confirmed() {
          if (ageMs() >= leaseMs) onLate();
          ageMs = renewalAgeMs;
        },
      };
    },

    get isRenewed() {
      return ageMs() < leaseMs;
    },
  };
}
