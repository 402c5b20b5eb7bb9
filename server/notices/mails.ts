/** Notices as mails: a text with links to act on it and to turn it off. */

import type { Mail } from '../runtime/mail.ts';
import type { Locale } from '../shared/page.ts';
import type { NoticeText } from './texts.ts';

export function noticeMail(input: {
  to: string;
  locale: Locale;
  text: NoticeText;
  /** Where a person acts on it. */
  actUrl: { at: 'budget' | 'account'; url: string };
  /** Where these mails can be turned off. */
  settingsUrl: string;
}): Mail {
  const { to, locale, text, actUrl, settingsUrl } = input;
  const { budget, account, settings } = closing[locale];
  const act = actUrl.at === 'budget' ? budget : account;
  return {
    to,
    subject: text.subject,
    text: `${text.body}\n\n${act}\n${actUrl.url}\n\n${settings}\n${settingsUrl}\n`,
    links: [actUrl.url, settingsUrl],
  };
}

const closing: Record<Locale, { budget: string; account: string; settings: string }> = {
  en: {
    budget: 'Buy budget here; your API keys stay the same:',
    account: 'See more here:',
    settings: 'Choose here when you are told, or turn these mails off:',
  },
  vi: {
    budget: 'Nạp tiền tại đây; các API key của bạn vẫn giữ nguyên:',
    account: 'Xem thêm tại đây:',
    settings: 'Chọn thời điểm nhận thông báo hoặc tắt các thư này tại đây:',
  },
};
