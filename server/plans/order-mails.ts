import type { ClientBase, Pool } from 'pg';
import type { Log } from '../core/log.ts';
import { transaction } from '../database/lane.ts';
import { describeError } from '../runtime/http.ts';
import type { Mail } from '../runtime/mail.ts';
import { demonstrationText, type Locale, momentText } from '../shared/page.ts';
import { uuidv7 } from '../shared/uuid.ts';
import { giftWaitDays } from './gifts.ts';
import type { BankAccount, Order } from './order.ts';
import { bankName } from './qr/banks.ts';

/**
 * Mails about orders: when one is made, when it is paid, when an operator matched a transfer to it or something of it goes
 * back, or does not after all. They are recorded in the transaction of what they tell of, once for each, and sent afterwards in the language of the account's owner.
 */

export type OrderMailKind = 'made' | 'paid' | 'matched' | 'refunded' | 'refund_undone';

/** Records a mail within the caller's transaction, of a transfer or a refund; a repetition records nothing. */
export async function recordOrderMail(
  client: ClientBase,
  mail: { orderId: string; kind: OrderMailKind; subjectId?: string },
): Promise<void> {
  await client.query(
    'INSERT INTO order_mail (id, order_id, kind, transfer_id) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING',
    [uuidv7(), mail.orderId, mail.kind, mail.subjectId ?? null],
  );
}

