import { Worker } from 'node:worker_threads';

/** Pictures of QR codes, drawn once for each text and outside of the event loop. */

export interface QrPictures {
  /** Rejects with `QrBusyError` when the queue is full. */
  draw(text: string): Promise<QrPicture>;
  close(): Promise<void>;
}

export interface QrPicture {
  /** An SVG document. */
  svg: string;
  /** A PNG picture in base64. */
  png: string;
}

/** The queue of pictures is full. A retry in a moment helps. */
export class QrBusyError extends Error {
  override name = 'QrBusyError';
}

/** About 13 kB each. */
const maxRemembered = 500;
const maxWaiting = 200;

interface Waiting {
  resolve(picture: QrPicture): void;
  reject(error: Error): void;
}

/** The thread starts with the first picture and does not keep the process alive. A thread that dies is replaced. */
export function createQrPictures(options: { maxRemembered?: number; maxWaiting?: number } = {}): QrPictures {
  const limits = { maxRemembered, maxWaiting, ...options };
  // Promises, so that concurrent requests for one text share one drawing.
  const pictures = new Map<string, Promise<QrPicture>>();
  const waiting = new Map<number, Waiting>();
  let worker: Worker | null = null;
  let count = 0;

  const fail = (failed: Worker, error: Error) => {
    if (worker !== failed) return;
    worker = null;
    for (const each of waiting.values()) each.reject(error);
    waiting.clear();
  };

  const start = (): Worker => {
    const started = new Worker(new URL('./qr-worker.ts', import.meta.url));
    started.unref();
    started.on('message', ({ id, svg, png }: QrPicture & { id: number }) => {
      waiting.get(id)?.resolve({ svg, png });
      waiting.delete(id);
    });
    started.on('error', (error) => fail(started, error));
    started.on('exit', () => fail(started, new Error('the thread that draws QR codes has ended')));
    return started;
  };

  const drawAnew = (text: string): Promise<QrPicture> => {
    if (waiting.size >= limits.maxWaiting) return Promise.reject(new QrBusyError('too many QR codes at once'));
    worker ??= start();
    count += 1;
    const id = count;
    const drawn = new Promise<QrPicture>((resolve, reject) => waiting.set(id, { resolve, reject }));
    worker.postMessage({ id, text }, []);
    return drawn;
  };

  return {
    draw(text) {
      const known = pictures.get(text);
      // Reinserted, so that the first entry of the map is the least recently used.
      pictures.delete(text);
      const picture = known ?? drawAnew(text);
      pictures.set(text, picture);
      if (known === undefined) picture.catch(() => pictures.get(text) === picture && pictures.delete(text));
      for (const oldest of pictures.keys()) {
        if (pictures.size <= limits.maxRemembered) break;
        pictures.delete(oldest);
      }
      return picture;
    },
    async close() {
      await worker?.terminate();
    },
  };
}
