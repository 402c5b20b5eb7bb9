import type { Locale } from '../../shared/page.ts';
import type { RefusalName } from './refusals.ts';

/** What each refusal of the data plane means and what to do about it, for the pages of errors. Text with `code` in backticks. */

export interface ErrorText {
  title: string;
  cause: string;
  cure: string;
}

export const errorTexts: Readonly<Record<RefusalName, Readonly<Record<Locale, ErrorText>>>> = {
  invalid_api_key: {
    en: {
      title: 'The API key is not valid',
      cause: 'The request has no API key, or one that is mistyped, has expired or was deleted.',
      cure: 'Send `Authorization: Bearer sk-steyg-…` (or `x-api-key`). Check that the variable of your shell or tool is set, and create a new key if this one is gone. Access tokens (`tk-steyg-…`) open GraphQL and never call models.',
    },
    vi: {
      title: 'API key không hợp lệ',
      cause: 'Yêu cầu không có API key, hoặc key bị gõ sai, đã hết hạn hay đã bị xóa.',
      cure: 'Gửi `Authorization: Bearer sk-steyg-…` (hoặc `x-api-key`). Kiểm tra biến môi trường của shell hoặc công cụ, và tạo key mới nếu key này không còn. Access token (`tk-steyg-…`) dùng cho GraphQL và không gọi được model.',
    },
  },
  account_suspended: {
    en: {
      title: 'The account is suspended',
      cause: 'An operator has suspended the account. Its budget is kept.',
      cure: 'Contact support; the address stands at the foot of every page. The same keys work again once the account is resumed.',
    },
    vi: {
      title: 'Tài khoản bị tạm khóa',
      cause: 'Người vận hành đã tạm khóa tài khoản. Số dư được giữ nguyên.',
      cure: 'Liên hệ hỗ trợ theo địa chỉ ở cuối mỗi trang. Các key cũ dùng lại được khi tài khoản được mở.',
    },
  },
  invalid_request: {
    en: {
      title: 'The request is malformed',
      cause:
        'A field is absent, has the wrong type, is not offered by the model, or could change the price of the request.',
      cure: 'Read `error.param` for the field and `error.message` for what is wrong with it. The request will not work unchanged.',
    },
    vi: {
      title: 'Yêu cầu không đúng định dạng',
      cause: 'Một trường bị thiếu, sai kiểu, model không hỗ trợ, hoặc có thể làm thay đổi giá của yêu cầu.',
      cure: 'Xem `error.param` để biết trường nào và `error.message` để biết sai ở đâu. Gửi lại y nguyên sẽ không thành công.',
    },
  },
  version_header_missing: {
    en: {
      title: 'The header anthropic-version is missing',
      cause: 'The messages protocol asks for this header.',
      cure: 'Send `anthropic-version: 2023-06-01`.',
    },
    vi: {
      title: 'Thiếu header anthropic-version',
      cause: 'Giao thức messages yêu cầu header này.',
      cure: 'Gửi `anthropic-version: 2023-06-01`.',
    },
  },
  unsupported_media_type: {
    en: {
      title: 'The body is not JSON',
      cause: 'The header `content-type` says something else than `application/json` in UTF-8.',
      cure: 'Send `content-type: application/json`.',
    },
    vi: {
      title: 'Nội dung không phải JSON',
      cause: 'Header `content-type` không phải `application/json` với UTF-8.',
      cure: 'Gửi `content-type: application/json`.',
    },
  },
  content_encoding: {
    en: {
      title: 'The body is compressed',
      cause: 'Requests are read as they arrive; compressed ones are not taken.',
      cure: 'Send the body without `content-encoding`.',
    },
    vi: {
      title: 'Nội dung bị nén',
      cause: 'Yêu cầu được đọc nguyên dạng, không nhận nội dung nén.',
      cure: 'Gửi nội dung không có `content-encoding`.',
    },
  },
  request_too_large: {
    en: {
      title: 'The request is too large',
      cause: 'The body is larger than this address takes.',
      cure: 'Send fewer or smaller pictures and files, or less context.',
    },
    vi: {
      title: 'Yêu cầu quá lớn',
      cause: 'Nội dung lớn hơn mức địa chỉ này cho phép.',
      cure: 'Gửi ít ảnh và tệp hơn, tệp nhỏ hơn, hoặc rút ngắn ngữ cảnh.',
    },
  },
  request_timeout: {
    en: {
      title: 'The request did not arrive in time',
      cause: 'The connection was so slow, or stood still so long, that the body was not complete.',
      cure: 'Try again; nothing was charged. If it comes again, look for a proxy that holds requests back.',
    },
    vi: {
      title: 'Yêu cầu không đến kịp',
      cause: 'Kết nối quá chậm hoặc đứng yên quá lâu nên nội dung chưa đến đủ.',
      cure: 'Thử lại; không có khoản nào bị trừ. Nếu lặp lại, hãy kiểm tra proxy có giữ yêu cầu hay không.',
    },
  },
  too_many_headers: {
    en: {
      title: 'The request has too many headers',
      cause: 'The headers together are larger than the server reads.',
      cure: 'Send fewer or shorter headers; a proxy may add some, such as cookies.',
    },
    vi: {
      title: 'Yêu cầu có quá nhiều header',
      cause: 'Tổng kích thước header lớn hơn mức máy chủ đọc.',
      cure: 'Gửi ít header hơn hoặc ngắn hơn; proxy có thể đã thêm vào, ví dụ cookie.',
    },
  },
  not_found: {
    en: {
      title: 'There is nothing at this address',
      cause: 'The path is mistyped, or the call is one that this service does not offer.',
      cure: 'Check the base address of your tool: most want `…/api/v1`, tools of the messages protocol `…/api`. The reference lists every address.',
    },
    vi: {
      title: 'Không có gì ở địa chỉ này',
      cause: 'Đường dẫn bị gõ sai, hoặc dịch vụ không có lời gọi này.',
      cure: 'Kiểm tra địa chỉ gốc của công cụ: phần lớn cần `…/api/v1`, công cụ dùng giao thức messages cần `…/api`. Tài liệu API liệt kê mọi địa chỉ.',
    },
  },
  method_not_allowed: {
    en: {
      title: 'The address takes another method',
      cause: 'The path is right, but the method (`GET`, `POST` …) is not.',
      cure: 'Use the method that the header `allow` names.',
    },
    vi: {
      title: 'Địa chỉ này dùng phương thức khác',
      cause: 'Đường dẫn đúng nhưng phương thức (`GET`, `POST` …) không đúng.',
      cure: 'Dùng phương thức mà header `allow` nêu.',
    },
  },
  no_web_socket: {
    en: {
      title: 'This address does not speak WebSocket',
      cause: 'An upgrade was asked for at an address that answers over HTTP alone.',
      cure: 'Send the request over HTTP. WebSockets are taken at `/api/v1/responses`.',
    },
    vi: {
      title: 'Địa chỉ này không dùng WebSocket',
      cause: 'Yêu cầu nâng cấp kết nối được gửi đến địa chỉ chỉ trả lời qua HTTP.',
      cure: 'Gửi yêu cầu qua HTTP. WebSocket chỉ có ở `/api/v1/responses`.',
    },
  },
  previous_response_not_found: {
    en: {
      title: 'The previous response is not kept here',
      cause:
        '`previous_response_id` names a response of another connection, or not the latest of this one. Conversations are not stored.',
      cure: 'Send the earlier items of the conversation as `input`.',
    },
    vi: {
      title: 'Không còn giữ câu trả lời trước',
      cause:
        '`previous_response_id` chỉ đến câu trả lời của kết nối khác, hoặc không phải câu mới nhất. Hội thoại không được lưu.',
      cure: 'Gửi các mục trước đó của hội thoại trong `input`.',
    },
  },
  socket_too_old: {
    en: {
      title: 'The WebSocket has been open for an hour',
      cause: 'A connection is closed after 60 minutes.',
      cure: 'Open a new one and send the conversation with the first request. Clients of the vendor do so automatically.',
    },
    vi: {
      title: 'WebSocket đã mở được một giờ',
      cause: 'Mỗi kết nối được đóng sau 60 phút.',
      cure: 'Mở kết nối mới và gửi hội thoại cùng yêu cầu đầu tiên. Công cụ của nhà cung cấp tự làm việc này.',
    },
  },
  model_not_found: {
    en: {
      title: 'There is no such model',
      cause: 'The catalog has no model of this name, or it is no longer on sale.',
      cure: 'Choose an id of `GET /api/v1/models`. A prefix `steyg/` and capital letters are forgiven, nothing else.',
    },
    vi: {
      title: 'Không có model này',
      cause: 'Danh mục không có model tên này, hoặc model không còn bán.',
      cure: 'Chọn một id trong `GET /api/v1/models`. Tiền tố `steyg/` và chữ hoa được chấp nhận, ngoài ra thì không.',
    },
  },
  model_not_allowed: {
    en: {
      title: 'The key may not call this model',
      cause: 'The key was limited to certain models.',
      cure: 'Call a model of its list, or have the owner of the key change the list under API keys.',
    },
    vi: {
      title: 'Key không được gọi model này',
      cause: 'Key được giới hạn ở một số model.',
      cure: 'Gọi model trong danh sách của key, hoặc nhờ chủ key đổi danh sách ở trang API key.',
    },
  },
  model_of_other_kind: {
    en: {
      title: 'The model makes something else',
      cause: 'A model of text, embeddings or images was asked for at the address of another kind.',
      cure: 'The list of models has the member `kind`: embeddings at `/api/v1/embeddings`, images at `/api/v1/images/…`, text at the other three.',
    },
    vi: {
      title: 'Model tạo ra loại kết quả khác',
      cause: 'Model văn bản, embedding hoặc ảnh được gọi ở địa chỉ của loại khác.',
      cure: 'Danh sách model có trường `kind`: embedding ở `/api/v1/embeddings`, ảnh ở `/api/v1/images/…`, văn bản ở ba địa chỉ còn lại.',
    },
  },
  prompt_too_long: {
    en: {
      title: 'The prompt is too long',
      cause: 'The request can have more tokens than the longest prompt of this model that has a price.',
      cure: 'Send less context. Coding agents compact the conversation when they see this error.',
    },
    vi: {
      title: 'Prompt quá dài',
      cause: 'Yêu cầu có thể có nhiều token hơn prompt dài nhất của model này mà có giá.',
      cure: 'Gửi ít ngữ cảnh hơn. Các công cụ lập trình tự rút gọn hội thoại khi gặp lỗi này.',
    },
  },
  budget_exhausted: {
    en: {
      title: 'The budget is used up',
      cause: 'Nothing is left of the prepaid budget, or it has expired.',
      cure: 'Top up; the same API key works again as soon as the transfer arrives.',
    },
    vi: {
      title: 'Đã hết số dư',
      cause: 'Số dư trả trước không còn, hoặc đã hết hạn.',
      cure: 'Nạp tiền; API key cũ dùng lại được ngay khi khoản chuyển đến.',
    },
  },
  budget_short: {
    en: {
      title: 'The budget does not cover this request',
      cause:
        'The most that this request can cost is more than what is left. It was not sent to the model, and nothing was charged.',
      cure: 'Top up, send less context, or ask for fewer tokens: `error.affordable_max_tokens` says how many would fit.',
    },
    vi: {
      title: 'Số dư không đủ cho yêu cầu này',
      cause: 'Chi phí tối đa của yêu cầu lớn hơn số dư còn lại. Yêu cầu chưa được gửi đến model và không bị tính tiền.',
      cure: 'Nạp tiền, gửi ít ngữ cảnh hơn, hoặc yêu cầu ít token hơn: `error.affordable_max_tokens` cho biết số token vừa đủ.',
    },
  },
  budget_reserved: {
    en: {
      title: 'The rest of the budget is reserved',
      cause: 'Requests of the same account are running, and what they can cost at most is held back until they end.',
      cure: 'Wait for `retry-after` and try again, run fewer requests at once, or top up.',
    },
    vi: {
      title: 'Phần số dư còn lại đang được giữ',
      cause: 'Các yêu cầu khác của tài khoản đang chạy, và chi phí tối đa của chúng được giữ lại cho đến khi xong.',
      cure: 'Chờ theo `retry-after` rồi thử lại, chạy ít yêu cầu cùng lúc hơn, hoặc nạp tiền.',
    },
  },
  budget_held_by_batches: {
    en: {
      title: 'Batches hold the rest of the budget',
      cause: 'What the batches of the account can cost at most is held back until they end, which takes up to a day.',
      cure: 'Cancel a batch that the message names, wait for its end (`batches_end_at`), or top up.',
    },
    vi: {
      title: 'Các batch đang giữ phần số dư còn lại',
      cause:
        'Chi phí tối đa của các batch của tài khoản được giữ lại cho đến khi chúng kết thúc, lâu nhất là một ngày.',
      cure: 'Hủy một batch mà thông báo nêu tên, chờ đến khi nó kết thúc (`batches_end_at`), hoặc nạp tiền.',
    },
  },
  key_limit_reached: {
    en: {
      title: 'The key has reached its spending limit',
      cause:
        'The key may spend only so much in a day, week, month or in all; `error.limit_period` says which limit it was.',
      cure: 'Wait until `error.returns_at`, or have the owner of the key raise the limit.',
    },
    vi: {
      title: 'Key đã đạt giới hạn chi tiêu',
      cause:
        'Key chỉ được chi một mức trong ngày, tuần, tháng hoặc tổng cộng; `error.limit_period` cho biết giới hạn nào.',
      cure: 'Chờ đến `error.returns_at`, hoặc nhờ chủ key nâng giới hạn.',
    },
  },
  member_limit_reached: {
    en: {
      title: 'The member has reached their spending limit',
      cause: 'All keys of the member who made this key have spent what the member may spend.',
      cure: 'Wait until `error.returns_at`, or ask an owner of the account to raise the limit.',
    },
    vi: {
      title: 'Thành viên đã đạt giới hạn chi tiêu',
      cause: 'Các key của thành viên tạo key này đã chi hết mức của thành viên đó.',
      cure: 'Chờ đến `error.returns_at`, hoặc nhờ chủ tài khoản nâng giới hạn.',
    },
  },
  project_limit_reached: {
    en: {
      title: 'The project has reached its spending limit',
      cause: 'All keys of the project together have spent what the project may spend.',
      cure: 'Wait until `error.returns_at`, or ask an owner of the account to raise the limit.',
    },
    vi: {
      title: 'Dự án đã đạt giới hạn chi tiêu',
      cause: 'Tất cả key của dự án đã chi hết mức của dự án.',
      cure: 'Chờ đến `error.returns_at`, hoặc nhờ chủ tài khoản nâng giới hạn.',
    },
  },
  account_limit_reached: {
    en: {
      title: 'The account has reached its spending limit',
      cause: 'The account has a spending limit of its own, beside its budget.',
      cure: 'Wait until `error.returns_at`, or have an owner of the account raise the limit under Settings.',
    },
    vi: {
      title: 'Tài khoản đã đạt giới hạn chi tiêu',
      cause: 'Tài khoản có giới hạn chi tiêu riêng, ngoài số dư.',
      cure: 'Chờ đến `error.returns_at`, hoặc nhờ chủ tài khoản nâng giới hạn trong phần Cài đặt.',
    },
  },
  burn_limit: {
    en: {
      title: 'The burn limit has stopped the key',
      cause: 'So much was spent in so few minutes that the burn limit stopped it: often an agent in a loop.',
      cure: 'Look under Activity at what ran. Raise or remove the burn limit if it was meant to be so, or wait until `error.returns_at`.',
    },
    vi: {
      title: 'Giới hạn tốc độ chi tiêu đã chặn key',
      cause: 'Quá nhiều tiền được chi trong vài phút nên giới hạn đã chặn lại: thường do một agent chạy lặp.',
      cure: 'Xem trang Hoạt động để biết đã chạy gì. Nâng hoặc bỏ giới hạn nếu đó là chủ ý, hoặc chờ đến `error.returns_at`.',
    },
  },
  too_many_requests: {
    en: {
      title: 'Too many requests at once',
      cause: 'The key or the account already runs as many requests as it may run at the same time.',
      cure: 'Wait for one to end, then try again; `error.limit` says how many may run.',
    },
    vi: {
      title: 'Quá nhiều yêu cầu cùng lúc',
      cause: 'Key hoặc tài khoản đang chạy số yêu cầu tối đa được phép cùng lúc.',
      cure: 'Chờ một yêu cầu xong rồi thử lại; `error.limit` cho biết được chạy bao nhiêu.',
    },
  },
  answers_unread: {
    en: {
      title: 'Answers wait to be read',
      cause: 'Clients of the account have asked for answers and do not read them, so that they pile up here.',
      cure: 'Read answers to the end, or close the connections that nobody reads any more.',
    },
    vi: {
      title: 'Câu trả lời chưa được đọc',
      cause: 'Các máy khách của tài khoản đã gửi yêu cầu mà không đọc câu trả lời, nên chúng dồn lại.',
      cure: 'Đọc hết câu trả lời, hoặc đóng các kết nối không còn dùng.',
    },
  },
  rate_limited: {
    en: {
      title: 'The limit per minute is reached',
      cause: 'The key or the account has a limit of requests or of tokens per minute.',
      cure: 'Wait for `retry-after` seconds; the rate-limit headers say what is left. A request that alone is over the limit of tokens never fits: send less.',
    },
    vi: {
      title: 'Đã đạt giới hạn mỗi phút',
      cause: 'Key hoặc tài khoản có giới hạn số yêu cầu hoặc số token mỗi phút.',
      cure: 'Chờ số giây trong `retry-after`; các header giới hạn cho biết còn lại bao nhiêu. Yêu cầu tự nó đã vượt giới hạn token thì không bao giờ vừa: hãy gửi ít hơn.',
    },
  },
  address_not_allowed: {
    en: {
      title: 'The key may not be used from here',
      cause: 'The key was limited to certain network addresses.',
      cure: 'Call from one of them, or have the owner of the key add the address that the message names.',
    },
    vi: {
      title: 'Không được dùng key từ địa chỉ này',
      cause: 'Key được giới hạn ở một số địa chỉ mạng.',
      cure: 'Gọi từ một địa chỉ trong số đó, hoặc nhờ chủ key thêm địa chỉ được nêu trong thông báo.',
    },
  },
  probes_alone: {
    en: {
      title: 'The key measures uptime alone',
      cause: 'It belongs to a prober of this service and takes nothing but its probes.',
      cure: 'Create a key of your own.',
    },
    vi: {
      title: 'Key này chỉ để đo trạng thái',
      cause: 'Key thuộc về bộ đo của dịch vụ và chỉ nhận các phép đo đó.',
      cure: 'Tạo key của riêng bạn.',
    },
  },
  not_supported: {
    en: {
      title: 'The call is not supported',
      cause: 'The request asks for something that this service does not do for this model.',
      cure: 'Leave out the field that the message names, or choose another model.',
    },
    vi: {
      title: 'Chưa hỗ trợ lời gọi này',
      cause: 'Yêu cầu cần một điều mà dịch vụ không làm với model này.',
      cure: 'Bỏ trường được nêu trong thông báo, hoặc chọn model khác.',
    },
  },
  unavailable: {
    en: {
      title: 'Budgets cannot be checked',
      cause:
        'The database cannot be reached. Without it nothing is let through, so that nobody spends more than they have.',
      cure: 'Try again in a few seconds; the status page says how it stands.',
    },
    vi: {
      title: 'Không kiểm tra được số dư',
      cause: 'Không truy cập được cơ sở dữ liệu. Khi đó mọi yêu cầu bị chặn, để không ai chi nhiều hơn số dư.',
      cure: 'Thử lại sau vài giây; trang trạng thái cho biết tình hình.',
    },
  },
  overloaded: {
    en: {
      title: 'The server has too much to do',
      cause: 'Requests arrive faster than this server can work.',
      cure: 'Try again after `retry-after`. Nothing was charged.',
    },
    vi: {
      title: 'Máy chủ quá tải',
      cause: 'Yêu cầu đến nhanh hơn khả năng xử lý.',
      cure: 'Thử lại sau `retry-after`. Không có khoản nào bị trừ.',
    },
  },
  draining: {
    en: {
      title: 'The server is restarting',
      cause: 'It ends what runs and takes nothing new.',
      cure: 'Try again in a moment. Nothing was charged.',
    },
    vi: {
      title: 'Máy chủ đang khởi động lại',
      cause: 'Máy chủ hoàn tất việc đang chạy và không nhận việc mới.',
      cure: 'Thử lại sau giây lát. Không có khoản nào bị trừ.',
    },
  },
  internal: {
    en: {
      title: 'Something went wrong on our side',
      cause: 'A fault of this service.',
      cure: 'Try again. If it comes again, send support the `request_id` of the answer.',
    },
    vi: {
      title: 'Lỗi từ phía chúng tôi',
      cause: 'Một lỗi của dịch vụ.',
      cure: 'Thử lại. Nếu vẫn lỗi, gửi cho bộ phận hỗ trợ `request_id` trong câu trả lời.',
    },
  },
  upstream_unreachable: {
    en: {
      title: 'The vendor could not be reached',
      cause: 'No connection to the vendor of the model came about, on any route of it.',
      cure: 'Try again, or use another model. Nothing was charged.',
    },
    vi: {
      title: 'Không kết nối được nhà cung cấp',
      cause: 'Không kết nối được đến nhà cung cấp model, trên mọi tuyến.',
      cure: 'Thử lại, hoặc dùng model khác. Không có khoản nào bị trừ.',
    },
  },
  upstream_error: {
    en: {
      title: 'The vendor failed',
      cause: 'The vendor of the model answered with a fault of its own.',
      cure: 'Try again, or use another model.',
    },
    vi: {
      title: 'Nhà cung cấp gặp lỗi',
      cause: 'Nhà cung cấp model trả về lỗi của chính họ.',
      cure: 'Thử lại, hoặc dùng model khác.',
    },
  },
  upstream_refused: {
    en: {
      title: 'The vendor refused the request',
      cause: 'The vendor refused it and gave no reason that can be passed on.',
      cure: 'Try a simpler request. If it comes again, send support the `request_id`.',
    },
    vi: {
      title: 'Nhà cung cấp từ chối yêu cầu',
      cause: 'Nhà cung cấp từ chối mà không nêu lý do có thể chuyển lại.',
      cure: 'Thử một yêu cầu đơn giản hơn. Nếu vẫn vậy, gửi `request_id` cho bộ phận hỗ trợ.',
    },
  },
  content_refused: {
    en: {
      title: "The vendor's moderation refused the content",
      cause: 'The moderation of the vendor of the model takes the content for something that it does not process.',
      cure: 'Change the content. Sending it again will be refused again.',
    },
    vi: {
      title: 'Nội dung bị nhà cung cấp từ chối',
      cause: 'Bộ kiểm duyệt của nhà cung cấp cho rằng nội dung thuộc loại họ không xử lý.',
      cure: 'Sửa nội dung. Gửi lại y nguyên sẽ lại bị từ chối.',
    },
  },
  upstream_overloaded: {
    en: {
      title: 'The vendor is overloaded',
      cause: 'The vendor of the model has too much to do, on every route of it.',
      cure: 'Try again after `retry-after`, or use another model.',
    },
    vi: {
      title: 'Nhà cung cấp quá tải',
      cause: 'Nhà cung cấp model đang quá tải trên mọi tuyến.',
      cure: 'Thử lại sau `retry-after`, hoặc dùng model khác.',
    },
  },
  upstream_unavailable: {
    en: {
      title: 'The model is not available',
      cause: 'Its vendor has failed so often that no requests are sent there for a while.',
      cure: 'Use another model, or try again after `retry-after`. The status page shows when it is back.',
    },
    vi: {
      title: 'Model tạm thời không dùng được',
      cause: 'Nhà cung cấp lỗi nhiều lần nên tạm thời không gửi yêu cầu đến đó.',
      cure: 'Dùng model khác, hoặc thử lại sau `retry-after`. Trang trạng thái cho biết khi nào có lại.',
    },
  },
  upstream_timeout: {
    en: {
      title: 'The vendor did not answer in time',
      cause: 'The vendor took the request and sent nothing for too long.',
      cure: 'Try again with a stream: it begins to answer earlier.',
    },
    vi: {
      title: 'Nhà cung cấp không trả lời kịp',
      cause: 'Nhà cung cấp nhận yêu cầu nhưng không gửi gì quá lâu.',
      cure: 'Thử lại với stream: câu trả lời bắt đầu sớm hơn.',
    },
  },
  upstream_cut: {
    en: {
      title: 'The answer broke off',
      cause: 'The vendor closed the connection before the answer was complete.',
      cure: 'Try again. What had arrived is charged; Activity shows how much.',
    },
    vi: {
      title: 'Câu trả lời bị ngắt',
      cause: 'Nhà cung cấp đóng kết nối trước khi trả lời xong.',
      cure: 'Thử lại. Phần đã nhận được tính tiền; trang Hoạt động cho biết bao nhiêu.',
    },
  },
  upstream_stalled: {
    en: {
      title: 'The answer stood still',
      cause: 'The vendor stopped sending in the middle of the answer.',
      cure: 'Try again. What had arrived is charged; Activity shows how much.',
    },
    vi: {
      title: 'Câu trả lời bị đứng',
      cause: 'Nhà cung cấp ngừng gửi giữa chừng.',
      cure: 'Thử lại. Phần đã nhận được tính tiền; trang Hoạt động cho biết bao nhiêu.',
    },
  },
  answer_too_large: {
    en: {
      title: 'The answer is too large',
      cause:
        'An answer that is not streamed may have 64 MB. The vendor has computed this one, so that it is charged as far as it arrived.',
      cure: 'Ask for a stream, for fewer answers or inputs at once, or for `encoding_format: base64` of embeddings.',
    },
    vi: {
      title: 'Câu trả lời quá lớn',
      cause:
        'Câu trả lời không stream có tối đa 64 MB. Nhà cung cấp đã tính toán xong nên phần đã nhận được tính tiền.',
      cure: 'Dùng stream, yêu cầu ít câu trả lời hoặc đầu vào hơn mỗi lần, hoặc `encoding_format: base64` cho embedding.',
    },
  },
};
