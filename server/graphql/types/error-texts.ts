import type { Locale } from '../../shared/page.ts';
import type { TransportCode } from './errors.ts';

/** What the errors of GraphQL mean and what to do about them, for the pages of errors. Text with `code` in backticks. */

interface CodeText {
  title: string;
  cause: string;
  cure: string;
}

interface CodeFacts extends Readonly<Record<Locale, CodeText>> {
  /** HTTP status: 200 where the answer has data or an error of one field. */
  status: number;
  /** Another try of the same operation cannot succeed. */
  isFinal: boolean;
}

/** Codes of the edge, which answers before GraphQL runs. */
type EdgeCode =
  | 'BAD_REQUEST'
  | 'CROSS_SITE'
  | 'METHOD_NOT_ALLOWED'
  | 'NOT_ACCEPTABLE'
  | 'REQUEST_TOO_LARGE'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'VIEW_ENDED';
/** Codes of members of result unions that many operations have. */
type ExpectedCode =
  | 'BAD_INPUT'
  | 'BUSY'
  | 'CONFLICT'
  | 'EMAIL_NOT_VERIFIED'
  | 'IDEMPOTENCY_CONFLICT'
  | 'INVALID_CODE'
  | 'INVALID_CREDENTIALS'
  | 'INVALID_PASSKEY'
  | 'INVALID_TOKEN'
  | 'KEY_CREATED_BEFORE'
  | 'KEYS_UNDECIDED'
  | 'NOT_ALLOWED'
  | 'NOT_FOUND'
  | 'REQUEST_REFUSED'
  | 'SIGN_IN_AGAIN'
  | 'TOO_MANY_ATTEMPTS';

export type DescribedCode = TransportCode | EdgeCode | ExpectedCode;

