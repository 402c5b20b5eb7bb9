import type { Logger } from 'pino';
import { describeError } from './http.ts';

/**
 * When this process has to end: somebody told it to, or something happened that nobody foresaw. Either way running
 * requests finish first.
 */
export interface Stopping {
  /** Resolves when the process has been told to stop. */
  readonly requested: Promise<void>;
  readonly isRequested: boolean;
  /** 0, or 1 when it ends for a fault of its own. */
  readonly exitCode: 0 | 1;
}

/**
 * One press of Ctrl-C arrives more than once: from the terminal, and again from whoever started us (`npm start` hands
 * it on). Only a signal that comes later than this asks for more haste.
 */
const sameSignalMs = 1_000;

export interface StoppingParts {
  log: Logger;
  /** How long ending may take, all together; then the process is ended as it is. */
  limitMs: number;
  /** A worker leaves Ctrl-C to the process that started it, which passes it on in its own way. */
  isWorker: boolean;
}

/** From here on signals are heeded: the first drains, a second one ends at once. */
export function listenForTheEnd({ log, limitMs, isWorker }: StoppingParts): Stopping {
  let requestedAt: number | null = null;
  let exitCode: 0 | 1 = 0;
  const { promise: requested, resolve } = Promise.withResolvers<void>();

  const request = (): void => {
    if (requestedAt !== null) return;
    requestedAt = performance.now();
    setTimeout(() => {
      log.error({}, 'could not stop in time');
      process.exit(1);
    }, limitMs).unref();
    resolve();
  };

  const onSignal = (signal: NodeJS.Signals): void => {
    if (requestedAt !== null && performance.now() - requestedAt > sameSignalMs) process.exit(1);
    if (requestedAt === null) log.info({ signal }, 'stopping');
    request();
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', isWorker ? () => undefined : onSignal);

  // Nobody knows what state the process is in, so it ends; but money is only moved by whole transactions, so that what
  // runs may finish. The error's own words stay out of the log: they can quote what people wrote.
  process.on('uncaughtException', (error) => {
    log.fatal(describeError(error), 'an error that nobody caught; stopping');
    exitCode = 1;
    request();
  });

  return {
    requested,
    get isRequested() {
      return requestedAt !== null;
    },
    get exitCode() {
      return exitCode;
    },
  };
}
