/** Banks by their NAPAS numbers, with the codes that VietQR's links use for them (api.vietqr.io/v2/banks). */
const banks: Readonly<Record<string, readonly [name: string, code: string]>> = {
  '970403': ['Sacombank', 'stb'],
  '970405': ['Agribank', 'vba'],
  '970407': ['Techcombank', 'tcb'],
  '970415': ['VietinBank', 'icb'],
  '970416': ['ACB', 'acb'],
  '970418': ['BIDV', 'bidv'],
  '970422': ['MB', 'mb'],
  '970423': ['TPBank', 'tpb'],
  '970426': ['MSB', 'msb'],
  '970431': ['Eximbank', 'eib'],
  '970432': ['VPBank', 'vpb'],
  '970436': ['Vietcombank', 'vcb'],
  '970437': ['HDBank', 'hdb'],
  '970440': ['SeABank', 'seab'],
  '970441': ['VIB', 'vib'],
  '970443': ['SHB', 'shb'],
  '970448': ['OCB', 'ocb'],
  '970449': ['LPBank', 'lpb'],
};

/** The name of a bank with its number, for people who type a transfer. */
export function bankName(bin: string): string {
  const [name] = banks[bin] ?? [];
  return name === undefined ? bin : `${name} (${bin})`;
}

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
  const code = banks[bank.bin]?.[1];
  if (code === undefined) return null;
  const values = { app, ba: `${bank.account}@${code}`, am: amountVnd, tn: memo, bn: bank.name, url: back };
  return `https://dl.vietqr.io/pay?${Object.entries(values)
    .map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll('%40', '@')}`)
    .join('&')}`;
}
