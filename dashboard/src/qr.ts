import { renderSVG } from 'uqr';

/** A QR code as a data address, made in the browser: its content is not sent anywhere. */
export function qrImage(text: string): string {
  return `data:image/svg+xml,${encodeURIComponent(renderSVG(text, { ecc: 'M', border: 4 }))}`;
}

/** The edge of a saved code in pixels: banks' apps read it from a photo without enlarging it. */
const pngPixels = 960;

/** A picture at a `data:` address as a PNG on white, e.g. an SVG that photo albums do not take. */
export async function drawPng(address: string): Promise<Blob> {
  const picture = new Image();
  picture.src = address;
  await picture.decode();
  const canvas = document.createElement('canvas');
  canvas.width = pngPixels;
  canvas.height = pngPixels;
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('the browser draws no pictures');
  context.fillStyle = '#fff';
  context.fillRect(0, 0, pngPixels, pngPixels);
  context.drawImage(picture, 0, 0, pngPixels, pngPixels);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob === null ? reject(new Error('the picture could not be written')) : resolve(blob)));
  });
}
