import { crc32, deflateSync } from 'node:zlib';
import { encode, renderSVG } from 'uqr';

/** Pictures of a QR code. Error correction M: the code is shown on screens, and banks' apps are used to it. */

// Four modules of white all round is what the standard asks for; scanners in dark pages need them.
const quietZone = 4;

/** A scalable picture that needs no other resource. */
export function qrSvg(text: string): string {
  return renderSVG(text, { ecc: 'M', border: quietZone, pixelSize: 8 });
}

/** A PNG picture, one bit a pixel. `scale` is the width of a module in pixels. */
export function qrPng(text: string, scale = 8): Buffer {
  const { data, size } = encode(text, { ecc: 'M', border: quietZone });
  const width = size * scale;
  const stride = Math.ceil(width / 8);
  const pixels = Buffer.alloc((stride + 1) * width);
  for (let y = 0; y < width; y++) {
    const modules = data[Math.floor(y / scale)] ?? [];
    // The first byte of a line names its filter: 0, none.
    const line = y * (stride + 1) + 1;
    for (let x = 0; x < width; x++) {
      if (modules[Math.floor(x / scale)] === true) continue;
      const at = line + (x >> 3);
      pixels.writeUInt8(pixels.readUInt8(at) | (0x80 >> (x & 7)), at);
    }
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
