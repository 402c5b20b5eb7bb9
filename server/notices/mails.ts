import type { Mail } from '../runtime/mail.ts';
import type { Locale } from '../shared/page.ts';
import { momentText } from '../shared/page.ts';
import type { NoticeFacts, NoticeKind } from './rules.ts';

/** Notices as mails: what happened, what it means, what to do. In the reader's language. */

export function noticeMail(input: {
  to: string;
  locale: Locale;
  kind: NoticeKind;
  facts: NoticeFacts;
  /** Where a person buys budget. */
  topUpUrl: string;
  /** Where these mails can be turned off. */
  settingsUrl: string;
}): Mail {
  const { to, locale, kind, facts, topUpUrl, settingsUrl } = input;
  const text = texts[locale][kind](facts, locale);
  const { topUp, settings } = closing[locale];
  return {
    to,
    subject: text.subject,
    text: `${text.body}\n\n${topUp}\n${topUpUrl}\n\n${settings}\n${settingsUrl}\n`,
    links: [topUpUrl, settingsUrl],
  };
}

interface Text {
  subject: string;
  body: string;
}

const closing: Record<Locale, { topUp: string; settings: string }> = {
  en: {
    topUp: 'Buy budget here; your API keys stay the same:',
    settings: 'Choose here when you are told, or turn these mails off:',
  },
  vi: {
    topUp: 'Mua thêm ngân sách tại đây; các khóa API của bạn vẫn giữ nguyên:',
    settings: 'Chọn thời điểm nhận thông báo hoặc tắt các thư này tại đây:',
  },
};

const texts: Record<Locale, Record<NoticeKind, (facts: NoticeFacts, locale: Locale) => Text>> = {
  en: {
    balance_low: ({ balance_usd, threshold_usd }) => ({
      subject: `Your Steyg balance is below ${threshold_usd} USD`,
      body: `${balance_usd} USD are left. When nothing is left, requests are refused with status 402; nothing is charged beyond the budget.`,
    }),
    balance_exhausted: () => ({
      subject: 'Your Steyg budget is used up',
      body: 'Nothing is left, so requests are refused with status 402 until you buy budget. The very next request after a payment works again.',
    }),
    grant_expiring: ({ amount_usd, expires_at }, locale) => ({
      subject: `${amount_usd} USD of your Steyg budget expire soon`,
      body: `${amount_usd} USD that you have not used expire on ${moment(expires_at, locale)}.`,
    }),
    trial_ending: ({ amount_usd, expires_at }, locale) => ({
      subject: 'Your Steyg trial ends soon',
      body: `Your trial ends on ${moment(expires_at, locale)}; ${amount_usd} USD of it are left.`,
    }),
  },
  vi: {
    balance_low: ({ balance_usd, threshold_usd }) => ({
      subject: `Số dư Steyg của bạn còn dưới ${threshold_usd} USD`,
      body: `Bạn còn ${balance_usd} USD. Khi hết ngân sách, các yêu cầu sẽ bị từ chối với mã 402; không có khoản nào bị trừ vượt quá ngân sách.`,
    }),
    balance_exhausted: () => ({
      subject: 'Ngân sách Steyg của bạn đã hết',
      body: 'Không còn ngân sách, nên các yêu cầu bị từ chối với mã 402 cho đến khi bạn mua thêm. Ngay sau khi thanh toán, yêu cầu tiếp theo sẽ hoạt động trở lại.',
    }),
    grant_expiring: ({ amount_usd, expires_at }, locale) => ({
      subject: `${amount_usd} USD ngân sách Steyg của bạn sắp hết hạn`,
      body: `${amount_usd} USD bạn chưa dùng sẽ hết hạn vào ${moment(expires_at, locale)}.`,
    }),
    trial_ending: ({ amount_usd, expires_at }, locale) => ({
      subject: 'Bản dùng thử Steyg của bạn sắp kết thúc',
      body: `Bản dùng thử kết thúc vào ${moment(expires_at, locale)}; bạn còn ${amount_usd} USD.`,
    }),
  },
};

function moment(iso: string | undefined, locale: Locale): string {
  return iso === undefined ? '' : momentText(new Date(iso), locale);
}
