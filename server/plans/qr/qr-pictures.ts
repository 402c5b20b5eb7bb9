import { createThread } from '../../runtime/thread.ts';

/** Pictures of QR codes, drawn once for each text and outside of the event loop. */

export interface QrPictures {
  /** Rejects with `BusyThreadError` when the queue is full. */
  draw(text: string): Promise<QrPicture>;
  close(): Promise<void>;
}

export interface QrPicture {
  /** An SVG document. */
  svg: string;
  /** A PNG picture in base64. */
  png: string;
}

/** About 13 kB each. */
const maxRemembered = 500;
const maxWaiting = 200;

export function createQrPictures(options: { maxRemembered?: number; maxWaiting?: number } = {}): QrPictures {
  const limits = { maxRemembered, maxWaiting, ...options };
  const thread = createThread<string, QrPicture>({
    url: new URL('./qr-worker.ts', import.meta.url),
    maxWaiting: limits.maxWaiting,
  });
  // Promises, so that concurrent requests for one text share one drawing.
  const pictures = new Map<string, Promise<QrPicture>>();
  return {
    draw(text) {
      const known = pictures.get(text);
      // Reinserted, so that the first entry of the map is the least recently used.
      pictures.delete(text);
      const picture = known ?? thread.run(text);
      pictures.set(text, picture);
      if (known === undefined) picture.catch(() => pictures.get(text) === picture && pictures.delete(text));
      for (const oldest of pictures.keys()) {
        if (pictures.size <= limits.maxRemembered) break;
        pictures.delete(oldest);
      }
      return picture;
    },
    close: thread.close,
  };
}
