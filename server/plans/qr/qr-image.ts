import { crc32, deflateSync } from 'node:zlib';
import { encode, renderSVG } from 'uqr';

/** Pictures of a QR code. Error correction M: the code is shown on screens, and banks' apps are used to it. */

// The standard asks for four white modules all round; scanners need them on dark pages.
const quietZone = 4;

/** A scalable picture without external resources. */
export function qrSvg(text: string): string {
  return renderSVG(text, { ecc: 'M', border: quietZone, pixelSize: 8 });
}

/** Width of a module of the PNG picture: with eight pixels, each is a byte of a line. */
const modulePixels = 8;

/** A PNG picture, one bit a pixel, eight pixels a module. */
export function qrPng(text: string): Buffer {
  const { data, size } = encode(text, { ecc: 'M', border: quietZone });
  const width = size * modulePixels;
  // The first byte of a line names its filter: 0, none.
  const stride = size + 1;
  const pixels = Buffer.alloc(stride * width);
  for (let row = 0; row < size; row++) {
    const line = Buffer.alloc(stride);
    const modules = data[row] ?? [];
    for (let column = 0; column < size; column++) line[column + 1] = modules[column] === true ? 0 : 0xff;
    for (let copy = 0; copy < modulePixels; copy++) line.copy(pixels, (row * modulePixels + copy) * stride);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(width, 4);
  // One bit per pixel, greyscale; compression, filter and interlace have only their zero.
  header.writeUInt8(1, 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(pixels)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}
