/** What notices say, in the reader's language: what happened, what it means, what to do. */

import { type Locale, momentText } from '../shared/page.ts';
import type { NoticeFacts, NoticeKind } from './rules.ts';

export interface NoticeText {
  subject: string;
  body: string;
}

/** A notice for people. Facts hold figures and names alone, so that no text of a request can be part of it. */
export function noticeText(kind: NoticeKind, facts: NoticeFacts, locale: Locale): NoticeText {
  return texts[locale][kind](facts, locale);
}

/** Messengers refuse long messages, and people do not read them. */
const maxSummarized = 40;

/** What was held back, as one message. */
export function summaryText(
  notices: readonly { kind: NoticeKind; facts: NoticeFacts; createdAt: Date }[],
  locale: Locale,
): NoticeText {
  const lines = notices.slice(0, maxSummarized).map(({ kind, facts, createdAt }) => {
    const { subject, body } = noticeText(kind, facts, locale);
    return `• ${momentText(createdAt, locale)}: ${subject}\n${body}`;
  });
  const more = notices.length - lines.length;
  if (more > 0) lines.push(locale === 'vi' ? `… và ${more} thông báo nữa.` : `… and ${more} more.`);
  const areSignIns = notices.every(({ kind }) => kind === 'new_sign_in');
  const what = { en: areSignIns ? 'new sign-ins' : 'notices', vi: areSignIns ? 'lần đăng nhập mới' : 'thông báo' };
  const subject = `Steyg: ${notices.length} ${what[locale]}`;
  return { subject, body: lines.join('\n\n') };
}

/** A message that tries a channel. */
export const testText: Record<Locale, NoticeText> = {
  en: { subject: 'Steyg: this channel works', body: 'Notices of your account will arrive here.' },
  vi: { subject: 'Steyg: kênh này hoạt động', body: 'Thông báo của tài khoản sẽ được gửi đến đây.' },
};

const periods: Record<Locale, Record<string, string>> = {
  en: { day: 'daily', week: 'weekly', month: 'monthly', lifetime: 'lifetime' },
  vi: { day: 'theo ngày', week: 'theo tuần', month: 'theo tháng', lifetime: 'trọn đời' },
};

/** A notice of an earlier version is about a key. */
const limited = {
  en: ({ limit_of, key_name, project_name }: NoticeFacts) =>
    ({
      member: ['A member of your Steyg account is near their', 'requests of the keys that they made'],
      project: [`Your Steyg project “${project_name}” is near its`, 'requests of its keys'],
      account: ['Your Steyg account is near its', 'requests of all its keys'],
    })[limit_of ?? ''] ?? [`Your Steyg key “${key_name}” is near its`, 'its requests'],
  vi: ({ limit_of, key_name, project_name }: NoticeFacts) =>
    ({
      member: ['Một thành viên của tài khoản Steyg', 'yêu cầu của các key do người này tạo'],
      project: [`Dự án Steyg “${project_name}”`, 'yêu cầu của các key trong dự án'],
      account: ['Tài khoản Steyg của bạn', 'yêu cầu của mọi key'],
    })[limit_of ?? ''] ?? [`API key Steyg “${key_name}”`, 'yêu cầu của key này'],
} satisfies Record<Locale, (facts: NoticeFacts) => string[]>;

/** Why a transfer could not be matched. A reason of a later version is left out. */
const transferReasons: Record<Locale, Record<string, string>> = {
  en: {
    no_memo: 'its text has no memo code',
    unknown_memo: 'its memo code belongs to no order',
    several_memos: 'its text has several memo codes',
    late: 'it came after the order had expired',
    order_paid: 'the order was paid already',
    order_cancelled: 'the order was cancelled',
    outgoing: 'it is an outgoing transfer',
    no_amount: 'it has no amount',
    other_account: 'it went to another bank account',
    repeated: 'it looks like a transfer that was reported before',
    surplus: 'it is more than the price',
    short: 'the order expired before it was paid in full',
  },
  vi: {
    no_memo: 'nội dung không có mã đơn',
    unknown_memo: 'mã trong nội dung không thuộc đơn nào',
    several_memos: 'nội dung có nhiều mã đơn',
    late: 'tiền đến sau khi đơn hết hạn',
    order_paid: 'đơn đã được thanh toán',
    order_cancelled: 'đơn đã bị hủy',
    outgoing: 'đây là khoản chuyển đi',
    no_amount: 'không có số tiền',
    other_account: 'tiền đến một tài khoản ngân hàng khác',
    repeated: 'giống một khoản đã được báo trước đó',
    surplus: 'số tiền lớn hơn giá',
    short: 'đơn hết hạn trước khi trả đủ',
  },
};

/** `: why`, or nothing. */
const because = (reason: string | undefined, locale: Locale): string => {
  const words = transferReasons[locale][reason ?? ''];
  return words === undefined ? '' : `: ${words}`;
};

type Texts = Record<NoticeKind, (facts: NoticeFacts, locale: Locale) => NoticeText>;

