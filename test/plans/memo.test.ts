/** Memo codes: found in banks' texts, and safe against typing errors. */

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { completeMemo, createMemo, findMemos, memoLength } from '../../server/plans/memo.ts';

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const data = fc.string({ unit: fc.constantFrom(...Array.from(alphabet)), minLength: 6, maxLength: 6 });

describe('memo codes', () => {
  it('have nine characters, none that can be confused, and are found again', () => {
    for (let i = 0; i < 500; i++) {
      const memo = createMemo();
      expect(memo).toMatch(/^SY[0-9A-HJKMNP-TV-Z]{7}$/);
      expect(memo).toHaveLength(memoLength);
      expect(findMemos(memo)).toEqual([memo]);
    }
  });

  it('are found in banks’ spellings', () => {
    const memo = completeMemo('7K3Q9F');
    const contents = [
      memo,
      memo.toLowerCase(),
      `MBVCB.1457193831.${memo}.CT tu 0291000123 toi 0071000456`,
      `IBFT ${memo.slice(0, 4)} ${memo.slice(4)}`,
      `${memo.slice(0, 5)}\n${memo.slice(5)}`,
      `${memo.slice(0, 2)}-${memo.slice(2)}-Ma giao dich Trace123`,
      `NGUYEN VAN A chuyển tiền ${memo}`,
      `SYSY${memo.slice(2)}`,
      `thanh toán mã:${memo};cảm ơn`,
    ];
    for (const content of contents) expect({ content, found: findMemos(content) }).toEqual({ content, found: [memo] });
  });

  it('read O as 0 and I or L as 1, as people type them', () => {
    const memo = completeMemo('0A1B1C');
    expect(findMemos(`SYOAIBLC${memo.at(-1) ?? ''}`)).toEqual([memo]);
  });

  it('are all found when there are several, each once', () => {
    const [one, two] = [completeMemo('000000'), completeMemo('ZZZZZZ')];
    expect(findMemos(`${one} ${two} ${one}`)).toEqual([one, two]);
  });

  it.each(['', 'SY', 'SY7K3Q9', 'transfer of money', 'SYUUUUUUU', '\u0000\ud800'])('are not found in %j', (content) => {
    expect(findMemos(content)).toEqual([]);
  });

  it('with one wrong character are refused', () => {
    fc.assert(
      fc.property(data, fc.nat({ max: 6 }), fc.integer({ min: 1, max: 31 }), (text, place, by) => {
        const memo = completeMemo(text);
        const at = 2 + place;
        const other = alphabet.charAt((alphabet.indexOf(memo.charAt(at)) + by) % 32);
        const wrong = memo.slice(0, at) + other + memo.slice(at + 1);
        expect(findMemos(wrong)).not.toContain(wrong);
      }),
    );
  });

  it('with two characters exchanged are refused', () => {
    fc.assert(
      fc.property(data, fc.nat({ max: 6 }), fc.nat({ max: 6 }), (text, i, j) => {
        const characters = Array.from(completeMemo(text).slice(2));
        const [a = '', b = ''] = [characters[i], characters[j]];
        fc.pre(a !== b);
        characters[i] = b;
        characters[j] = a;
        const wrong = `SY${characters.join('')}`;
        expect(findMemos(wrong)).not.toContain(wrong);
      }),
    );
  });
});