export const codeTexts: Readonly<Record<DescribedCode, CodeFacts>> = {
  UNAUTHENTICATED: {
    status: 401,
    isFinal: true,
    en: {
      title: 'Nobody is signed in',
      cause: 'The operation needs a session or an access token, and there is none that is valid.',
      cure: 'Send `Authorization: Bearer tk-steyg-…`, made under Security. API keys (`sk-steyg-…`) call models and never open GraphQL.',
    },
    vi: {
      title: 'Chưa đăng nhập',
      cause: 'Thao tác cần phiên đăng nhập hoặc access token hợp lệ.',
      cure: 'Gửi `Authorization: Bearer tk-steyg-…`, tạo ở trang Bảo mật. API key (`sk-steyg-…`) dùng để gọi model và không dùng được cho GraphQL.',
    },
  },
  ACCOUNT_SUSPENDED: {
    status: 200,
    isFinal: true,
    en: {
      title: 'The account is suspended',
      cause: 'A suspended account can be read, and nothing in it can be changed.',
      cure: 'Contact support.',
    },
    vi: {
      title: 'Tài khoản bị tạm khóa',
      cause: 'Tài khoản bị tạm khóa chỉ xem được, không thay đổi được.',
      cure: 'Liên hệ hỗ trợ.',
    },
  },
  FORBIDDEN: {
    status: 200,
    isFinal: true,
    en: {
      title: 'Not with these rights',
      cause: 'The role, or the scopes of the access token, do not allow this field.',
      cure: 'Use a token with the scope that the field asks for, or ask an owner of the account for another role.',
    },
    vi: {
      title: 'Không đủ quyền',
      cause: 'Vai trò, hoặc phạm vi của access token, không cho phép trường này.',
      cure: 'Dùng token có phạm vi cần thiết, hoặc nhờ chủ tài khoản đổi vai trò.',
    },
  },
  SECOND_FACTOR_REQUIRED: {
    status: 200,
    isFinal: true,
    en: {
      title: 'A second factor is needed first',
      cause: 'Operators change things only after they have set up a one-time code or a passkey.',
      cure: 'Set one up under Security.',
    },
    vi: {
      title: 'Cần xác thực 2FA trước',
      cause: 'Người vận hành chỉ thay đổi được khi đã bật mã dùng một lần hoặc passkey.',
      cure: 'Bật ở trang Bảo mật.',
    },
  },
  OPERATOR_ROLE: {
    status: 200,
    isFinal: true,
    en: {
      title: 'The role does not include this',
      cause: 'You operate the service as `finance` or `support`, and this takes another role: the answer names which.',
      cure: 'Ask an owner of the service to do it, or to change your role on the page Operators.',
    },
    vi: {
      title: 'Vai trò không bao gồm việc này',
      cause:
        'Bạn vận hành dịch vụ với vai trò `finance` hoặc `support`, còn việc này cần vai trò khác, được nêu trong câu trả lời.',
      cure: 'Nhờ chủ dịch vụ làm việc đó, hoặc đổi vai trò của bạn ở trang Người vận hành.',
    },
  },
  BAD_USER_INPUT: {
    status: 200,
    isFinal: true,
    en: {
      title: 'A variable or argument cannot be used',
      cause: 'Its type does not fit the schema.',
      cure: 'Compare it with the reference. Values are never quoted back, because they may be secret.',
    },
    vi: {
      title: 'Biến hoặc tham số không dùng được',
      cause: 'Kiểu dữ liệu không khớp với schema.',
      cure: 'So với tài liệu GraphQL. Giá trị không bao giờ được nhắc lại vì có thể là bí mật.',
    },
  },
  DOCUMENT_TOO_LARGE: {
    status: 400,
    isFinal: true,
    en: {
      title: 'The document asks for too much',
      cause: 'It is too deep, has too many aliases, or costs more than one operation may.',
      cure: 'Ask for fewer fields or shorter pages, in several operations.',
    },
    vi: {
      title: 'Thao tác yêu cầu quá nhiều',
      cause: 'Quá sâu, quá nhiều alias, hoặc chi phí vượt mức một thao tác.',
      cure: 'Lấy ít trường hơn hoặc trang ngắn hơn, chia thành nhiều thao tác.',
    },
  },
  PERSISTED_DOCUMENT_NOT_FOUND: {
    status: 200,
    isFinal: true,
    en: {
      title: 'The document of this id is not known',
      cause: 'The client and the server are of different versions.',
      cure: 'Send the text of the document as query. The SDK does so by itself.',
    },
    vi: {
      title: 'Không có tài liệu nào mang mã này',
      cause: 'Máy khách và máy chủ khác phiên bản.',
      cure: 'Gửi nguyên văn tài liệu trong query. SDK tự làm việc này.',
    },
  },
  TOO_MANY_SUBSCRIPTIONS: {
    status: 200,
    isFinal: false,
    en: {
      title: 'Too many subscriptions',
      cause: 'So many subscriptions of one subject run already.',
      cure: 'Close those that nobody reads.',
    },
    vi: {
      title: 'Quá nhiều subscription',
      cause: 'Đã có quá nhiều subscription đang chạy.',
      cure: 'Đóng những subscription không còn dùng.',
    },
  },
  TOO_MANY_REQUESTS: {
    status: 429,
    isFinal: false,
    en: {
      title: 'Too many operations',
      cause: 'The rate of operations, or of what they cost, is used up for the moment.',
      cure: 'Wait for `retry-after` seconds.',
    },
    vi: {
      title: 'Quá nhiều thao tác',
      cause: 'Tần suất thao tác, hoặc chi phí của chúng, tạm thời đã hết mức.',
      cure: 'Chờ số giây trong `retry-after`.',
    },
  },
  VIEW_ONLY: {
    status: 200,
    isFinal: true,
    en: {
      title: "A look at somebody's account changes nothing",
      cause: "An operator looks at a customer's pages, which is read-only.",
      cure: 'End the look; operators change things on their own pages.',
    },
    vi: {
      title: 'Chế độ xem không thay đổi được gì',
      cause: 'Người vận hành đang xem trang của khách hàng ở chế độ chỉ đọc.',
      cure: 'Kết thúc chế độ xem; người vận hành thay đổi ở trang của mình.',
    },
  },
  OVERLOADED: {
    status: 503,
    isFinal: false,
    en: {
      title: 'The server has too much to do',
      cause: 'Operations are refused before model requests are.',
      cure: 'Try again after `retry-after`.',
    },
    vi: {
      title: 'Máy chủ quá tải',
      cause: 'Thao tác GraphQL bị từ chối trước, để nhường cho yêu cầu đến model.',
      cure: 'Thử lại sau `retry-after`.',
    },
  },
  INTERNAL: {
    status: 200,
    isFinal: false,
    en: {
      title: 'Something went wrong on our side',
      cause: 'A fault of this service.',
      cure: 'Try again. If it comes again, send support the `x-request-id` of the answer.',
    },
    vi: {
      title: 'Lỗi từ phía chúng tôi',
      cause: 'Một lỗi của dịch vụ.',
      cure: 'Thử lại. Nếu vẫn lỗi, gửi `x-request-id` cho bộ phận hỗ trợ.',
    },
  },
  BAD_REQUEST: {
    status: 400,
    isFinal: true,
    en: {
      title: 'The request cannot be read',
      cause: 'The body is not JSON in UTF-8, or has no document.',
      cure: 'Send `{ "query": "…", "variables": { … } }`.',
    },
    vi: {
      title: 'Không đọc được yêu cầu',
      cause: 'Nội dung không phải JSON UTF-8, hoặc không có thao tác.',
      cure: 'Gửi `{ "query": "…", "variables": { … } }`.',
    },
  },
  CROSS_SITE: {
    status: 403,
    isFinal: true,
    en: {
      title: 'The request comes from another site',
      cause: 'A browser says that the page which asked is not one of this service.',
      cure: 'Programs use an access token, from a server and not from a page.',
    },
    vi: {
      title: 'Yêu cầu đến từ trang khác',
      cause: 'Trình duyệt cho biết trang gửi yêu cầu không thuộc dịch vụ này.',
      cure: 'Chương trình dùng access token, gửi từ máy chủ chứ không từ trang web.',
    },
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    isFinal: true,
    en: {
      title: 'Operations are sent with POST',
      cause: '`/graphql` was asked with another method.',
      cure: 'Use `POST`.',
    },
    vi: {
      title: 'Thao tác phải gửi bằng POST',
      cause: '`/graphql` được gọi bằng phương thức khác.',
      cure: 'Dùng `POST`.',
    },
  },
  NOT_ACCEPTABLE: {
    status: 406,
    isFinal: true,
    en: {
      title: 'The answer would have another form',
      cause: 'The header `accept` names neither form of an answer.',
      cure: 'Accept `application/json` for operations and `text/event-stream` for subscriptions.',
    },
    vi: {
      title: 'Dạng trả lời không được chấp nhận',
      cause: 'Header `accept` không nêu dạng trả lời nào có thể dùng.',
      cure: 'Dùng `application/json` cho thao tác và `text/event-stream` cho subscription.',
    },
  },
  REQUEST_TOO_LARGE: {
    status: 413,
    isFinal: true,
    en: {
      title: 'The request is too large',
      cause: 'A body may have 100 kB.',
      cure: 'Send variables instead of long documents, and less at once.',
    },
    vi: {
      title: 'Yêu cầu quá lớn',
      cause: 'Nội dung có tối đa 100 kB.',
      cure: 'Dùng biến thay cho thao tác dài, và gửi ít hơn mỗi lần.',
    },
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    isFinal: true,
    en: {
      title: 'The body is not plain JSON',
      cause: 'The header `content-type` says something else, or the body is compressed.',
      cure: 'Send `content-type: application/json`, uncompressed.',
    },
    vi: {
      title: 'Nội dung không phải JSON',
      cause: 'Header `content-type` khác, hoặc nội dung bị nén.',
      cure: 'Gửi `content-type: application/json`, không nén.',
    },
  },
  VIEW_ENDED: {
    status: 401,
    isFinal: true,
    en: {
      title: 'The look at this account has ended',
      cause: "An operator's look at a customer's pages ends after fifteen minutes.",
      cure: 'Begin another one on the page of the account.',
    },
    vi: {
      title: 'Chế độ xem đã kết thúc',
      cause: 'Chế độ xem trang của khách hàng kết thúc sau mười lăm phút.',
      cure: 'Bắt đầu lại từ trang của tài khoản.',
    },
  },
  BAD_INPUT: {
    status: 200,
    isFinal: true,
    en: {
      title: 'Something in the input cannot be used',
      cause: 'One or more members are outside of what is allowed. Nothing was changed.',
      cure: '`problems` names every member with its path and what is wrong with it.',
    },
    vi: {
      title: 'Dữ liệu nhập không dùng được',
      cause: 'Một hay nhiều trường nằm ngoài mức cho phép. Chưa có gì thay đổi.',
      cure: '`problems` nêu từng trường, đường dẫn và lỗi của nó.',
    },
  },
  BUSY: {
    status: 503,
    isFinal: false,
    en: {
      title: 'The queue is full',
      cause: 'So much of this kind of work waits already.',
      cure: 'Try again after `retryAfterSeconds`.',
    },
    vi: {
      title: 'Hàng đợi đã đầy',
      cause: 'Đã có quá nhiều việc cùng loại đang chờ.',
      cure: 'Thử lại sau `retryAfterSeconds`.',
    },
  },
  CONFLICT: {
    status: 200,
    isFinal: true,
    en: {
      title: 'The object is in another state',
      cause:
        'What was asked for cannot be done to it now. Most conflicts have a code of their own, and their sentence says why.',
      cure: 'Read the object again and decide by its state.',
    },
    vi: {
      title: 'Đối tượng đang ở trạng thái khác',
      cause: 'Không thể làm điều này lúc này. Phần lớn xung đột có mã riêng và thông báo nêu lý do.',
      cure: 'Đọc lại đối tượng rồi quyết định theo trạng thái.',
    },
  },
  EMAIL_NOT_VERIFIED: {
    status: 200,
    isFinal: true,
    en: {
      title: 'The e-mail address is not confirmed',
      cause: 'The password was right, but the link of the first mail was not opened.',
      cure: 'Open it, or ask for another mail.',
    },
    vi: {
      title: 'Địa chỉ e-mail chưa xác nhận',
      cause: 'Mật khẩu đúng nhưng liên kết trong thư đầu tiên chưa được mở.',
      cure: 'Mở liên kết, hoặc yêu cầu gửi lại thư.',
    },
  },
  IDEMPOTENCY_CONFLICT: {
    status: 200,
    isFinal: true,
    en: {
      title: 'The idempotency key was used for something else',
      cause: 'The same `idempotencyKey` came with other arguments before.',
      cure: 'Use a new key for a new purpose, and the same arguments for a repetition.',
    },
    vi: {
      title: 'Khóa idempotency đã dùng cho việc khác',
      cause: 'Cùng `idempotencyKey` đã được gửi với tham số khác.',
      cure: 'Dùng khóa mới cho việc mới, và giữ nguyên tham số khi gửi lại.',
    },
  },
  INVALID_CODE: {
    status: 200,
    isFinal: true,
    en: {
      title: 'The one-time code is wrong',
      cause: 'Codes change every half minute, and each works once.',
      cure: 'Enter the present code; check the clock of the device.',
    },
    vi: {
      title: 'Mã dùng một lần không đúng',
      cause: 'Mã đổi mỗi nửa phút và chỉ dùng được một lần.',
      cure: 'Nhập mã hiện tại; kiểm tra đồng hồ của thiết bị.',
    },
  },
  INVALID_CREDENTIALS: {
    status: 200,
    isFinal: true,
    en: {
      title: 'E-mail address or password is wrong',
      cause: 'Which of the two is not said, so that addresses cannot be found out.',
      cure: 'Try again, or reset the password.',
    },
    vi: {
      title: 'E-mail hoặc mật khẩu không đúng',
      cause: 'Không nói rõ cái nào sai, để không ai dò được địa chỉ.',
      cure: 'Thử lại, hoặc đặt lại mật khẩu.',
    },
  },
  INVALID_PASSKEY: {
    status: 200,
    isFinal: true,
    en: {
      title: 'The passkey was not accepted',
      cause: 'It is unknown here, was removed, or took too long.',
      cure: 'Try again, or sign in another way.',
    },
    vi: {
      title: 'Passkey không được chấp nhận',
      cause: 'Passkey không có ở đây, đã bị gỡ, hoặc mất quá nhiều thời gian.',
      cure: 'Thử lại, hoặc đăng nhập cách khác.',
    },
  },
  INVALID_TOKEN: {
    status: 200,
    isFinal: true,
    en: {
      title: 'The link is not valid any more',
      cause: 'It was used, has expired, or was replaced by a newer one.',
      cure: 'Ask for a new one.',
    },
    vi: {
      title: 'Liên kết không còn hiệu lực',
      cause: 'Liên kết đã dùng, đã hết hạn, hoặc đã có liên kết mới hơn.',
      cure: 'Yêu cầu liên kết mới.',
    },
  },
  KEY_CREATED_BEFORE: {
    status: 200,
    isFinal: true,
    en: {
      title: 'This key was made before',
      cause: 'The idempotency key was repeated. The secret is shown once and not stored.',
      cure: 'Rotate the key, or delete it and create another.',
    },
    vi: {
      title: 'Key này đã được tạo',
      cause: 'Khóa idempotency được gửi lại. Secret chỉ hiện một lần và không được lưu.',
      cure: 'Xoay key, hoặc xóa và tạo key khác.',
    },
  },
  KEYS_UNDECIDED: {
    status: 200,
    isFinal: true,
    en: {
      title: 'Keys would go on working',
      cause: 'The person who is to be removed has seen secrets of keys.',
      cure: 'Say whether to keep or to revoke the keys in `keys`.',
    },
    vi: {
      title: 'Một số key vẫn còn dùng được',
      cause: 'Người sắp bị gỡ đã thấy secret của các key.',
      cure: 'Cho biết giữ hay thu hồi các key trong `keys`.',
    },
  },
  NOT_ALLOWED: {
    status: 200,
    isFinal: true,
    en: {
      title: 'You see it but may not change it',
      cause: 'The role in this account does not allow that.',
      cure: 'Ask an owner of the account.',
    },
    vi: {
      title: 'Được xem nhưng không được thay đổi',
      cause: 'Vai trò trong tài khoản không cho phép.',
      cure: 'Nhờ chủ tài khoản.',
    },
  },
  NOT_FOUND: {
    status: 200,
    isFinal: true,
    en: {
      title: 'There is nothing with this id',
      cause: 'It does not exist, or belongs to another account: both are answered alike.',
      cure: 'Check the id, and the account that the token belongs to.',
    },
    vi: {
      title: 'Không có đối tượng nào với id này',
      cause: 'Đối tượng không tồn tại hoặc thuộc tài khoản khác: cả hai được trả lời như nhau.',
      cure: 'Kiểm tra id và tài khoản của token.',
    },
  },
  REQUEST_REFUSED: {
    status: 200,
    isFinal: true,
    en: {
      title: 'The gateway would refuse this request',
      cause: 'An estimate was asked for a request that cannot be sent as it is.',
      cure: '`reason` is the code that the request itself would be answered with.',
    },
    vi: {
      title: 'Gateway sẽ từ chối yêu cầu này',
      cause: 'Ước tính được hỏi cho một yêu cầu không gửi được như hiện tại.',
      cure: '`reason` là mã lỗi mà chính yêu cầu đó sẽ nhận.',
    },
  },
  SIGN_IN_AGAIN: {
    status: 200,
    isFinal: true,
    en: {
      title: 'Confirm that it is you',
      cause: 'What can take an account over is done soon after a sign-in alone.',
      cure: 'Sign in again, then repeat the operation.',
    },
    vi: {
      title: 'Cần xác nhận lại',
      cause: 'Việc có thể chiếm quyền tài khoản chỉ làm được ngay sau khi đăng nhập.',
      cure: 'Đăng nhập lại rồi lặp lại thao tác.',
    },
  },
  TOO_MANY_ATTEMPTS: {
    status: 200,
    isFinal: false,
    en: {
      title: 'Too many attempts',
      cause: 'Attempts are limited against guessing and flooding.',
      cure: 'Wait for `retryAfterSeconds`.',
    },
    vi: {
      title: 'Quá nhiều lần thử',
      cause: 'Số lần thử bị giới hạn để chống dò và spam.',
      cure: 'Chờ `retryAfterSeconds`.',
    },
  },
};
