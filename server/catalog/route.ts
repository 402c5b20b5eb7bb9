/** What the data plane knows of the places where models run; read from the database into memory as one snapshot. */

export type UpstreamProtocol = 'messages' | 'chat-completions' | 'responses';

/** What translation may use at an upstream. Structurally the `UpstreamFeatures` of the wire contract. */
export interface Features {
  maxTokensField: 'max_tokens' | 'max_completion_tokens';
  systemRole: 'keep' | 'user' | 'hoist';
  files: boolean;
  jsonObject: boolean;
  sampling: boolean;
  reasoningHistory: boolean;
  effort: boolean;
  store: boolean;
}

export interface UpstreamRecord {
  id: string;
  protocol: UpstreamProtocol;
  /** As the ecosystem writes it: without `/v1` for messages, with it for the others. No trailing slash. */
  baseUrl: string;
  onDisconnect: 'abort' | 'drain';
  features: Features;
  simulated: boolean;
  /** Unsealed, in memory only. Empty: the upstream takes no key. */
  keys: readonly { id: string; secret: string }[];
}

/** What the operator pays on a route, pico-USD per token. */
export interface UnitCosts {
  input: bigint;
  cacheHit: bigint;
  cacheWrite5m: bigint;
  cacheWrite1h: bigint;
  output: bigint;
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
  costs: UnitCosts | null;
}

export interface RouteSource {
  /** The routes of a catalog model in no particular order; empty when it has none. */
  routesOf(model: string): readonly RouteRecord[];
}
