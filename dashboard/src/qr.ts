import { renderSVG } from 'uqr';

/** A QR code as a data address, made in the browser: its content is not sent anywhere. */
export function qrImage(text: string): string {
  return `data:image/svg+xml,${encodeURIComponent(renderSVG(text, { ecc: 'M', border: 4 }))}`;
}
