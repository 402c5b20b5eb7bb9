/** Names of the banks by their NAPAS numbers, for people who type a transfer by hand. */
const names: Readonly<Record<string, string>> = {
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

export function bankName(bin: string): string {
  const name = names[bin];
  return name === undefined ? bin : `${name} (${bin})`;
}
