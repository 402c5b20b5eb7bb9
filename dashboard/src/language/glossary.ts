/**
 * The words of the product: one for each notion, the one that its readers use. Developers in Vietnam say most terms of
 * the field in English; an invented translation has to be translated back. Tests hold that no text uses the others.
 */
export interface Term {
  en: string;
  vi: string;
  /** Translations and paraphrases that no text may use, in lower case. */
  notEn?: readonly string[];
  notVi?: readonly string[];
}

export const glossary: readonly Term[] = [
  {
    en: 'API key',
    vi: 'API key',
    notEn: ['api token'],
    notVi: ['khóa api', 'mã api', 'khóa steyg', 'các khóa', 'chứa khóa'],
  },
  { en: 'model', vi: 'model', notVi: ['kiểu mẫu', 'mô hình'] },
  { en: 'agent', vi: 'agent', notVi: ['tác nhân', 'đặc vụ', 'trợ lý lập trình'] },
  { en: 'playground', vi: 'playground', notEn: ['sandbox'], notVi: ['sân chơi', 'thử nghiệm'] },
  { en: 'alias', vi: 'alias', notVi: ['bí danh'] },
  { en: 'token', vi: 'token', notVi: ['mã thông báo', 'từ tố'] },
  { en: 'budget', vi: 'số dư', notEn: ['credits', 'wallet', 'quota'], notVi: ['ngân sách', 'hạn ngạch', 'ví tiền'] },
  { en: 'top up', vi: 'nạp tiền', notEn: ['recharge'], notVi: ['nạp thêm'] },
  { en: 'upstream', vi: 'upstream', notVi: ['thượng nguồn'] },
  { en: 'system prompt', vi: 'system prompt', notVi: ['lời nhắc hệ thống'] },
  { en: 'access token', vi: 'access token', notVi: ['mã truy cập'] },
  { en: 'alert', vi: 'cảnh báo', notEn: ['when you are told', 'what you were told'] },
  { en: '2FA', vi: '2FA', notVi: ['mã hai bước', 'hai bước'] },
];
