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
  const changed = changeOf(subject);
  try {
    for (;;) {
      const next = await Promise.race([source.next(), changed.promise]);
      if (next === null || next.done === true) return;
      yield next.value;
    }
  } finally {
    changed.stop();
    // A source that waits ends when the client has gone, which follows the end of this stream.
    void source.return?.().catch(() => undefined);
  }
}

/** Resolves (null) when the subject is no longer what it was. */
function changeOf({ isUnchanged, everyMs, signal }: Parameters<typeof whileUnchanged>[1]): {
  promise: Promise<null>;
  stop: () => void;
} {
  const { promise, resolve } = Promise.withResolvers<null>();
  let knownAt = Date.now();
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    stopped = true;
    clearTimeout(timer);
  };
  const look = async (): Promise<void> => {
    // A database that does not answer says nothing about the subject.
    const unchanged = await isUnchanged().catch(() => null);
    if (unchanged === true) knownAt = Date.now();
    if (unchanged === false || Date.now() - knownAt > maxUnknownMs) resolve(null);
    else begin();
  };
  const begin = (): void => {
    if (!stopped) timer = setTimeout(() => void look(), everyMs);
  };
  begin();
  signal.addEventListener('abort', stop, { once: true });
  return { promise, stop };
}
