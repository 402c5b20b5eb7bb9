import type { ReviewReason } from '../../plans/payment-decision.ts';
import type { Locale } from '../../shared/page.ts';

/**
 * The codes of conflicts: what is in the way, and what to do about it. Each has its page under `/docs/errors`, and no conflict has a
 * code that is not here.
 */

type ConflictText = readonly [title: string, cause: string, cure: string];

/** What an operator can do with a transfer that the matcher found no order for. */
const reviewCure = {
  en: 'Match it to another order, credit an account, or send it back.',
  vi: 'Khớp với đơn khác, cộng vào một tài khoản, hoặc hoàn lại.',
} as const;

const texts = {
  NO_MEMO: {
    en: ['The transfer has no memo', 'The bank told no text that could name an order.', reviewCure.en],
    vi: ['Giao dịch không có nội dung', 'Ngân hàng không gửi nội dung nào nêu mã đơn.', reviewCure.vi],
  },
  UNKNOWN_MEMO: {
    en: ['The memo is of no order', 'Nothing in the text of the transfer names an order.', reviewCure.en],
    vi: ['Nội dung không thuộc đơn nào', 'Không có mã đơn nào trong nội dung chuyển khoản.', reviewCure.vi],
  },
  SEVERAL_MEMOS: {
    en: ['The memo names several orders', 'The text of the transfer names more than one order.', reviewCure.en],
    vi: ['Nội dung nêu nhiều đơn', 'Nội dung chuyển khoản nêu hơn một mã đơn.', reviewCure.vi],
  },
  LATE: {
    en: ['The money came late', 'The transfer was sent after the order had expired.', reviewCure.en],
    vi: ['Tiền đến muộn', 'Giao dịch được gửi sau khi đơn hết hạn.', reviewCure.vi],
  },
  ORDER_PAID: {
    en: ['The order is paid', 'The order was paid in full before.', reviewCure.en],
    vi: ['Đơn đã thanh toán', 'Đơn đã được thanh toán đủ.', reviewCure.vi],
  },
  ORDER_CANCELLED: {
    en: ['The order is cancelled', 'The order was cancelled before the money came.', reviewCure.en],
    vi: ['Đơn đã hủy', 'Đơn đã bị hủy trước khi tiền đến.', reviewCure.vi],
  },
  OUTGOING: {
    en: ['The money went out', 'The transfer left the account.', reviewCure.en],
    vi: ['Tiền ra', 'Đây là giao dịch tiền ra khỏi tài khoản.', reviewCure.vi],
  },
  NO_AMOUNT: {
    en: ['The transfer has no amount', 'The bank told an amount of zero.', reviewCure.en],
    vi: ['Giao dịch không có số tiền', 'Ngân hàng báo số tiền bằng không.', reviewCure.vi],
  },
  OTHER_ACCOUNT: {
    en: [
      'The money came to another account',
      'The transfer is of a bank account that is not the service’s.',
      reviewCure.en,
    ],
    vi: ['Tiền vào tài khoản khác', 'Giao dịch thuộc tài khoản ngân hàng không phải của dịch vụ.', reviewCure.vi],
  },
  REPEATED: {
    en: ['The transfer may be a repetition', 'The bank told a transfer like it before.', reviewCure.en],
    vi: ['Giao dịch có thể bị lặp', 'Ngân hàng đã báo một giao dịch giống như vậy.', reviewCure.vi],
  },
  SURPLUS: {
    en: ['More was paid than the price', 'The transfer brings more than the order asks for.', reviewCure.en],
    vi: ['Trả dư', 'Giao dịch nhiều hơn số tiền của đơn.', reviewCure.vi],
  },
  SHORT: {
    en: ['Less was paid than the price', 'The transfer brings less than the order asks for.', reviewCure.en],
    vi: ['Trả thiếu', 'Giao dịch ít hơn số tiền của đơn.', reviewCure.vi],
  },
  CONFLICT: {
    en: [
      'It is in another state',
      'The object is not in a state in which this can be done.',
      'Read it again, and decide by what it is now.',
    ],
    vi: [
      'Trạng thái không phù hợp',
      'Đối tượng không ở trạng thái cho phép thao tác này.',
      'Đọc lại đối tượng và quyết định theo trạng thái hiện tại.',
    ],
  },
  IDEMPOTENCY_CONFLICT: {
    en: [
      'The idempotency key has other arguments',
      'The key was used before with other arguments.',
      'Use a new key for a new intention, and the same key with the same arguments for a repetition.',
    ],
    vi: [
      'Khóa chống lặp đã dùng với tham số khác',
      'Khóa này đã được dùng với tham số khác.',
      'Dùng khóa mới cho thao tác mới, và đúng khóa cũ cùng tham số cũ khi gửi lại.',
    ],
  },
  ACCOUNT_EXISTS: {
    en: [
      'There is an account of this address',
      'An account with this e-mail address exists.',
      'Give the budget to the account that is there.',
    ],
    vi: ['Địa chỉ này đã có tài khoản', 'Đã có tài khoản dùng email này.', 'Cấp số dư cho tài khoản đang có.'],
  },
  ALREADY_CLOSED: {
    en: [
      'The month is closed',
      'The books of this month were closed before.',
      'Read its statement; corrections belong to the month that is open.',
    ],
    vi: [
      'Tháng đã khóa sổ',
      'Sổ của tháng này đã được khóa.',
      'Xem báo cáo của tháng; điều chỉnh được ghi vào tháng đang mở.',
    ],
  },
  ALREADY_MATCHED: {
    en: [
      'The transfer pays an order',
      'The transfer is matched to an order already.',
      'Undo that match first, if it is wrong.',
    ],
    vi: ['Giao dịch đã khớp một đơn', 'Giao dịch này đã được khớp với một đơn hàng.', 'Hủy khớp trước nếu khớp sai.'],
  },
  ALREADY_MEMBER: {
    en: [
      'The person is a member',
      'The person with this address belongs to the account.',
      'Change the role in the list of members instead.',
    ],
    vi: [
      'Người này đã là thành viên',
      'Người dùng địa chỉ này đã thuộc tài khoản.',
      'Đổi vai trò trong danh sách thành viên.',
    ],
  },
  ALREADY_ON: {
    en: ['2FA is on', 'The second factor was set up before.', 'Switch it off first to set up another device.'],
    vi: ['2FA đang bật', 'Yếu tố thứ hai đã được thiết lập.', 'Tắt trước nếu muốn dùng thiết bị khác.'],
  },
  ALREADY_UNDONE: {
    en: ['It was undone before', 'This refund or import is undone.', 'Nothing is left to do.'],
    vi: ['Đã được hoàn tác', 'Khoản hoàn tiền hoặc lần nhập này đã được hoàn tác.', 'Không cần làm gì thêm.'],
  },
  ALREADY_UPGRADED: {
    en: ['The order was upgraded before', 'Another order upgrades this one.', 'Upgrade that order instead.'],
    vi: ['Đơn đã được nâng cấp', 'Đã có đơn khác nâng cấp đơn này.', 'Hãy nâng cấp đơn đó.'],
  },
  AMOUNT_NOT_OFFERED: {
    en: [
      'The amount is not offered',
      'Free amounts are off, or the amount is out of their range or no whole cent of USD.',
      'Read `topUp` for the range, or choose a plan.',
    ],
    vi: [
      'Số tiền không được bán',
      'Không bán số tiền tự chọn, hoặc số tiền ngoài khoảng hay không tròn xu USD.',
      'Xem khoảng cho phép ở `topUp`, hoặc chọn một gói.',
    ],
  },
  BATCH_UNCONFIRMED: {
    en: [
      'The vendor has not confirmed the batch',
      'The batch was sent, and the vendor has not answered yet.',
      'Try again in a moment.',
    ],
    vi: ['Nhà cung cấp chưa xác nhận lô', 'Lô đã được gửi nhưng nhà cung cấp chưa trả lời.', 'Thử lại sau giây lát.'],
  },
  BUDGET_HELD: {
    en: [
      'Running requests hold the budget',
      'Some of this budget is held for requests that run now.',
      'Try again when they have ended, usually within a minute.',
    ],
    vi: [
      'Yêu cầu đang chạy giữ số dư',
      'Một phần số dư này đang được giữ cho các yêu cầu đang chạy.',
      'Thử lại khi chúng kết thúc, thường trong một phút.',
    ],
  },
  BUDGET_SPENT: {
    en: [
      'The budget is partly spent',
      'Some of the budget that this would take back is used.',
      'Take back at most what is left.',
    ],
    vi: ['Số dư đã dùng một phần', 'Một phần số dư cần thu lại đã được dùng.', 'Chỉ thu lại tối đa phần còn lại.'],
  },
  CHANNEL_CLOSED: {
    en: ['The channel was deleted', 'This channel of notices is deleted.', 'Make a new one.'],
    vi: ['Kênh đã bị xóa', 'Kênh thông báo này đã bị xóa.', 'Tạo kênh mới.'],
  },
  ENDPOINT_CLOSED: {
    en: ['The webhook was deleted', 'This webhook endpoint is deleted.', 'Make a new one.'],
    vi: ['Webhook đã bị xóa', 'Địa chỉ webhook này đã bị xóa.', 'Tạo webhook mới.'],
  },
  GIFT_WAITS: {
    en: [
      'The gift waits for its receiver',
      'The budget of this order has not reached its receiver yet.',
      'Wait until it is delivered, or until it returns to the buyer.',
    ],
    vi: [
      'Quà đang chờ người nhận',
      'Số dư của đơn này chưa đến người nhận.',
      'Chờ đến khi được nhận hoặc trả về người mua.',
    ],
  },
  INVALID_REDEMPTION_CODE: {
    en: [
      'The code cannot be redeemed',
      'The code is unknown, used up, revoked or over.',
      'Check its letters, or ask whoever gave it to you for another one.',
    ],
    vi: [
      'Mã không dùng được',
      'Mã không tồn tại, đã dùng hết, bị thu hồi hoặc hết hạn.',
      'Kiểm tra lại từng ký tự, hoặc hỏi người đưa mã.',
    ],
  },
  KEY_EXPIRED: {
    en: ['The key has expired', 'The API key ended at the time that was set.', 'Create a new key.'],
    vi: ['Key đã hết hạn', 'API key đã hết thời hạn được đặt.', 'Tạo key mới.'],
  },
  KEY_REPLACED: {
    en: ['The key was rotated', 'The API key has a successor.', 'Rotate the successor, or create a new key.'],
    vi: ['Key đã được thay', 'API key này đã có key thay thế.', 'Thay key mới hơn, hoặc tạo key mới.'],
  },
  LAST_OPERATOR: {
    en: [
      'The last owner of the service stays',
      'The service would be without an operator who may do everything.',
      'Make someone else an owner of the service first.',
    ],
    vi: [
      'Phải còn một chủ dịch vụ',
      'Dịch vụ sẽ không còn người có toàn quyền.',
      'Chỉ định người khác làm chủ dịch vụ trước.',
    ],
  },
  LAST_OWNER: {
    en: ['The last owner stays', 'The account would be without an owner.', 'Make someone else an owner first.'],
    vi: ['Phải còn một chủ sở hữu', 'Tài khoản sẽ không còn chủ sở hữu.', 'Chỉ định người khác làm chủ sở hữu trước.'],
  },
  LAST_WAY_IN: {
    en: [
      'The last way to sign in stays',
      'Without it nobody could sign in as this person.',
      'Add a password, a passkey or another provider first.',
    ],
    vi: [
      'Phải còn một cách đăng nhập',
      'Nếu gỡ, người này không thể đăng nhập nữa.',
      'Thêm mật khẩu, passkey hoặc nhà cung cấp khác trước.',
    ],
  },
  MATCHED_BY_MEMO: {
    en: [
      'The payer named the order',
      'The memo of the transfer names this order, so that the match is not undone.',
      'Refund the order instead.',
    ],
    vi: [
      'Người chuyển đã ghi mã đơn',
      'Nội dung chuyển khoản ghi đúng đơn này nên không hủy khớp.',
      'Hãy hoàn tiền cho đơn.',
    ],
  },
  NOT_CANCELLABLE: {
    en: [
      'The order cannot be cancelled',
      'Money has arrived for it, or it is closed.',
      'Pay the rest, or ask for a refund.',
    ],
    vi: ['Không thể hủy đơn', 'Đã nhận tiền cho đơn, hoặc đơn đã đóng.', 'Trả phần còn lại, hoặc yêu cầu hoàn tiền.'],
  },
  NOT_DEARER: {
    en: [
      'The plan is no upgrade',
      'An upgrade must cost more and include more than the plan of the order.',
      'Choose a larger plan, or buy this one beside it.',
    ],
    vi: [
      'Gói không phải nâng cấp',
      'Gói nâng cấp phải có giá và số dư lớn hơn gói của đơn.',
      'Chọn gói lớn hơn, hoặc mua thêm gói này.',
    ],
  },
  NOT_FAILED: {
    en: [
      'The invoice has not failed',
      'Only an e-invoice that failed, or whose file is missing, is tried again.',
      'Nothing is left to do.',
    ],
    vi: ['Hóa đơn không bị lỗi', 'Chỉ thử lại hóa đơn điện tử bị lỗi hoặc thiếu tệp.', 'Không cần làm gì thêm.'],
  },
  NOT_IN_QUEUE: {
    en: [
      'The transfer waits for nobody',
      'The transfer is not among those that wait for a person.',
      'Read the list of transfers again: somebody else has decided.',
    ],
    vi: [
      'Giao dịch không chờ xử lý',
      'Giao dịch không nằm trong danh sách chờ.',
      'Tải lại danh sách: có người đã xử lý.',
    ],
  },
  NOT_MATCHED: {
    en: ['The transfer pays no order', 'There is no match that could be undone.', 'Read the transfer again.'],
    vi: ['Giao dịch không trả cho đơn nào', 'Không có khớp nào để hủy.', 'Đọc lại giao dịch.'],
  },
  NOT_ON_SALE: {
    en: [
      'Nothing is on sale',
      'The plan is off, or the operator has set up no bank account.',
      'Read `plans` for what can be bought now.',
    ],
    vi: [
      'Chưa bán',
      'Gói đã tắt, hoặc đơn vị vận hành chưa thiết lập tài khoản ngân hàng.',
      'Xem `plans` để biết gói đang bán.',
    ],
  },
  NOT_PAID: {
    en: [
      'Only a paid order is upgraded',
      'The order that this would upgrade is not paid.',
      'Pay it first, or order the larger plan without upgrading.',
    ],
    vi: [
      'Chỉ nâng cấp đơn đã thanh toán',
      'Đơn cần nâng cấp chưa được thanh toán.',
      'Thanh toán trước, hoặc đặt riêng gói lớn hơn.',
    ],
  },
  NOT_PAYABLE: {
    en: [
      'The transfer cannot be used for this',
      'It went out, was used already, or is of another kind.',
      'Choose another transfer.',
    ],
    vi: [
      'Không dùng được giao dịch này',
      'Giao dịch là tiền ra, đã được dùng, hoặc khác loại.',
      'Chọn giao dịch khác.',
    ],
  },
  ORDER_NOT_PAID: {
    en: ['The order is not paid', 'Only what was paid can go back.', 'Cancel the order instead.'],
    vi: ['Đơn chưa thanh toán', 'Chỉ hoàn được tiền đã trả.', 'Hãy hủy đơn.'],
  },
  ORDER_UPGRADED: {
    en: [
      'Another order upgrades it',
      'What was paid counts for the order that upgrades this one.',
      'Refund that order instead.',
    ],
    vi: ['Đã được đơn khác nâng cấp', 'Số tiền đã được tính cho đơn nâng cấp.', 'Hoàn tiền đơn nâng cấp.'],
  },
  PROJECT_FULL: {
    en: [
      'The project’s budget is too small for the key',
      'The running requests of the key hold more than the project’s budget leaves.',
      'Try again when they have ended, or raise the budget.',
    ],
    vi: [
      'Hạn mức dự án không đủ cho key',
      'Các yêu cầu đang chạy của key giữ nhiều hơn phần còn lại của dự án.',
      'Thử lại khi chúng kết thúc, hoặc tăng hạn mức.',
    ],
  },
  PROJECT_HAS_KEYS: {
    en: [
      'The project has keys',
      'A project with keys in use is not archived.',
      'Move its keys to another project, or delete them.',
    ],
    vi: ['Dự án còn key', 'Không lưu trữ dự án còn key đang dùng.', 'Chuyển key sang dự án khác hoặc xóa chúng.'],
  },
  PROJECT_NAME_TAKEN: {
    en: ['Another project has this name', 'Names of the projects of an account differ.', 'Choose another name.'],
    vi: ['Tên đã được dùng', 'Tên các dự án trong một tài khoản phải khác nhau.', 'Chọn tên khác.'],
  },
  PROJECT_REQUIRED: {
    en: [
      'The key needs a project',
      'A project of this account has a limit, and a key without a project would pass it by.',
      'Choose a project, or ask an owner for a monthly budget.',
    ],
    vi: [
      'Key cần có dự án',
      'Một dự án của tài khoản có hạn mức; key không thuộc dự án sẽ vượt qua nó.',
      'Chọn dự án, hoặc xin chủ sở hữu một hạn mức tháng.',
    ],
  },
  REFUNDED: {
    en: [
      'Some of this money goes back',
      'A refund of this money was made before.',
      'Undo that refund first, if it was a mistake.',
    ],
    vi: ['Đã có hoàn tiền', 'Khoản tiền này đã được hoàn một phần.', 'Hoàn tác khoản hoàn tiền đó trước nếu nhầm.'],
  },
  REFUND_TOO_MUCH: {
    en: [
      'So much cannot go back',
      'The refund is more than what was paid, or than what is left to send.',
      'The sentence says the most that can go back.',
    ],
    vi: [
      'Không thể hoàn nhiều như vậy',
      'Số tiền hoàn lớn hơn số đã trả hoặc phần còn lại.',
      'Thông báo cho biết mức tối đa.',
    ],
  },
  SIGN_IN_AGAIN: {
    en: [
      'A new sign-in is needed',
      'This takes a sign-in less than 10 minutes ago.',
      'Sign out and in again, then repeat it.',
    ],
    vi: [
      'Cần đăng nhập lại',
      'Thao tác này cần lần đăng nhập trong 10 phút gần nhất.',
      'Đăng xuất rồi đăng nhập lại và làm lại.',
    ],
  },
  TOO_LITTLE: {
    en: ['The amount buys nothing', 'At the price of the plan it is less than a cent.', 'Choose a larger amount.'],
    vi: ['Số tiền quá nhỏ', 'Theo giá của gói, số tiền chưa được một xu.', 'Chọn số tiền lớn hơn.'],
  },
  TOO_MANY_CHANNELS: {
    en: ['There are as many channels as allowed', 'The account has the most channels of notices.', 'Delete one first.'],
    vi: ['Đã đủ số kênh', 'Tài khoản đã có số kênh thông báo tối đa.', 'Xóa bớt một kênh.'],
  },
  TOO_MANY_ENDPOINTS: {
    en: ['There are as many webhooks as allowed', 'The account has the most webhook endpoints.', 'Delete one first.'],
    vi: ['Đã đủ số webhook', 'Tài khoản đã có số webhook tối đa.', 'Xóa bớt một webhook.'],
  },
  TOO_MANY_KEYS: {
    en: [
      'There are as many keys as allowed',
      'The account has the most API keys in use.',
      'Delete keys that nobody uses.',
    ],
    vi: ['Đã đủ số key', 'Tài khoản đã có số API key tối đa.', 'Xóa key không ai dùng.'],
  },
  TOO_MANY_MEMBERS: {
    en: [
      'There are as many members as allowed',
      'Members and open invitations together are at the maximum.',
      'Remove a member, or withdraw an invitation.',
    ],
    vi: [
      'Đã đủ số thành viên',
      'Tổng số thành viên và lời mời đã đến mức tối đa.',
      'Gỡ một thành viên hoặc rút một lời mời.',
    ],
  },
  TOO_MANY_OPEN_ORDERS: {
    en: [
      'There are many unpaid orders',
      'The account has the most orders that wait for money.',
      'Pay or cancel one first.',
    ],
    vi: ['Quá nhiều đơn chưa trả', 'Tài khoản đã có số đơn chờ thanh toán tối đa.', 'Thanh toán hoặc hủy một đơn.'],
  },
  TOO_MANY_PASSKEYS: {
    en: ['There are as many passkeys as allowed', 'The person has the most passkeys.', 'Remove one first.'],
    vi: ['Đã đủ số passkey', 'Người dùng đã có số passkey tối đa.', 'Xóa bớt một passkey.'],
  },
  TOO_MANY_PROJECTS: {
    en: ['There are as many projects as allowed', 'The account has the most projects in use.', 'Archive one first.'],
    vi: ['Đã đủ số dự án', 'Tài khoản đã có số dự án tối đa.', 'Lưu trữ bớt một dự án.'],
  },
  UPGRADE_SUPERSEDED: {
    en: [
      'Another upgrade was faster',
      'Another upgrade of the same order was paid meanwhile.',
      'Match the transfer to another order, or refund it.',
    ],
    vi: [
      'Đã có nâng cấp khác',
      'Trong lúc đó, một nâng cấp khác của cùng đơn đã được thanh toán.',
      'Khớp giao dịch với đơn khác, hoặc hoàn tiền.',
    ],
  },
  VENDOR_UNREACHABLE: {
    en: ['The vendor cannot be reached', 'The vendor did not answer.', 'Try again later.'],
    vi: ['Không kết nối được nhà cung cấp', 'Nhà cung cấp không trả lời.', 'Thử lại sau.'],
  },
} as const satisfies Record<string, Record<Locale, ConflictText>>;

export type ConflictCode = keyof typeof texts;

/** The code of a reason for which a transfer waits for a person. */
export function reviewCode(reason: ReviewReason): ConflictCode {
  return reason.toUpperCase() as Uppercase<ReviewReason>;
}

export const conflictTexts: Readonly<Record<ConflictCode, Readonly<Record<Locale, ConflictText>>>> = texts;
