/** Ends the events of a subscription whose subject has signed out, was suspended, or has other rights than at its beginning. */

/** Without an answer about the subject, events go on for so long. */
const maxUnknownMs = 300_000;

/**
 * The events, as long as the subject is unchanged. The stream then ends without the event that completes a subscription:
 * clients subscribe again, and are identified anew.
 */
export async function* whileUnchanged(
  events: AsyncIterable<Uint8Array>,
  subject: { isUnchanged: () => Promise<boolean>; everyMs: number; signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  const source = events[Symbol.asyncIterator]();
  const change = changeOf(subject);
  try {
    for (;;) {
      const next = await change.or(source.next());
      if (next === null || next.done === true) return;
      yield next.value;
    }
  } finally {
    change.stop();
    // A source that waits ends when the client has gone, which follows the end of this stream.
    void source.return?.().catch(() => undefined);
  }
}

/** The moment at which the subject is no longer what it was. */
interface Change {
  /** The turn's value; null: the subject has changed before there was one. One turn at a time. */
  or: <T>(turn: Promise<T>) => Promise<T | null>;
  stop: () => void;
}

function changeOf({ isUnchanged, everyMs, signal }: Parameters<typeof whileUnchanged>[1]): Change {
  let isChanged = false;
  // Of the present turn only: a promise for the life of the connection, raced each turn, would keep every chunk until its end.
  let endTurn: (() => void) | null = null;
  let knownAt = Date.now();
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    stopped = true;
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  };
  const look = async (): Promise<void> => {
    // A database that does not answer says nothing about the subject.
    const unchanged = await isUnchanged().catch(() => null);
    if (unchanged === true) knownAt = Date.now();
    if (unchanged === false || Date.now() - knownAt > maxUnknownMs) {
      isChanged = true;
      endTurn?.();
    } else begin();
  };
  const begin = (): void => {
    if (!stopped) timer = setTimeout(() => void look(), everyMs);
  };
  begin();
  signal.addEventListener('abort', stop, { once: true });
  return {
    stop,
    or: async <T>(turn: Promise<T>): Promise<T | null> => {
      const { promise, resolve, reject } = Promise.withResolvers<T | null>();
      turn.then(resolve, reject);
      endTurn = () => resolve(null);
      if (isChanged) endTurn();
      try {
        return await promise;
      } finally {
        endTurn = null;
      }
    },
  };
}
