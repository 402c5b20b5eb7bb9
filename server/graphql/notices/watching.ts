import { builder } from '../builder.ts';

/** Polling for subscriptions: a notification would slow the writer down. */

builder.subscriptionType({ description: 'What can be watched, as server-sent events.' });

/** True after the delay, false at once when the client disconnects. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve(false);
      return;
    }
    const end = (whole: boolean) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
      resolve(whole);
    };
    const leave = () => end(false);
    const timer = setTimeout(() => end(true), milliseconds);
    signal.addEventListener('abort', leave);
  });
}
