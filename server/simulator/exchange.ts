/** One request and its response, with the state of their connection. */

import type { IncomingMessage, ServerResponse } from 'node:http';

/** One request and its response, with what the simulator needs to know about the connection under them. */
export interface HttpExchange {
  request: IncomingMessage;
  response: ServerResponse;
  /** The connection is closed, or was broken on purpose: nothing sent from now on arrives. */
  readonly gone: boolean;
  /** Waits, but ends early when the client disconnects. */
  sleep(ms: number): Promise<void>;
  /** Silence: resolves only when the client disconnects. */
  untilGone(): Promise<void>;
  /** Sends part of the body, no faster than the client reads. */
  write(bytes: Uint8Array | string): Promise<void>;
  /** Breaks the connection on purpose, after what was written so far has been handed to the network. */
  sever(how: 'close' | 'reset'): void;
  /** Sends bytes past HTTP and breaks the connection; only before anything else was sent. */
  sendBare(bytes: Uint8Array): void;
}

/** The end of an exchange. */
export type Ending =
  /** The whole response was sent. */
  | 'finished'
  /** The client disconnected first. */
  | 'aborted'
  /** The simulator broke the connection because a script said so. */
  | 'severed';

/** Follows one exchange; `onEnd` is called exactly once, when its connection or its response is done with. */
export function openExchange({
  request,
  response,
  onEnd,
}: {
  request: IncomingMessage;
  response: ServerResponse;
  onEnd: (ending: Ending) => void;
}): HttpExchange {
  let gone = false;
  let severed = false;
  const waiting = new Set<() => void>();

  response.on('close', () => {
    gone = true;
    for (const wake of waiting) wake();
    waiting.clear();
    onEnd(severed ? 'severed' : response.writableFinished ? 'finished' : 'aborted');
  });
  // A reset connection reports itself here as well; `close` follows and says all there is to say.
  response.on('error', () => {});
  request.on('error', () => {});

  const until = (arm: (wake: () => void) => () => void): Promise<void> =>
    new Promise((resolve) => {
      if (gone) return resolve();
      const wake = (): void => {
        waiting.delete(wake);
        disarm();
        resolve();
      };
      waiting.add(wake);
      const disarm = arm(wake);
    });

  return {
    request,
    response,
    get gone() {
      return gone || severed;
    },
    sleep: (ms) =>
      until((wake) => {
        const timer = setTimeout(wake, ms);
        return () => clearTimeout(timer);
      }),
    untilGone: () => until(() => () => {}),
    async write(bytes) {
      if (gone || severed || response.write(bytes)) return;
      await until((wake) => {
        response.once('drain', wake);
        return () => response.off('drain', wake);
      });
    },
    sever(how) {
      severed = true;
      const { socket } = response;
      if (socket === null || socket.destroyed) return;
      // An empty write is queued behind all earlier ones, so its callback means that they have been sent.
      if (how === 'reset') socket.write('', () => socket.resetAndDestroy());
      else socket.destroySoon();
    },
    sendBare(bytes) {
      response.socket?.write(bytes);
      this.sever('close');
    },
  };
}
