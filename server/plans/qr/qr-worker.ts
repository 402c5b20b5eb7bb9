import { parentPort } from 'node:worker_threads';
import { qrPng, qrSvg } from './qr-image.ts';

/** Draws QR codes in its own thread: finding the best mask of one takes milliseconds of a core. */

parentPort?.on('message', ({ id, task }: { id: number; task: string }) => {
  parentPort?.postMessage({ id, result: { svg: qrSvg(task), png: qrPng(task).toString('base64') } }, []);
});
