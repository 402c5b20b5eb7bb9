/**
 * The payload of a VietQR code: EMVCo's tag-length-value form with NAPAS's account template, closed by a CRC. Banking
 * apps read account, amount and memo from it, so that payers do not type them.
 */

export interface VietQrOptions {
  /** Six digits that name the bank at NAPAS. */
  bankBin: string;
  accountNumber: string;
  /** Whole VND; absent: the payer types the amount. */
  amountVnd?: bigint;
  /** At most 25 ASCII characters. */
  memo?: string;
  /** `account` (the default) or `card`: what the number is. */
  target?: 'account' | 'card';
}

const napas = 'A000000727';
const memoLimit = 25;

/**
 * The payload of a VietQR code. Throws a RangeError on values that the format cannot carry: that is a fault of the
 * caller, because bank details are checked when the configuration is read and memo codes are our own.
 */
export function vietQrPayload(options: VietQrOptions): string {
  const { bankBin, accountNumber, amountVnd, memo, target = 'account' } = options;
  if (!/^\d{6}$/.test(bankBin)) throw new RangeError('bankBin must be six digits');
  if (!/^[A-Za-z0-9]{1,19}$/.test(accountNumber)) throw new RangeError('accountNumber must be letters and digits');
  if (amountVnd !== undefined && (amountVnd <= 0n || amountVnd >= 10n ** 13n))
    throw new RangeError('amountVnd must be positive and have at most 13 digits');
  if (memo !== undefined && !(memo.length <= memoLimit && /^[\x20-\x7e]+$/.test(memo)))
    throw new RangeError('memo must be at most 25 ASCII characters');

  const beneficiary = field('00', bankBin) + field('01', accountNumber);
  const service = target === 'account' ? 'QRIBFTTA' : 'QRIBFTTC';
  const open =
    field('00', '01') +
    field('01', amountVnd === undefined ? '11' : '12') +
    field('38', field('00', napas) + field('01', beneficiary) + field('02', service)) +
    field('53', '704') +
    (amountVnd === undefined ? '' : field('54', amountVnd.toString())) +
    field('58', 'VN') +
    (memo === undefined ? '' : field('62', field('08', memo))) +
    '6304';
  return open + crc16(open).toString(16).toUpperCase().padStart(4, '0');
}

function field(id: string, value: string): string {
  return id + value.length.toString().padStart(2, '0') + value;
}

/** CRC-16/CCITT-FALSE (polynomial 1021, start FFFF, nothing reflected) of an ASCII text. */
export function crc16(text: string): number {
  let crc = 0xffff;
  for (const byte of Buffer.from(text, 'latin1')) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
    crc &= 0xffff;
  }
  return crc;
}
