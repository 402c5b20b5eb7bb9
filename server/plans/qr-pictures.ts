import { Worker } from 'node:worker_threads';

/** Pictures of QR codes, drawn once for each text and outside of the event loop. */

export interface QrPictures {
  /** Rejects with `QrBusyError` while too many other texts wait. */
  draw(text: string): Promise<QrPicture>;
  close(): Promise<void>;
}

export interface QrPicture {
  /** An SVG document. */
  svg: string;
  /** A PNG picture in base64. */
  png: string;
}

/** Too many pictures wait to be drawn. Trying again in a moment helps. */
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

/** The thread begins with the first picture and never keeps the process alive. A thread that dies is replaced. */
export function createQrPictures(options: { maxRemembered?: number; maxWaiting?: number } = {}): QrPictures {
  const limits = { maxRemembered, maxWaiting, ...options };
  // Promises, so that texts that are asked for while they are drawn are drawn once, too.
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
      // Set again below, so that the one that was asked for least lately is the first of the map.
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
