import { createThread } from '../../runtime/thread.ts';
import type { Paper } from './paper.ts';

/** PDF documents, drawn outside of the event loop. */

export interface PdfPress {
  /** Rejects with `BusyThreadError` when too many documents wait. */
  draw(paper: Paper): Promise<Buffer>;
  close(): Promise<void>;
}

const maxWaiting = 30;

export function createPdfPress(): PdfPress {
  const thread = createThread<Paper, Uint8Array>({ url: new URL('./pdf-worker.ts', import.meta.url), maxWaiting });
  return { draw: async (paper) => Buffer.from(await thread.run(paper)), close: thread.close };
}
