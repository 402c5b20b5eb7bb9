import type { UpstreamFeatures } from '../core/features.ts';
import type { ClockedPrices } from '../core/price.ts';
import type { ProfileId } from '../core/profile.ts';
import type { Protocol } from '../core/protocol.ts';

/** Routes as the data plane sees them: part of the catalog's snapshot in memory. */

export interface UpstreamRecord {
  id: string;
  protocol: Protocol;
  /** As the ecosystem writes it: without `/v1` for messages, with it for the others. No trailing slash. */
  baseUrl: string;
  onDisconnect: 'abort' | 'drain';
  profile: ProfileId | null;
  features: UpstreamFeatures;
  simulated: boolean;
  /** Unsealed, in memory only. Empty: the upstream takes no key. */
  keys: readonly { id: string; secret: string }[];
}

/** An enabled model on an enabled upstream. */
export interface RouteRecord {
  id: string;
  model: string;
  upstream: UpstreamRecord;
  upstreamModel: string;
  /** Lower is tried first. */
  priority: number;
  weight: number;
  /** What the operator pays there; null: not known. */
  costs: ClockedPrices | null;
}
