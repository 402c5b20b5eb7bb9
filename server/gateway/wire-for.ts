import type { Protocol } from '../core/protocol.ts';
import { translatingWire } from '../wire/dialogue/wires.ts';
import type { Wire } from '../wire/protocol.ts';
import { nativeWire } from '../wire/wires.ts';

/** The wire between a client's protocol and an upstream's: bytes as they are where both are the same. */
export function wireFor(client: Protocol, upstream: Protocol): Wire {
  return client === upstream ? nativeWire(client) : translatingWire(client, upstream);
}
