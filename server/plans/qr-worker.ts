import { parentPort } from 'node:worker_threads';
import { qrPng, qrSvg } from './qr-image.ts';

/** Draws QR codes in a thread of its own: finding the best mask of one takes milliseconds of a core. */

parentPort?.on('message', ({ id, text }: { id: number; text: string }) => {
  parentPort?.postMessage({ id, svg: qrSvg(text), png: qrPng(text).toString('base64') }, []);
});
