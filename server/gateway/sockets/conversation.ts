import type { BodyRoom } from '../load/body-room.ts';

/**
 * What one connection keeps between its turns: the items of the latest response of each lane, with those before it. Its bytes
 * count in the room of request bodies. What has no room is not kept: the next turn is refused with that reason, and the client sends all of it.
 */
export interface Conversation {
  /** Null: it is not the latest response of any lane, or was not kept. */
  find(responseId: string): Buffer | null;
  keep(streamId: string | null, responseId: string, items: Buffer): void;
  /** A turn that failed forgets what it went on from, as at the vendor. */
  forget(responseId: string): void;
  clear(): void;
}

/** Lanes of one connection, as at the vendor. */
const maxLanes = 32;

export function createConversation(
  room: BodyRoom,
  { accountId, maxBytes }: { accountId: string; maxBytes: number },
): Conversation {
  /** By lane (null: the one without a name), the one that was written longest ago first. */
  const latest = new Map<string | null, { responseId: string; items: Buffer }>();
  let bytes = 0;
  const drop = (lane: string | null): void => {
    const kept = latest.get(lane);
    if (kept === undefined) return;
    latest.delete(lane);
    bytes -= kept.items.length;
    room.give(accountId, kept.items.length);
  };
  return {
    find(responseId) {
      for (const kept of latest.values()) if (kept.responseId === responseId) return kept.items;
      return null;
    },
    keep(streamId, responseId, items) {
      drop(streamId);
      if (bytes + items.length > maxBytes || room.take(accountId, items.length) !== null) return;
      const [oldest] = latest.size >= maxLanes ? latest.keys() : [];
      if (oldest !== undefined) drop(oldest);
      latest.set(streamId, { responseId, items });
      bytes += items.length;
    },
    forget(responseId) {
      for (const [lane, kept] of latest) if (kept.responseId === responseId) drop(lane);
    },
    clear() {
      for (const lane of latest.keys()) drop(lane);
    },
  };
}