export interface OrderMailDeps {
  /** Must read BIGINT as `bigint`. */
  pool: Pool;
  /** Sends now and throws on failure. */
  deliverMail: (mail: Mail) => Promise<void>;
  formatUsd: (amount: bigint) => string;
  bank: BankAccount | null;
  /** The public address, without a trailing slash; read for each mail. */
  readonly publicUrl: string;
  log: Pick<Log, 'warn'>;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

const maxTries = 6;
/** Mails that one run tries at most: a run ends, also while mails are recorded. */
const maxMailsOfRun = 200;
/** The pause of the runs after the first, second, … that found no mail server. */
const firstPauseMs = 60_000;
const maxPauseMs = 900_000;
/** An order that ended unpaid is not announced. */
const isSettled = `m.kind = 'made' AND o.status IN ('cancelled', 'expired')`;

type MailRow = Pick<
  Order,
  'memo' | 'planName' | 'priceVnd' | 'receivedVnd' | 'budget' | 'bonus' | 'giftTo' | 'status' | 'expiresAt'
> & {
  id: string;
  orderId: string;
  kind: OrderMailKind;
  tries: number;
  to: string;
  locale: string | null;
  /** With `refunded` and `refund_undone`: the number of the credit note, and its whole VND. */
  creditNote: bigint | null;
  refundVnd: bigint | null;
};

export function createOrderMails(deps: OrderMailDeps) {
  const { pool, now = Date.now } = deps;
  /** Runs in a row that found no mail server. */
  let unreached = 0;
  let quietUntil = 0;

  /**
   * Sends the mails that are due, each under a row lock, so that concurrent runs send it once. A failed mail is retried
   * by the next runs, and given up after some. A process that dies between the sending and its record sends it again.
   * Accounts take turns, so that many mails of one delay no other by more than one mail. Returns how many were sent.
   * Where the mail server cannot be reached, the run ends: each further mail would wait for the same timeout. The next
   * runs wait, too, longer and longer.
   */
  async function send(): Promise<number> {
    if (now() < quietUntil) return 0;
    await pool.query(
      `DELETE FROM order_mail WHERE id IN (SELECT m.id FROM order_mail m JOIN purchase_order o ON o.id = m.order_id
         WHERE m.state = 'due' AND ${isSettled} FOR UPDATE OF m SKIP LOCKED)`,
    );
    const { rows: due } = await pool.query<{ id: string }>(
      `SELECT m.id FROM order_mail m JOIN purchase_order o ON o.id = m.order_id WHERE m.state = 'due'
       ORDER BY row_number() OVER (PARTITION BY o.account_id ORDER BY m.created_at, m.id), m.created_at, m.id LIMIT $1`,
      [maxMailsOfRun],
    );
    let sent = 0;
    for (const { id } of due) {
      const outcome = await transaction(pool, (client) => sendOne(client, id));
      if (outcome === 'unreachable') {
        unreached += 1;
        quietUntil = now() + Math.min(maxPauseMs, firstPauseMs * 2 ** (unreached - 1));
        break;
      }
      if (outcome === 'sent') {
        sent += 1;
        unreached = 0;
      }
    }
    return sent;
  }

  async function sendOne(client: ClientBase, id: string): Promise<MailOutcome> {
    const { rows } = await client.query<MailRow>(
      `SELECT m.id, m.order_id AS "orderId", m.kind, m.tries, a.email AS to, o.memo, o.plan_name AS "planName",
              o.price_vnd AS "priceVnd", o.budget, o.bonus, o.gift_to AS "giftTo", o.status, o.expires_at AS "expiresAt",
              coalesce((SELECT sum(t.amount_vnd) FROM transfer_match x JOIN bank_transfer t ON t.id = x.transfer_id
                        WHERE x.order_id = o.id), 0)::bigint AS "receivedVnd",
              (SELECT u.locale FROM member x JOIN app_user u ON u.id = x.user_id
               WHERE x.account_id = a.id AND x.role = 'owner' ORDER BY u.email = a.email DESC, x.created_at LIMIT 1) AS locale,
              r.number AS "creditNote", r.amount_vnd AS "refundVnd"
       FROM order_mail m JOIN purchase_order o ON o.id = m.order_id JOIN account a ON a.id = o.account_id
       LEFT JOIN refund r ON m.kind IN ('refunded', 'refund_undone') AND r.id = m.transfer_id
       WHERE m.id = $1 AND m.state = 'due' AND NOT (${isSettled}) FOR UPDATE OF m SKIP LOCKED`,
      [id],
    );
    const [row] = rows;
    if (row === undefined) return 'gone';
    const outcome = await attempt(row);
    // The mail is not to blame: it keeps its tries.
    if (outcome === 'unreachable') return outcome;
    const state = outcome === 'sent' ? 'sent' : row.tries + 1 < maxTries ? 'due' : 'failed';
    await client.query('UPDATE order_mail SET state = $2, tries = tries + 1 WHERE id = $1', [row.id, state]);
    return outcome;
  }

  async function attempt(row: MailRow): Promise<MailOutcome> {
    try {
      await deps.deliverMail(orderMail(row, deps));
      return 'sent';
    } catch (error) {
      deps.log.warn(describeError(error), 'a mail about an order could not be sent');
      return isUnreachable(error) ? 'unreachable' : 'refused';
    }
  }

  return { send };
}

type MailOutcome = 'sent' | 'refused' | 'unreachable' | 'gone';

/** nodemailer's and the system's codes of a server that was not reached, or went away before it answered. */
const unreachableCodes: ReadonlySet<unknown> = new Set([
  'ECONNECTION',
  'ESOCKET',
  'ETIMEDOUT',
  'EDNS',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
]);

function isUnreachable(error: unknown): boolean {
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
  return responseCode === undefined && unreachableCodes.has(code);
}

function orderMail(row: MailRow, deps: Pick<OrderMailDeps, 'bank' | 'publicUrl' | 'formatUsd'>): Mail {
  const locale: Locale = row.locale === 'vi' ? 'vi' : 'en';
  // The address of the order's page on the dashboard has its global id.
  const url = `${deps.publicUrl}/orders/${encodeURIComponent(Buffer.from(`Order:${row.orderId}`).toString('base64'))}`;
  const vnd = (amount: bigint) =>
    new Intl.NumberFormat(locale === 'vi' ? 'vi-VN' : 'en-US', { style: 'currency', currency: 'VND' }).format(amount);
  const isOpen = row.status === 'pending' || row.status === 'partial';
  const { subject, lines } = texts[locale][row.kind]({
    memo: row.memo,
    plan: row.planName,
    price: vnd(row.priceVnd),
    received: vnd(row.receivedVnd),
    missing: vnd(row.priceVnd - row.receivedVnd),
    usd: amountText[locale](deps.formatUsd(row.budget), row.bonus === 0n ? null : deps.formatUsd(row.bonus)),
    giftTo: row.giftTo,
    isPaid: row.status === 'paid',
    until: momentText(row.expiresAt, locale, 'Vietnam'),
    creditNote: String(row.creditNote ?? ''),
    refund: vnd(row.refundVnd ?? 0n),
    bank: isOpen ? deps.bank : null,
  });
  const label = demonstrationText(locale, deps.bank?.isDemonstration === true);
  const text = [...(label === '' ? [] : [label, '']), ...lines, '', texts[locale].page, url, ''].join('\n');
  return { to: row.to, subject, text, links: [url] };
}

interface Facts {
  memo: string;
  plan: string;
  price: string;
  received: string;
  missing: string;
  /** The budget, and the bonus when there is one. */
  usd: string;
  /** As the buyer named the receiver; null: for the buyer. */
  giftTo: string | null;
  isPaid: boolean;
  until: string;
  creditNote: string;
  refund: string;
  bank: BankAccount | null;
}

type Texts = Record<OrderMailKind, (facts: Facts) => { subject: string; lines: string[] }> & { page: string };

const amountText: Record<Locale, (usd: string, bonus: string | null) => string> = {
  en: (usd, bonus) => (bonus === null ? `${usd} USD` : `${usd} USD and a bonus of ${bonus} USD`),
  vi: (usd, bonus) => (bonus === null ? `${usd} USD` : `${usd} USD và thưởng thêm ${bonus} USD`),
};

/** What a paid order gave, and to whom. Whether a gift's receiver has an account is not told. */
const givenText: Record<Locale, (facts: Facts) => string> = {
  en: ({ usd, giftTo }) =>
    giftTo === null
      ? `${usd} were added to your budget; your API keys work as before.`
      : `Your gift of ${usd} is for ${giftTo}: it is added to the budget of that account, or waits ${giftWaitDays} days for one, and is then added to yours.`,
  vi: ({ usd, giftTo }) =>
    giftTo === null
      ? `${usd} đã được cộng vào số dư; các API key vẫn hoạt động như trước.`
      : `Quà tặng ${usd} dành cho ${giftTo}: được cộng vào số dư của tài khoản đó, hoặc chờ tài khoản đó trong ${giftWaitDays} ngày rồi cộng vào số dư của bạn.`,
};

const texts: Record<Locale, Texts> = {
  en: {
    page: 'The order, its payment details and its receipt:',
    made: ({ memo, plan, price, usd, giftTo, until, bank }) => ({
      subject: `Steyg order ${memo}: ${plan}`,
      lines: [
        `You ordered ${plan}${giftTo === null ? '' : ` as a gift for ${giftTo}`}: a budget of ${usd} for ${price}.`,
        ...(bank === null
          ? []
          : [
              '',
              `Transfer ${price} to account ${bank.account} at ${bankName(bank.bin)} (${bank.name}) with the memo ${memo} until ${until}.`,
              giftTo === null
                ? 'The budget is added when the transfer arrives. Your API keys stay the same.'
                : 'The gift is given when the transfer arrives.',
            ]),
      ],
    }),
    paid: (facts) => ({
      subject: `Steyg order ${facts.memo} is paid`,
      lines: [`${facts.received} arrived for ${facts.plan}. ${givenText.en(facts)}`],
    }),
    matched: ({ memo, plan, received, missing, isPaid, ...facts }) => ({
      subject: isPaid ? `Steyg order ${memo} is paid` : `A transfer was matched to your Steyg order ${memo}`,
      lines: [
        `We found your transfer and matched it to the order ${memo} (${plan}) by hand.`,
        isPaid
          ? `${received} arrived. ${givenText.en({ memo, plan, received, missing, isPaid, ...facts })}`
          : `${received} arrived so far; ${missing} are missing. Transfer the rest with the same memo.`,
      ],
    }),
    refunded: ({ memo, plan, creditNote, refund }) => ({
      subject: `Steyg order ${memo}: ${refund} go back to you`,
      lines: [
        `${refund} of your order ${memo} (${plan}) go back to you by bank transfer. Credit note ${creditNote} says for what; it is on the page of the order.`,
      ],
    }),
    refund_undone: ({ memo, plan, creditNote, refund }) => ({
      subject: `Steyg order ${memo}: credit note ${creditNote} is cancelled`,
      lines: [
        `Credit note ${creditNote} over ${refund} of your order ${memo} (${plan}) was a mistake of ours and is cancelled. Budget that it took back is yours again, until its usual end.`,
      ],
    }),
  },
  vi: {
    page: 'Đơn hàng, thông tin thanh toán và biên nhận:',
    made: ({ memo, plan, price, usd, giftTo, until, bank }) => ({
      subject: `Đơn hàng Steyg ${memo}: ${plan}`,
      lines: [
        `Bạn đã đặt ${plan}${giftTo === null ? '' : ` làm quà tặng cho ${giftTo}`}: số dư ${usd} với giá ${price}.`,
        ...(bank === null
          ? []
          : [
              '',
              `Hãy chuyển ${price} tới tài khoản ${bank.account} tại ${bankName(bank.bin)} (${bank.name}) với nội dung ${memo} trước ${until}.`,
              giftTo === null
                ? 'Số dư được cộng khi tiền đến. Các API key của bạn giữ nguyên.'
                : 'Quà được trao khi tiền đến.',
            ]),
      ],
    }),
    paid: (facts) => ({
      subject: `Đơn hàng Steyg ${facts.memo} đã được thanh toán`,
      lines: [`Đã nhận ${facts.received} cho ${facts.plan}. ${givenText.vi(facts)}`],
    }),
    matched: ({ memo, plan, received, missing, isPaid, ...facts }) => ({
      subject: isPaid
        ? `Đơn hàng Steyg ${memo} đã được thanh toán`
        : `Một khoản chuyển đã được ghép với đơn hàng Steyg ${memo} của bạn`,
      lines: [
        `Chúng tôi đã tìm thấy khoản chuyển của bạn và ghép thủ công với đơn hàng ${memo} (${plan}).`,
        isPaid
          ? `Đã nhận ${received}. ${givenText.vi({ memo, plan, received, missing, isPaid, ...facts })}`
          : `Đã nhận ${received}; còn thiếu ${missing}. Hãy chuyển phần còn lại với cùng nội dung.`,
      ],
    }),
    refunded: ({ memo, plan, creditNote, refund }) => ({
      subject: `Đơn hàng Steyg ${memo}: hoàn lại ${refund} cho bạn`,
      lines: [
        `${refund} của đơn hàng ${memo} (${plan}) sẽ được chuyển khoản hoàn lại cho bạn. Phiếu ghi giảm số ${creditNote} nêu rõ nội dung và có trên trang của đơn hàng.`,
      ],
    }),
    refund_undone: ({ memo, plan, creditNote, refund }) => ({
      subject: `Đơn hàng Steyg ${memo}: đã hủy phiếu ghi giảm số ${creditNote}`,
      lines: [
        `Phiếu ghi giảm số ${creditNote} với số tiền ${refund} của đơn hàng ${memo} (${plan}) là nhầm lẫn của chúng tôi và đã được hủy. Số dư đã thu lại theo phiếu này được trả về cho bạn, với thời hạn như cũ.`,
      ],
    }),
  },
};
