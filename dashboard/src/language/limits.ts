import type { Locale } from '../format.ts';

/** Texts of the limits of keys and accounts, apart from the others: only the pages that show limits load them. */
export interface LimitTexts {
  spendHint: string;
  periods: Record<SpendPeriod, string>;
  of: Record<SpendPeriod, string>;
  burn: string;
  burnHint: string;
  burnAmount: string;
  burnMinutes: string;
  burnOf: string;
  more: string;
  pace: string;
  paceHint: string;
  requestsPerMinute: string;
  tokensPerMinute: string;
  maxConcurrent: string;
  paceOf: Record<'requestsPerMinute' | 'tokensPerMinute' | 'maxConcurrent', string>;
  addresses: string;
  addressesHint: string;
  whole: string;
  both: string;
  account: string;
  accountText: string;
  timeZone: string;
  timeZoneHint: string;
  spent: string;
}

export type SpendPeriod = 'day' | 'week' | 'month' | 'lifetime';

export const limitTexts: Record<Locale, LimitTexts> = {
  en: {
    spendHint: 'In USD, by the days of your account’s time zone. A limit is enforced as strictly as the budget itself.',
    periods: { day: 'Per day', week: 'Per week', month: 'Per month', lifetime: 'In total' },
    of: { day: '{usd} a day', week: '{usd} a week', month: '{usd} a month', lifetime: '{usd} in total' },
    burn: 'Runaway stop',
    burnHint: 'Stops the key when it spends more than this within the minutes, until they have passed.',
    burnAmount: 'At most (USD)',
    burnMinutes: 'Within minutes (1 to 1440)',
    burnOf: '{usd} in {n} min',
    more: 'More limits',
    pace: 'Pace',
    paceHint: 'Leave empty for the limits of the service.',
    requestsPerMinute: 'Requests per minute',
    tokensPerMinute: 'Tokens per minute',
    maxConcurrent: 'Requests at once',
    paceOf: { requestsPerMinute: '{n} requests/min', tokensPerMinute: '{n} tokens/min', maxConcurrent: '{n} at once' },
    addresses: 'Allowed addresses',
    addressesHint: 'One address or network a line, such as 203.0.113.0/24. Empty: all.',
    whole: 'A whole number above zero.',
    both: 'Amount and minutes come together.',
    account: 'Limits of the account',
    accountText: 'For all API keys together, on top of each key’s own limits.',
    timeZone: 'Time zone of the account',
    timeZoneHint: 'Where days, weeks and months begin, e.g. Asia/Ho_Chi_Minh.',
    spent: 'Spent today {today}, this week {week}, this month {month}.',
  },
  vi: {
    spendHint: 'Tính bằng USD, theo ngày ở múi giờ của tài khoản. Giới hạn được giữ chặt như chính số dư.',
    periods: { day: 'Mỗi ngày', week: 'Mỗi tuần', month: 'Mỗi tháng', lifetime: 'Tổng cộng' },
    of: { day: '{usd} mỗi ngày', week: '{usd} mỗi tuần', month: '{usd} mỗi tháng', lifetime: '{usd} tổng cộng' },
    burn: 'Chặn tiêu quá nhanh',
    burnHint: 'Key dừng lại khi tiêu quá mức này trong số phút đã đặt, cho đến khi hết khoảng đó.',
    burnAmount: 'Tối đa (USD)',
    burnMinutes: 'Trong số phút (1 đến 1440)',
    burnOf: '{usd} trong {n} phút',
    more: 'Giới hạn khác',
    pace: 'Nhịp độ',
    paceHint: 'Để trống: theo giới hạn của dịch vụ.',
    requestsPerMinute: 'Yêu cầu mỗi phút',
    tokensPerMinute: 'Token mỗi phút',
    maxConcurrent: 'Yêu cầu cùng lúc',
    paceOf: { requestsPerMinute: '{n} yêu cầu/phút', tokensPerMinute: '{n} token/phút', maxConcurrent: '{n} cùng lúc' },
    addresses: 'Địa chỉ được phép',
    addressesHint: 'Mỗi dòng một địa chỉ hoặc mạng, ví dụ 203.0.113.0/24. Để trống: mọi nơi.',
    whole: 'Số nguyên lớn hơn 0.',
    both: 'Số tiền và số phút phải đi cùng nhau.',
    account: 'Giới hạn của tài khoản',
    accountText: 'Tính chung cho mọi API key, bên cạnh giới hạn riêng của từng key.',
    timeZone: 'Múi giờ của tài khoản',
    timeZoneHint: 'Nơi ngày, tuần và tháng bắt đầu, ví dụ Asia/Ho_Chi_Minh.',
    spent: 'Đã dùng hôm nay {today}, tuần này {week}, tháng này {month}.',
  },
};
