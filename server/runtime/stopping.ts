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
  /** A later signal asks again: running requests are broken off and settled, not waited for. */
  readonly isForced: boolean;
  /** Resolves then. */
  readonly forced: Promise<void>;
  /** 0, or 1 when it ends for a fault in it. */
  readonly exitCode: 0 | 1;
}

/**
 * One press of Ctrl-C can arrive twice: from the terminal, and again from the parent (`npm start` forwards it). Only a
 * signal that comes later than this forces an immediate stop.
 */
const sameSignalMs = 1_000;
/** Timeout of a stop that was forced: what was cut is settled, and the embedded database stopped by the last one out. */
const forcedMs = 15_000;
/** What a supervisor sends to its workers when its own stop is forced. */
export const stopNow = 'stop now';

/**
 * The system had no descriptor, buffer or memory left for one call. The call had no effect, so the state of the process is
 * known; and a process that ends for it ends when most people need it.
 */
const shortages: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EAGAIN', 'ENOSPC']);

function isShortage(error: unknown): boolean {
  return shortages.has((error as { code?: unknown } | null)?.code);
}

export interface StoppingParts {
  log: Log;
  /** Timeout of a whole stop; then the process exits as it is. */
  limitMs: number;
  /** A worker ignores Ctrl-C: its supervisor handles it and stops the workers. */
  isWorker: boolean;
}

/** Installs the signal handlers: the first signal drains, a second one breaks running requests off. */
export function listenForTheEnd({ log, limitMs, isWorker }: StoppingParts): Stopping {
  let requestedAt: number | null = null;
  let exitCode: 0 | 1 = 0;
  let isUrgent = false;
  let isForced = false;
  const { promise: requested, resolve } = Promise.withResolvers<void>();
  const { promise: forced, resolve: force } = Promise.withResolvers<void>();

  const request = (): void => {
    if (requestedAt !== null) return;
    requestedAt = performance.now();
    setTimeout(() => {
      log.error({}, 'could not stop in time');
      process.exit(1);
    }, limitMs).unref();
    resolve();
  };

  const hurry = (): void => {
    request();
    if (isForced) return;
    isForced = true;
    setTimeout(() => process.exit(1), forcedMs).unref();
    force();
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    if (signal === 'SIGINT') isUrgent = true;
    if (requestedAt === null) log.info({ signal }, 'stopping');
    else if (performance.now() - requestedAt > sameSignalMs) hurry();
    request();
  };
  // A terminal that is closed and its Ctrl-\ end no stream without its entry either.
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) process.on(signal, onSignal);
  process.on('SIGINT', isWorker ? () => undefined : onSignal);
  if (isWorker) process.on('message', (message) => (message === stopNow ? hurry() : undefined));

  // The state of the process is unknown, so it ends; but money is only moved by whole transactions, so running requests
  // may finish. The error's message stays out of the log: it can quote people's texts.
  process.on('uncaughtException', (error) => {
    if (isShortage(error)) {
      log.error(describeError(error), 'the system had nothing left for a piece of work; it is left out');
      return;
    }
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
    get isForced() {
      return isForced;
    },
    forced,
    get exitCode() {
      return exitCode;
    },
  };
}
