/** Names of banks that people know, by their six digits at NAPAS (api.vietqr.io/v2/banks). */
const banks: Readonly<Record<string, string>> = {
  '970403': 'Sacombank',
  '970405': 'Agribank',
  '970407': 'Techcombank',
  '970415': 'VietinBank',
  '970416': 'ACB',
  '970418': 'BIDV',
  '970422': 'MB',
  '970423': 'TPBank',
  '970426': 'MSB',
  '970431': 'Eximbank',
  '970432': 'VPBank',
  '970436': 'Vietcombank',
  '970437': 'HDBank',
  '970440': 'SeABank',
  '970441': 'VIB',
  '970443': 'SHB',
  '970448': 'OCB',
  '970449': 'LPBank',
};

/** The name of a bank as people say it; its digits where none is known. */
export function bankName(bin: string): string {
  return banks[bin] ?? bin;
}
