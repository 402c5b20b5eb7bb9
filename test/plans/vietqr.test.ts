/** VietQR payloads and their pictures. */

import { inflateSync } from 'node:zlib';
import { encode } from 'uqr';
import { describe, expect, it } from 'vitest';
import { qrPng, qrSvg } from '../../server/plans/qr/qr-image.ts';
import { createQrPictures } from '../../server/plans/qr/qr-pictures.ts';
import { crc16, type VietQrOptions, vietQrPayload } from '../../server/plans/qr/vietqr.ts';
import { BusyThreadError } from '../../server/runtime/thread.ts';

describe('VietQR payload', () => {
  it('closes with the CRC that the standard names', () => {
    // The check value of CRC-16/CCITT-FALSE in every catalogue of CRCs.
    expect(crc16('123456789')).toBe(0x29b1);
    // The NAPAS specification's own example (6.1.1).
    expect(crc16('00020101021138570010A00000072701270006970403011200110123456780208QRIBFTTA53037045802VN6304')).toBe(
      0xf4e5,
    );
  });

  // Published: the NAPAS specification's example, and codes that other implementations publish as theirs.
  const vectors: [string, VietQrOptions, string][] = [
    [
      'static, to a card (NAPAS 6.1.2)',
      { bankBin: '970403', accountNumber: '9704031101234567', target: 'card' },
      '00020101021138600010A00000072701300006970403011697040311012345670208QRIBFTTC53037045802VN63044F52',
    ],
    [
      'static, short account number',
      { bankBin: '970415', accountNumber: '123456789' },
      '00020101021138530010A0000007270123000697041501091234567890208QRIBFTTA53037045802VN63046376',
    ],
    [
      'amount, memo and a long account number',
      { bankBin: '970436', accountNumber: '0071001234567', amountVnd: 850000n, memo: 'DH482113' },
      '00020101021238570010A00000072701270006970436011300710012345670208QRIBFTTA530370454068500005802VN62120808DH4821136304E529',
    ],
    [
      'amount and a memo code',
      { bankBin: '970436', accountNumber: '0123499999', amountVnd: 199000n, memo: 'SY7K3Q9FX' },
      '00020101021238540010A00000072701240006970436011001234999990208QRIBFTTA530370454061990005802VN62130809SY7K3Q9FX6304FECD',
    ],
  ];
  it.each(vectors)('%s', (_, options, expected) => {
    expect(vietQrPayload(options)).toBe(expected);
  });

  it.each<[string, Partial<VietQrOptions>]>([
    ['a bank that is not six digits', { bankBin: '97043' }],
    ['an account number with a blank', { accountNumber: '1 2' }],
    ['no money', { amountVnd: 0n }],
    ['a memo with diacritics', { memo: 'chuyển tiền' }],
    ['a memo of 26 characters', { memo: 'A'.repeat(26) }],
    ['an empty memo', { memo: '' }],
  ])('refuses %s', (_, wrong) => {
    expect(() => vietQrPayload({ bankBin: '970436', accountNumber: '1234567890', ...wrong })).toThrow(RangeError);
  });
});

describe('QR pictures', () => {
  const text = vietQrPayload({ bankBin: '970436', accountNumber: '1234567890', amountVnd: 50000n, memo: 'SY7K3Q9FX' });

  it('are an SVG without any outside reference', () => {
    const svg = qrSvg(text);
    expect(svg).toMatch(/^<svg /);
    expect(svg.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|<script|href/);
  });

  it('are a PNG whose every pixel is the module of the code', () => {
    const scale = 8;
    const png = qrPng(text);
    expect(png.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n');
    const width = png.readUInt32BE(16);
    const { data, size } = encode(text, { ecc: 'M', border: 4 });
    expect(width).toBe(size * scale);
    const length = png.readUInt32BE(33);
    expect(png.toString('latin1', 37, 41)).toBe('IDAT');
    const pixels = inflateSync(png.subarray(41, 41 + length));
    const stride = Math.ceil(width / 8) + 1;
    expect(pixels).toHaveLength(stride * width);
    const wrong: string[] = [];
    for (let y = 0; y < width; y++)
      for (let x = 0; x < width; x++) {
        const white = ((pixels[y * stride + 1 + (x >> 3)] ?? 0) & (0x80 >> (x & 7))) !== 0;
        const black = data[Math.floor(y / scale)]?.[Math.floor(x / scale)] === true;
        if (white === black) wrong.push(`${x},${y}`);
      }
    expect(wrong).toEqual([]);
    expect(png.subarray(-12).toString('hex')).toBe('0000000049454e44ae426082');
  });

  it('are drawn once for each text, in a thread, and refused while too many wait', async () => {
    const pictures = createQrPictures({ maxWaiting: 2, maxRemembered: 2 });
    const [first, again] = [pictures.draw(text), pictures.draw(text)];
    expect(again).toBe(first);
    const second = pictures.draw('second');
    await expect(pictures.draw('third')).rejects.toThrow(BusyThreadError);
    expect(await first).toEqual({ svg: qrSvg(text), png: qrPng(text).toString('base64') });
    expect((await second).svg).toBe(qrSvg('second'));
    // What was refused is not remembered as such; what was asked for least lately is forgotten.
    await pictures.draw('third');
    expect(pictures.draw(text)).not.toBe(first);
    await pictures.close();
  });
});
