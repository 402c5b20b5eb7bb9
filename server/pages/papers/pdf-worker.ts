import { parentPort } from 'node:worker_threads';
import type { Paper } from './paper.ts';
import { drawPaper } from './pdf-drawing.ts';

/** Draws documents in its own thread: fonts and layout of one take tens of milliseconds of a core. */

parentPort?.on('message', ({ id, task }: { id: number; task: Paper }) => {
  drawPaper(task).then(
    (result) => parentPort?.postMessage({ id, result }, []),
    (error: unknown) => parentPort?.postMessage({ id, failed: String(error) }, []),
  );
});
