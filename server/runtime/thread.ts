import { Worker } from 'node:worker_threads';

/** Work of a few milliseconds and more in its own thread, so that the event loop stays free for requests. */

export interface Thread<Task, Result> {
  /** Rejects with `BusyThreadError` when the queue is full, and with the thread's error when a task fails. */
  run(task: Task): Promise<Result>;
  close(): Promise<void>;
}

/** The queue of a thread is full. A retry in a moment helps. */
export class BusyThreadError extends Error {
  override name = 'BusyThreadError';
}

/** What a thread answers to a task. */
export type ThreadAnswer<Result> = { id: number; result: Result } | { id: number; failed: string };

interface Waiting<Result> {
  resolve(result: Result): void;
  reject(error: Error): void;
}

/**
 * The thread starts with the first task and does not keep the process alive. A thread that dies is replaced. The module
 * at `url` gets messages `{ id, task }` and answers each with a `ThreadAnswer`.
 */
export function createThread<Task, Result>(options: { url: URL; maxWaiting: number }): Thread<Task, Result> {
  const { url, maxWaiting } = options;
  const waiting = new Map<number, Waiting<Result>>();
  let worker: Worker | null = null;
  let count = 0;

  const fail = (failed: Worker, error: Error) => {
    if (worker !== failed) return;
    worker = null;
    for (const each of waiting.values()) each.reject(error);
    waiting.clear();
  };

  const start = (): Worker => {
    const started = new Worker(url);
    started.unref();
    started.on('message', (answer: ThreadAnswer<Result>) => {
      const caller = waiting.get(answer.id);
      waiting.delete(answer.id);
      if ('failed' in answer) caller?.reject(new Error(answer.failed));
      else caller?.resolve(answer.result);
    });
    started.on('error', (error) => fail(started, error));
    started.on('exit', () => fail(started, new Error('a worker thread has ended')));
    return started;
  };

  return {
    run(task) {
      if (waiting.size >= maxWaiting) return Promise.reject(new BusyThreadError('too many tasks at once'));
      worker ??= start();
      count += 1;
      const id = count;
      const done = new Promise<Result>((resolve, reject) => waiting.set(id, { resolve, reject }));
      worker.postMessage({ id, task }, []);
      return done;
    },
    async close() {
      await worker?.terminate();
    },
  };
}
