import type { Log } from '../core/log.ts';
import { describeError } from './http.ts';

/**
 * Decides when this process stops: on a signal, or after an unexpected error. Either way running requests finish first.
 */
export interface Stopping {
  /** Resolves when the process has been told to stop. */
  readonly requested: Promise<void>;
  readonly isRequested: boolean;
  /** Somebody waits at the terminal for it to stop. */
  readonly isUrgent: boolean;
  /** 0, or 1 when it ends for a fault of its own. */
  readonly exitCode: 0 | 1;
}

/**
 * One press of Ctrl-C can arrive twice: from the terminal, and again from the parent (`npm start` forwards it). Only a
 * signal that comes later than this forces an immediate stop.
 */
const sameSignalMs = 1_000;

export interface StoppingParts {
  log: Log;
  /** Timeout of a whole stop; then the process exits as it is. */
  limitMs: number;
  /** A worker ignores Ctrl-C: its supervisor handles it and stops the workers. */
  isWorker: boolean;
}

/** Installs the signal handlers: the first signal drains, a second one ends at once. */
export function listenForTheEnd({ log, limitMs, isWorker }: StoppingParts): Stopping {
  let requestedAt: number | null = null;
  let exitCode: 0 | 1 = 0;
  let isUrgent = false;
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
    if (signal === 'SIGINT') isUrgent = true;
    if (requestedAt === null) log.info({ signal }, 'stopping');
    request();
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', isWorker ? () => undefined : onSignal);

  // The state of the process is unknown, so it ends; but money is only moved by whole transactions, so running requests
  // may finish. The error's message stays out of the log: it can quote people's texts.
  process.on('uncaughtException', (error) => {
    log.fatal(describeError(error), 'an uncaught error; stopping');
    exitCode = 1;
    request();
  });

  return {
    requested,
    get isRequested() {
      return requestedAt !== null;
    },
    get isUrgent() {
      return isUrgent;
    },
    get exitCode() {
      return exitCode;
    },
  };
}
