import type { UpstreamFeatures } from '../core/features.ts';
import type { UnitPrices } from '../core/price.ts';
import type { Protocol } from '../core/protocol.ts';
/** What the data plane knows of the places where models run; read from the database into memory as one snapshot. */

export interface UpstreamRecord {
  id: string;
  protocol: Protocol;
  /** As the ecosystem writes it: without `/v1` for messages, with it for the others. No trailing slash. */
  baseUrl: string;
  onDisconnect: 'abort' | 'drain';
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
  costs: UnitPrices | null;
}

export interface RouteSource {
  /** The routes of a catalog model in no particular order; empty when it has none. */
  routesOf(model: string): readonly RouteRecord[];
}
