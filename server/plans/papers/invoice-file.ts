import { elementAt, readXml, type XmlElement } from './xml.ts';

/**
 * The file of an e-invoice: XML, the form in which an invoice counts in Vietnam. What it must contain, and from where we know:
 *
 * - Decree 254/2026/NĐ-CP and Circular 91/2026/TT-BTC (vanban.chinhphu.vn, docid=219006), in force since 1 July 2026 in place of
 *   Decrees 123/2020 and 70/2025: template, series and number, both parties with tax codes, lines, total, the seller's
 *   signature, and the tax office's code where the series is one with a code.
 * - Decision 1450/QĐ-TCT of 7 October 2021, amended by 1510/QĐ-TCT of 21 September 2022: names of the elements, which are
 *   required, their lengths. A transcription of its tables: github.com/huyvq8899/pmbk_bill_dn_be,
 *   `Services/ViewModels/XML/QuyDinhKyThuatHDDT/PhanII/II/2`. Versions 2.0.0, 2.0.1 and 2.1.0 (`PBan`) are in use.
 *
 * The file stays as the provider returned it: another byte would break its signature. That there is a signature is checked; its
 * certificate and its digest are not.
 */

/** Why a file is not the invoice of an order: codes for operators. */
export type InvoiceFileProblem =
  | 'file_not_xml'
  | 'file_not_invoice'
  | 'file_incomplete'
  | 'file_unsigned'
  | 'file_without_tax_code_of_office'
  | 'file_other_number'
  | 'file_other_total'
  | 'file_other_buyer';

export interface ExpectedInvoice {
  /** As the provider told it. */
  number: string;
  /** Whole VND, taxes included. */
  priceVnd: bigint;
  /** Of the company that buys; empty: a person, or none was given. */
  taxCode: string;
}

/** A file is some kilobytes; a signature with its certificates is the largest part. */
export const maxInvoiceFileBytes = 1_000_000;

/** Required members of any invoice that is sold under: path in `DLHDon`, and what it must look like. */
const required: readonly (readonly [readonly string[], RegExp])[] = [
  [['TTChung', 'PBan'], /^\d\.\d\.\d$/],
  // 1: VAT, 2: sales; the others are no invoices of a seller of services.
  [['TTChung', 'KHMSHDon'], /^[1-9]$/],
  // With (C) or without (K) the office's code, the year, the kind, two letters of the seller's own.
  [['TTChung', 'KHHDon'], /^[CK]\d\d[A-Z][A-Z]{2}$/],
  [['TTChung', 'SHDon'], /^\d{1,8}$/],
  [['TTChung', 'NLap'], /^\d{4}-\d\d-\d\d/],
  [['TTChung', 'DVTTe'], /^VND$/],
  [['NDHDon', 'NBan', 'Ten'], /\S/],
  [['NDHDon', 'NBan', 'MST'], /^\d{10}(?:-?\d{3})?$|^\d{12}$/],
  [['NDHDon', 'NBan', 'DChi'], /\S/],
  [['NDHDon', 'DSHHDVu', 'HHDVu', 'THHDVu'], /\S/],
];

/** Null: the file is the invoice that was expected. */
export function problemOfFile(bytes: Uint8Array, expected: ExpectedInvoice): InvoiceFileProblem | null {
  let root: XmlElement;
  try {
    root = readXml(bytes);
  } catch {
    return 'file_not_xml';
  }
  // Alone, or within the message that carried it to the tax office.
  const invoice = root.name === 'HDon' ? root : elementAt(root, 'DLieu', 'HDon');
  const data = elementAt(invoice, 'DLHDon');
  if (invoice === undefined || data === undefined) return 'file_not_invoice';
  const text = (...path: string[]): string => elementAt(data, ...path)?.text.trim() ?? '';
  if (required.some(([path, form]) => !form.test(text(...path)))) return 'file_incomplete';
  const signature = elementAt(invoice, 'DSCKS', 'NBan', 'Signature', 'SignatureValue')?.text.trim() ?? '';
  if (signature === '') return 'file_unsigned';
  const officeCode = elementAt(invoice, 'MCCQT')?.text.trim() ?? text('TTChung', 'MCCQT');
  if (text('TTChung', 'KHHDon').startsWith('C') && officeCode === '') return 'file_without_tax_code_of_office';
  if (!/^\d+$/.test(expected.number) || BigInt(text('TTChung', 'SHDon')) !== BigInt(expected.number))
    return 'file_other_number';
  // Some providers write the totals beside the content.
  const total = text('NDHDon', 'TToan', 'TgTTTBSo') || text('TToan', 'TgTTTBSo');
  if (wholeVnd(total) !== expected.priceVnd) return 'file_other_total';
  if (expected.taxCode !== '' && text('NDHDon', 'NMua', 'MST') !== expected.taxCode) return 'file_other_buyer';
  return null;
}

/** `250000`, `250000.0` or `250000.0000`; null: not whole, or no amount. */
function wholeVnd(amount: string): bigint | null {
  const whole = /^(\d{1,15})(?:\.0{1,6})?$/.exec(amount)?.[1];
  return whole === undefined ? null : BigInt(whole);
}
