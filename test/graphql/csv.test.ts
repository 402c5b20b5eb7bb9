/** CSV: quoting, and cells that a spreadsheet must not execute. */

import { describe, expect, it } from 'vitest';
import { createLedgerDownloads } from '../../server/pages/downloads.ts';
import { csvLine } from '../../server/shared/csv.ts';

describe('a line of CSV', () => {
  it.each([
    ['=HYPERLINK("http://evil")', `"'=HYPERLINK(""http://evil"")"`],
    ['+1', `"'+1"`],
    ['-1', `"'-1"`],
    ['@SUM(A1)', `"'@SUM(A1)"`],
    ['＝1+1', `"'＝1+1"`],
    ['＋1', `"'＋1"`],
    ['－1', `"'－1"`],
    ['＠SUM(A1)', `"'＠SUM(A1)"`],
    ['﹦1', `"'﹦1"`],
    ['﹢1', `"'﹢1"`],
    ['﹣1', `"'﹣1"`],
    ['﹫x', `"'﹫x"`],
    ['−1', `"'−1"`],
    ['⁼1', `"'⁼1"`],
    ['  =1', `"'  =1"`],
    ['\u200b=1', `"'\u200b=1"`],
    ['\ufeff=1', `"'\ufeff=1"`],
    ['\u3000＝1', `"'\u3000＝1"`],
    ['\nx', `"'\nx"`],
    ['a=1', 'a=1'],
    ['a;=1+1', '"a;=1+1"'],
    ['a\t=1', '"a\t=1"'],
    ['Ａ', 'Ａ'],
    ['\tx', `"'\tx"`],
    ['\rx', `"'\rx"`],
    ['a,b', '"a,b"'],
    ['a"b', '"a""b"'],
    ['a\nb', '"a\nb"'],
    ['big-1', 'big-1'],
    ['', ''],
  ])('writes %j as %j', (cell, written) => {
    expect(csvLine([cell, 'x'])).toBe(`${written},x\r\n`);
  });
});

it('a number of ours stays a number below zero, and nothing else passes for one', () => {
  expect(csvLine([{ number: '-12.5' }, { number: '0' }, { number: '=1' }])).toBe(`-12.5,0,"'=1"\r\n`);
});

function grantOf(url: string): string {
  return new URL(url).searchParams.get('grant') ?? '';
}

describe('a link to a download', () => {
  const selection = {
    accountId: '0190a0b0-0000-7000-8000-000000000000',
    from: new Date('2026-01-01T00:00:00Z'),
    to: null,
    keyId: null,
    model: 'big-1',
    outcome: null,
    sessions: null,
  };

  const holder = 'user:0190a0b0-0000-7000-8000-000000000001';

  it('carries exactly what it was made for', () => {
    const downloads = createLedgerDownloads({ secretKey: Buffer.alloc(32, 1), publicUrl: 'https://steyg.test' });
    expect(downloads.open(grantOf(downloads.link(selection, holder).url))).toEqual({ contents: selection, holder });
  });

  it('opens nothing when it was changed, made elsewhere, or is garbage', () => {
    const downloads = createLedgerDownloads({ secretKey: Buffer.alloc(32, 1), publicUrl: 'https://steyg.test' });
    const others = createLedgerDownloads({ secretKey: Buffer.alloc(32, 2), publicUrl: 'https://steyg.test' });
    const grant = grantOf(downloads.link(selection, holder).url);
    expect(others.open(grant)).toBeNull();
    const forged = Buffer.from(
      JSON.stringify({ ...selection, accountId: selection.accountId.replace('0190', '0191') }),
    );
    expect(downloads.open(`${forged.toString('base64url')}.${grant.split('.')[1]}`)).toBeNull();
    for (const text of ['', '.', 'a.b', grant.slice(0, -2), `${grant}x.y`]) {
      expect(downloads.open(text)).toBeNull();
    }
  });
});
