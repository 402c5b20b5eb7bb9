import type { Locale } from '../format.ts';

/** Texts of the page on which a machine gets a key: only that page loads them. */
export interface MachineTexts {
  title: string;
  lead: string;
  code: string;
  codeHint: string;
  find: string;
  warning: string;
  otherNetwork: string;
  machine: string;
  address: string;
  endsAt: string;
  account: string;
  name: string;
  nameHint: string;
  limits: string;
  limitsHint: string;
  approve: string;
  deny: string;
  another: string;
  notWaiting: string;
  approved: string;
  denied: string;
}

export const machineTexts: Record<Locale, MachineTexts> = {
  en: {
    title: 'Sign a machine in',
    lead: 'A terminal asks for an API key of yours. You say what the key may spend.',
    code: 'Code',
    codeHint: 'Eight letters, as your terminal shows them.',
    find: 'Continue',
    warning:
      'Approve only if you began this yourself, and your own terminal shows this very code now. If somebody sent you the code or a link, deny: they would spend your money.',
    otherNetwork: 'The machine is in another network than this browser. That is usual for servers, and for frauds.',
    machine: 'Calls itself',
    address: 'Asks from',
    endsAt: 'Code ends',
    account: 'Account that pays',
    name: 'Name of the key',
    nameHint: 'Under this name it stands on the page API keys, where you can delete it at any time.',
    limits: 'What the key may spend',
    limitsHint: 'In USD. Empty: only the budget of the account limits it.',
    approve: 'Approve',
    deny: 'Deny',
    another: 'Another code',
    notWaiting: 'No machine waits under this code: it was used, denied, or is older than ten minutes.',
    approved: 'Approved. Your terminal continues within a few seconds, and you get an email. You can close this page.',
    denied: 'Denied. The terminal received no key.',
  },
  vi: {
    title: 'Đăng nhập một máy',
    lead: 'Một terminal xin API key của bạn. Bạn quyết định key được tiêu bao nhiêu.',
    code: 'Mã',
    codeHint: 'Tám chữ cái, đúng như terminal của bạn hiển thị.',
    find: 'Tiếp tục',
    warning:
      'Chỉ chấp thuận nếu chính bạn vừa bắt đầu việc này và terminal của bạn đang hiển thị đúng mã này. Nếu có người gửi mã hoặc liên kết cho bạn, hãy từ chối: họ sẽ tiêu tiền của bạn.',
    otherNetwork:
      'Máy này ở mạng khác với trình duyệt của bạn. Điều đó bình thường với máy chủ, và cũng thường gặp khi lừa đảo.',
    machine: 'Tên máy tự xưng',
    address: 'Địa chỉ',
    endsAt: 'Mã hết hạn',
    account: 'Tài khoản trả tiền',
    name: 'Tên của key',
    nameHint: 'Key mang tên này trên trang API key, nơi bạn có thể xóa bất cứ lúc nào.',
    limits: 'Key được tiêu bao nhiêu',
    limitsHint: 'Tính bằng USD. Để trống: chỉ bị giới hạn bởi số dư của tài khoản.',
    approve: 'Chấp thuận',
    deny: 'Từ chối',
    another: 'Nhập mã khác',
    notWaiting: 'Không có máy nào đang chờ với mã này: mã đã dùng, đã bị từ chối hoặc quá mười phút.',
    approved:
      'Đã chấp thuận. Terminal của bạn sẽ tự tiếp tục sau vài giây, và bạn nhận được một thư. Có thể đóng trang này.',
    denied: 'Đã từ chối. Terminal được báo như vậy và không nhận được gì.',
  },
};
