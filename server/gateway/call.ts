import type { IncomingHttpHeaders } from 'node:http';
import type { CatalogModel, PricedModel } from '../catalog/catalog.ts';
import type { Target } from '../catalog/router.ts';
import type { Attribution } from '../core/attribution.ts';
import type { ModelKind } from '../core/kind.ts';
import type { ImagePath, Protocol } from '../core/protocol.ts';
import type { Principal } from '../keys/keyring.ts';
import type { RequestBound } from '../metering/bound.ts';
import type { TraceContext } from '../runtime/telemetry/trace-context.ts';
import type { TraceSpan } from '../runtime/telemetry/tracing.ts';
import type { RequestFacts, WireExchange } from '../wire/protocol.ts';
import type { Client } from './entrance/client.ts';
import type { RequestBytes } from './entrance/request-bytes.ts';
import type { VendorSocket } from './upstream/vendor-socket.ts';

/** The values that the steps of the data plane pass on. */

/** One request as it arrived, authenticated. */
export interface ClientCall {
  protocol: Protocol;
  /** What its address asks for. */
  asks: ModelKind;
  /** Of images: what its address does. */
  imagePath?: ImagePath;
  /** It came to the address of compactions, whose answers have their own form. */
  compacts?: true;
  principal: Principal;
  requestId: string;
  bytes: RequestBytes;
  rawHeaders: readonly string[];
  headers: IncomingHttpHeaders;
  /** The client's place in a trace; null: it named none. */
  traceContext: TraceContext | null;
  /** The request's own span; null: it is not traced. */
  trace: TraceSpan | null;
  client: Client;
  /** The client's library reads `code` of an error as a number. */
  numericCodes: boolean;
  /** Of the WebSocket that it is a turn of. */
  socket?: VendorSocket;
  /** `anthropic-version`; undefined on the other protocols. */
  version: string | undefined;
  /** Monotonic milliseconds. */
  receivedAt: number;
  /** Monotonic milliseconds at which the body was complete. */
  readAt: number;
}

/** The requested model and its facts, and the first route that can run it. */
export interface ModelRequest {
  facts: RequestFacts;
  model: CatalogModel;
  /** The most that it can come to. */
  bound: RequestBound;
  /** Models that its vendors may run for it besides, at the prices of this moment; empty: none. */
  others: readonly PricedModel[];
  /** Models of the catalog that make images for its tool, at the prices of this moment; empty: none is known. */
  makers: readonly PricedModel[];
  /** What the ledger notes beside the entry; null: nothing. */
  attribution: Attribution | null;
  first: Prepared;
  /** The next route that can express the request, after a failure. Null: none is left. */
  next(after: 'failure' | 'no_connection'): Prepared | null;
}

/** The request in the protocol of one route. */
export interface Prepared {
  target: Target;
  exchange: WireExchange;
}
