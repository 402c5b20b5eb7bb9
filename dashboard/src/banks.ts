/** The codes that VietQR's links use for banks, by their NAPAS numbers (api.vietqr.io/v2/banks). */
const codes: Readonly<Record<string, string>> = {
  '970403': 'stb',
  '970405': 'vba',
  '970407': 'tcb',
  '970415': 'icb',
  '970416': 'acb',
  '970418': 'bidv',
  '970422': 'mb',
  '970423': 'tpb',
  '970426': 'msb',
  '970431': 'eib',
  '970432': 'vpb',
  '970436': 'vcb',
  '970437': 'hdb',
  '970440': 'seab',
  '970441': 'vib',
  '970443': 'shb',
  '970448': 'ocb',
  '970449': 'lpb',
};

/**
 * The apps that a VietQR link opens with the transfer filled in. Other banks' apps open empty, so they are left out.
 * Source: vietqr.io/changelog, versions 2.12 to 2.18.
 */
export const payingApps = [
  { id: 'mb', name: 'MB Bank' },
  { id: 'icb', name: 'VietinBank iPay' },
  { id: 'bidv', name: 'BIDV SmartBanking' },
  { id: 'acb', name: 'ACB ONE' },
  { id: 'ocb', name: 'OCB OMNI' },
] as const;

interface Transfer {
  amountVnd: string;
  memo: string;
  bank: { bin: string; account: string; name: string };
}

/**
 * The link that opens a bank's app with a transfer filled in (vietqr.io, "Deeplink app ngân hàng"): account@bank,
 * amount in VND, memo, holder, and the address to come back to. Null for a bank that VietQR's links do not know.
 */
export function payInApp(app: string, { amountVnd, memo, bank }: Transfer, back: string): string | null {
  const code = codes[bank.bin];
  if (code === undefined) return null;
  const values = { app, ba: `${bank.account}@${code}`, am: amountVnd, tn: memo, bn: bank.name, url: back };
  return `https://dl.vietqr.io/pay?${Object.entries(values)
    .map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll('%40', '@')}`)
    .join('&')}`;
}