const texts: Record<Locale, Texts> = {
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
    burn_rate: ({ spent_usd, limit_usd, minutes }) => ({
      subject: `Your Steyg account spent ${spent_usd} USD in ${minutes} minutes`,
      body: `You asked to be told above ${limit_usd} USD. If you do not expect it, delete the key that spends: it stops with the next request.`,
    }),
    key_limit_near: (facts) => {
      const [near = '', refused = ''] = limited.en(facts);
      return {
        subject: `${near} ${periods.en[facts.period ?? '']} limit`,
        body: `${facts.spent_usd} of ${facts.limit_usd} USD are spent. At the limit, ${refused} are refused.`,
      };
    },
    price_changed: (facts, locale) => ({
      subject: `Steyg: the price of ${facts.model} changes`,
      body: `From ${moment(facts.valid_from, locale)}, per 1 million tokens: input ${facts.input_usd} USD (before: ${facts.input_usd_before}), output ${facts.output_usd} USD (before: ${facts.output_usd_before}). All prices are on the page of models.`,
    }),
    model_incident: ({ model, impact, started_at }, locale) => ({
      subject: `Steyg: ${model} has an incident`,
      body: `${impact === 'major' ? 'Requests to it fail' : 'Some requests to it fail'} since ${moment(started_at, locale)}. Failed requests cost nothing. The status page says how it goes on.`,
    }),
    new_sign_in: ({ email, device, network }) => ({
      subject: 'New sign-in to Steyg',
      body: `${email} signed in with ${device}, from ${network}. If it was not you: choose a new password, which ends all sessions, and turn on the second factor.`,
    }),
    shortfall: ({ amount_usd, hour }, locale) => ({
      subject: `Steyg operator: shortfall of ${amount_usd} USD`,
      body: `In the hour from ${moment(hour, locale)}, answers cost ${amount_usd} USD more than could be charged.`,
    }),
    upstream_failing: ({ upstream, failures }) => ({
      subject: `Steyg operator: upstream ${upstream} fails`,
      body: `${failures} requests in a row failed. Other routes of its models are used where there are any.`,
    }),
    transfer_waiting: ({ amount_vnd, reason }, locale) => ({
      subject: `Steyg operator: a transfer of ${amount_vnd} VND waits`,
      body: `It could not be matched with an order${because(reason, locale)}. A person should look at it.`,
    }),
    margin_low: ({ percent, minimum }) => ({
      subject: `Steyg operator: the margin of 24 hours is ${percent} %`,
      body: `It is below ${minimum} %. Look at the margins by model and upstream.`,
    }),
    bill_differs: ({ upstream, model, day, percent, days }) => ({
      subject: `Steyg operator: the bill of ${upstream} differs by ${percent} %`,
      body: `The furthest apart from the ledger is ${model} on ${day} (UTC). Days that differ: ${days}.`,
    }),
    bill_missing: ({ upstream, day, days }) => ({
      subject: `Steyg operator: a bill of ${upstream} is missing`,
      body: `Days with usage and without a bill: ${days}, the first of them ${day} (UTC). Import the vendor's usage file.`,
    }),
    recovered: (facts, locale) => recoveredText(facts, locale),
  },
  vi: {
    balance_low: ({ balance_usd, threshold_usd }) => ({
      subject: `Số dư Steyg của bạn còn dưới ${threshold_usd} USD`,
      body: `Bạn còn ${balance_usd} USD. Khi hết số dư, các yêu cầu sẽ bị từ chối với mã 402; không có khoản nào bị trừ vượt quá số dư.`,
    }),
    balance_exhausted: () => ({
      subject: 'Số dư Steyg của bạn đã hết',
      body: 'Không còn số dư, nên các yêu cầu bị từ chối với mã 402 cho đến khi bạn mua thêm. Ngay sau khi thanh toán, yêu cầu tiếp theo sẽ hoạt động trở lại.',
    }),
    grant_expiring: ({ amount_usd, expires_at }, locale) => ({
      subject: `${amount_usd} USD số dư Steyg của bạn sắp hết hạn`,
      body: `${amount_usd} USD bạn chưa dùng sẽ hết hạn vào ${moment(expires_at, locale)}.`,
    }),
    trial_ending: ({ amount_usd, expires_at }, locale) => ({
      subject: 'Bản dùng thử Steyg của bạn sắp kết thúc',
      body: `Bản dùng thử kết thúc vào ${moment(expires_at, locale)}; bạn còn ${amount_usd} USD.`,
    }),
    burn_rate: ({ spent_usd, limit_usd, minutes }) => ({
      subject: `Tài khoản Steyg của bạn đã tiêu ${spent_usd} USD trong ${minutes} phút`,
      body: `Bạn muốn được báo khi vượt ${limit_usd} USD. Nếu đây là điều bất thường, hãy xóa API key đang tiêu tiền: key ngừng ngay từ yêu cầu tiếp theo.`,
    }),
    key_limit_near: (facts) => {
      const [near = '', refused = ''] = limited.vi(facts);
      return {
        subject: `${near} sắp chạm hạn mức ${periods.vi[facts.period ?? '']}`,
        body: `Đã tiêu ${facts.spent_usd} trên ${facts.limit_usd} USD. Khi chạm hạn mức, ${refused} bị từ chối.`,
      };
    },
    price_changed: (facts, locale) => ({
      subject: `Steyg: giá của ${facts.model} thay đổi`,
      body: `Từ ${moment(facts.valid_from, locale)}, cho 1 triệu token: đầu vào ${facts.input_usd} USD (trước đây: ${facts.input_usd_before}), đầu ra ${facts.output_usd} USD (trước đây: ${facts.output_usd_before}). Toàn bộ giá có trên trang model.`,
    }),
    model_incident: ({ model, impact, started_at }, locale) => ({
      subject: `Steyg: ${model} đang gặp sự cố`,
      body: `${impact === 'major' ? 'Các yêu cầu đến model này thất bại' : 'Một số yêu cầu đến model này thất bại'} từ ${moment(started_at, locale)}. Yêu cầu thất bại không bị tính tiền. Xem diễn biến trên trang trạng thái.`,
    }),
    new_sign_in: ({ email, device, network }) => ({
      subject: 'Đăng nhập mới vào Steyg',
      body: `${email} vừa đăng nhập bằng ${device}, từ ${network}. Nếu không phải bạn: hãy đặt mật khẩu mới (mọi phiên sẽ kết thúc) và bật 2FA.`,
    }),
    shortfall: ({ amount_usd, hour }, locale) => ({
      subject: `Steyg (vận hành): thiếu hụt ${amount_usd} USD`,
      body: `Trong giờ bắt đầu từ ${moment(hour, locale)}, chi phí vượt phần thu được ${amount_usd} USD.`,
    }),
    upstream_failing: ({ upstream, failures }) => ({
      subject: `Steyg (vận hành): upstream ${upstream} gặp lỗi`,
      body: `${failures} yêu cầu liên tiếp thất bại. Các tuyến khác của model được dùng nếu có.`,
    }),
    transfer_waiting: ({ amount_vnd, reason }, locale) => ({
      subject: `Steyg (vận hành): một khoản chuyển ${amount_vnd} VND đang chờ`,
      body: `Không khớp được với đơn hàng nào${because(reason, locale)}. Cần người kiểm tra.`,
    }),
    margin_low: ({ percent, minimum }) => ({
      subject: `Steyg (vận hành): biên lợi nhuận 24 giờ là ${percent} %`,
      body: `Thấp hơn ${minimum} %. Hãy xem biên lợi nhuận theo model và upstream.`,
    }),
    bill_differs: ({ upstream, model, day, percent, days }) => ({
      subject: `Steyg (vận hành): hóa đơn của ${upstream} lệch ${percent} %`,
      body: `Lệch nhiều nhất so với sổ cái: ${model} ngày ${day} (UTC). Các ngày bị lệch: ${days}.`,
    }),
    bill_missing: ({ upstream, day, days }) => ({
      subject: `Steyg (vận hành): thiếu hóa đơn của ${upstream}`,
      body: `Số ngày có sử dụng nhưng chưa có hóa đơn: ${days}, sớm nhất là ${day} (UTC). Hãy nhập tệp sử dụng của nhà cung cấp.`,
    }),
    recovered: (facts, locale) => recoveredText(facts, locale),
  },
};

