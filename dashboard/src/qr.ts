import { renderSVG } from 'uqr';

/** A QR code as the address of a picture, made here: what is in it goes nowhere. */
export function qrImage(text: string): string {
  return `data:image/svg+xml,${encodeURIComponent(renderSVG(text, { ecc: 'M', border: 4 }))}`;
}
