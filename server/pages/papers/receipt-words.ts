import { formatUsd } from '../../core/money.ts';
import type { Transfer } from '../../plans/bank/transfer-rows.ts';
import type { Order } from '../../plans/order.ts';
import type { Company, Seller } from '../../plans/papers/parties.ts';
import type { Locale } from '../../shared/page.ts';

/** What receipts say, in both languages, as a page, as PDF and as CSV. */

export interface PrintedReceipt {
  order: Order;
  paidAt: Date;
  account: { name: string; email: string };
  /** The transfers that paid it. */
  payments: readonly Transfer[];
  /** The company that the account buys for. */
  company: Company | null;
  seller: Seller;
  /** The owner of the bank account: the seller, unless one is named. */
  payee: string;
  /** Whether the bank account is made up: nothing was paid. */
  demonstration: boolean;
}

export interface ReceiptWords {
  language: string;
  title: string;
  number: string;
  issued: string;
  seller: string;
  buyer: string;
  taxCode: string;
  item: string;
  budget: (usd: string) => string;
  budgetHead: string;
  bonus: (usd: string) => string;
  bonusHead: string;
  gift: (receiver: string) => string;
  giftHead: string;
  upgrade: string;
  validity: string;
  validDays: (days: number) => string;
  validForever: string;
  price: string;
  payments: string;
  bookedAt: string;
  reference: string;
  amount: string;
  received: string;
  surplus: string;
  paid: string;
  notInvoice: string;
  terms: string;
  privacy: string;
  refunds: string;
  print: string;
}

export const receiptWords: Record<Locale, ReceiptWords> = {
  en: {
    language: 'English',
    title: 'Receipt',
    number: 'Number',
    issued: 'Paid on',
    seller: 'Paid to',
    buyer: 'Paid by',
    taxCode: 'Tax code',
    item: 'Item',
    budget: (usd) => `Budget of ${usd} USD for model requests`,
    budgetHead: 'Budget',
    bonus: (usd) => `Bonus of ${usd} USD, free of charge`,
    bonusHead: 'Bonus',
    gift: (receiver) => `For another account: ${receiver}`,
    giftHead: 'For account',
    upgrade: 'upgrade: the difference to the plan before',
    validity: 'Validity',
    validDays: (days) => `${days} days from the payment`,
    validForever: 'does not expire',
    price: 'Price',
    payments: 'Bank transfers',
    bookedAt: 'Booked at',
    reference: 'Bank’s reference',
    amount: 'Amount',
    received: 'Received',
    surplus: 'of which more than the price',
    paid: 'Paid in full',
    notInvoice: 'This receipt confirms a payment. It is not a VAT invoice.',
    terms: 'Terms of use',
    privacy: 'Privacy policy',
    refunds: 'Refund policy',
    print: 'Print or save as PDF',
  },
  vi: {
    language: 'Tiếng Việt',
    title: 'Biên nhận thanh toán',
    number: 'Số',
    issued: 'Ngày thanh toán',
    seller: 'Bên nhận',
    buyer: 'Bên thanh toán',
    taxCode: 'Mã số thuế',
    item: 'Nội dung',
    budget: (usd) => `Số dư ${usd} USD cho các yêu cầu gửi tới model`,
    budgetHead: 'Số dư',
    bonus: (usd) => `Thưởng ${usd} USD, không tính tiền`,
    bonusHead: 'Thưởng',
    gift: (receiver) => `Mua cho tài khoản khác: ${receiver}`,
    giftHead: 'Mua cho tài khoản',
    upgrade: 'nâng cấp: phần chênh lệch so với gói trước',
    validity: 'Thời hạn sử dụng',
    validDays: (days) => `${days} ngày kể từ khi thanh toán`,
    validForever: 'không hết hạn',
    price: 'Giá',
    payments: 'Các khoản chuyển khoản',
    bookedAt: 'Thời điểm ghi nhận',
    reference: 'Mã giao dịch của ngân hàng',
    amount: 'Số tiền',
    received: 'Đã nhận',
    surplus: 'trong đó vượt giá',
    paid: 'Đã thanh toán đủ',
    notInvoice: 'Biên nhận này xác nhận việc thanh toán, không phải là hóa đơn giá trị gia tăng.',
    terms: 'Điều khoản sử dụng',
    privacy: 'Chính sách bảo mật',
    refunds: 'Chính sách hoàn tiền',
    print: 'In hoặc lưu thành PDF',
  },
};

const tags: Record<Locale, string> = { en: 'en-US', vi: 'vi-VN' };

/** Whole VND with the sign of the currency, as the language writes it. */
export function vndText(amountVnd: bigint, locale: Locale): string {
  return new Intl.NumberFormat(tags[locale], { style: 'currency', currency: 'VND' }).format(amountVnd);
}

/** Exact: a number in the language's own format would be rounded. */
export function usdText(amount: bigint, locale: Locale): string {
  return locale === 'vi' ? formatUsd(amount).replace('.', ',') : formatUsd(amount);
}

/** The seller's tax code with its name; empty: none is given. */
export function taxCodeText(code: string, locale: Locale): string {
  return code === '' ? '' : `${receiptWords[locale].taxCode}: ${code}`;
}

/** The lines of the seller: name, tax code, address, contact. Empty ones are not given. */
export function sellerLines(seller: Seller, payee: string, locale: Locale): string[] {
  const { name, taxCode, address, supportEmail, supportPhone } = seller;
  return [name || payee, taxCodeText(taxCode, locale), address, supportEmail, supportPhone];
}

/** The lines of the buyer: the company if there is one, else the account. */
export function buyerLines(
  { company, account }: Pick<PrintedReceipt, 'company' | 'account'>,
  locale: Locale,
): string[] {
  return [
    company?.name ?? account.name,
    taxCodeText(company?.taxCode ?? '', locale),
    company?.address ?? '',
    account.email,
  ];
}

/** The seller's pages, of those that are given. */
export function sellerLinks(seller: Seller, locale: Locale): { name: string; url: string }[] {
  const w = receiptWords[locale];
  return [
    { name: w.terms, url: seller.termsUrl },
    { name: w.privacy, url: seller.privacyUrl },
    { name: w.refunds, url: seller.refundUrl },
  ].filter(({ url }) => url !== '');
}

/** What was bought, as one line. */
export function planText({ planName, upgrades }: Pick<Order, 'planName' | 'upgrades'>, locale: Locale): string {
  return upgrades === null ? planName : `${planName} (${receiptWords[locale].upgrade})`;
}

/** What was bought: plan, budget, bonus, the receiver of a gift, validity. The last four stand below the first one. */
export function itemLines(order: Order, locale: Locale): [string, ...string[]] {
  const w = receiptWords[locale];
  return [
    planText(order, locale),
    w.budget(usdText(order.budget, locale)),
    ...(order.bonus > 0n ? [w.bonus(usdText(order.bonus, locale))] : []),
    ...(order.giftTo === null ? [] : [w.gift(order.giftTo)]),
    `${w.validity}: ${validityText(order, locale)}`,
  ];
}

/** How long the bought budget can be used. */
function validityText({ validDays }: Pick<Order, 'validDays'>, locale: Locale): string {
  const w = receiptWords[locale];
  return validDays === null ? w.validForever : w.validDays(validDays);
}