/** That a state is over of which a notice told. */
function recoveredText(facts: NoticeFacts, locale: Locale): NoticeText {
  const { of, balance_usd, model, upstream, percent, minimum } = facts;
  const isVi = locale === 'vi';
  const ended = moment(facts.ended_at, locale);
  if (of === 'model_incident')
    return isVi
      ? { subject: `Steyg: ${model} hoạt động trở lại`, body: `Sự cố đã kết thúc lúc ${ended}.` }
      : { subject: `Steyg: ${model} works again`, body: `The incident ended at ${ended}.` };
  if (of === 'upstream_failing')
    return isVi
      ? { subject: `Steyg (vận hành): upstream ${upstream} hoạt động trở lại`, body: 'Không còn lỗi liên tiếp.' }
      : { subject: `Steyg operator: upstream ${upstream} works again`, body: 'It no longer fails in a row.' };
  if (of === 'margin_low')
    return isVi
      ? { subject: `Steyg (vận hành): biên lợi nhuận 24 giờ lại là ${percent} %`, body: `Không còn dưới ${minimum} %.` }
      : {
          subject: `Steyg operator: the margin of 24 hours is ${percent} % again`,
          body: `It is no longer below ${minimum} %.`,
        };
  return isVi
    ? { subject: `Số dư Steyg của bạn lại có ${balance_usd} USD`, body: 'Các yêu cầu hoạt động bình thường.' }
    : { subject: `Your Steyg balance is ${balance_usd} USD again`, body: 'Requests work as usual.' };
}

function moment(iso: string | undefined, locale: Locale): string {
  return iso === undefined ? '' : momentText(new Date(iso), locale);
}
