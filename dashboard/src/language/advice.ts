import type { Locale } from '../format.ts';

/**
 * Vietnamese translations of the SDK's notes on tools, which are English, for terminals too. Code, names of tools and
 * of their menus stay in their original form, so that people find them.
 */
const sentences: Readonly<Record<string, string>> = {
  'If you are signed in to the vendor, run /logout inside Claude Code: with two sources of credentials it warns, and may use the other one.':
    'Nếu bạn đang đăng nhập tài khoản của hãng, hãy chạy /logout trong Claude Code: có hai nguồn xác thực thì công cụ cảnh báo và có thể dùng nguồn kia.',
  'Start Claude Code again and check with /status that the base URL and the auth token are these.':
    'Khởi động lại Claude Code rồi dùng /status để kiểm tra base URL và auth token đúng như ở đây.',
  'Every alias is set, also those you do not pick yourself: one that is not makes Claude Code ask for the vendor’s default model, which is refused with 400 if the catalog does not have it.':
    'Mọi alias đều được gán, kể cả những alias bạn không tự chọn: alias bị bỏ trống khiến Claude Code gọi model mặc định của hãng và bị từ chối với mã 400 nếu danh mục không có model đó.',
  'A value in a settings file wins over the same variable of the shell. Variables of one shell reach neither background agents nor other terminals, so the file is the better place.':
    'Giá trị trong tệp cài đặt thắng biến cùng tên của shell. Biến của một shell không đến được agent chạy nền hay cửa sổ dòng lệnh khác, nên đặt trong tệp là tốt hơn.',
  'Unset ANTHROPIC_API_KEY: it is a second source of credentials.':
    'Hãy bỏ biến ANTHROPIC_API_KEY: đó là nguồn xác thực thứ hai.',
  'At an address that is not the vendor’s, remote control and voice input are off, and tool search is off unless you turn it on (ENABLE_TOOL_SEARCH=true).':
    'Với địa chỉ không phải của hãng, điều khiển từ xa và nhập bằng giọng nói bị tắt, tìm kiếm công cụ cũng tắt trừ khi bạn bật lên (ENABLE_TOOL_SEARCH=true).',
  '.claude/settings.json is committed and holds no key. The key is in .claude/settings.local.json, which must be git-ignored.':
    '.claude/settings.json được commit và không chứa key. Key nằm trong .claude/settings.local.json, tệp này phải có trong .gitignore.',
  'The weak model is set on purpose: commit messages and summaries are made with it.':
    'weak-model được đặt có chủ đích: thông điệp commit và bản tóm tắt được viết bằng model này.',
  'Warnings that a model is unknown are about Aider’s own price list and do no harm.':
    'Cảnh báo không biết model chỉ liên quan đến bảng giá riêng của Aider và không gây hại.',
  '.aider.conf.yml may be committed; .env holds the key and must be git-ignored.':
    '.aider.conf.yml có thể commit; .env chứa key và phải có trong .gitignore.',
  'In the editor: open Cline’s settings and choose the API provider "OpenAI Compatible".':
    'Trong trình soạn thảo: mở cài đặt của Cline và chọn nhà cung cấp API "OpenAI Compatible".',
  'API key: the Steyg key.': 'API key: key Steyg.',
  'Do not choose the provider "Anthropic" with a base address of its own: Cline’s command line refuses that.':
    'Đừng chọn nhà cung cấp "Anthropic" kèm địa chỉ riêng: dòng lệnh của Cline không chấp nhận.',
  'Address and key are constructor parameters on purpose: environment variables would apply to every client of the process, also to those that call another provider.':
    'Địa chỉ và key được truyền cho hàm khởi tạo có chủ đích: biến môi trường sẽ có hiệu lực với mọi client trong tiến trình, kể cả client gọi nhà cung cấp khác.',
  'The variable is OPENAI_BASE_URL where one is wanted; current versions do not read OPENAI_API_BASE.':
    'Nếu cần biến môi trường thì đó là OPENAI_BASE_URL; các phiên bản hiện nay không đọc OPENAI_API_BASE.',
  'This client appends /v1 itself: its base address has none.':
    'Client này tự thêm /v1: địa chỉ gốc của nó không có /v1.',
  'Both providers take the address with /v1, the Anthropic one too, unlike the vendor’s own client.':
    'Cả hai provider đều nhận địa chỉ có /v1, kể cả provider Anthropic, khác với client của chính hãng.',
  'The address has /v1 for ChatOpenAI and none for ChatAnthropic.':
    'Địa chỉ có /v1 với ChatOpenAI và không có với ChatAnthropic.',
  'A JSON answer with "content" (first) or "choices" (second) means that address and key are right.':
    'Câu trả lời JSON có "content" (lệnh đầu) hoặc "choices" (lệnh sau) nghĩa là địa chỉ và key đều đúng.',
  'Codex needs wire_api = "responses"; other values are refused when it starts.':
    'Codex cần wire_api = "responses"; giá trị khác bị từ chối khi khởi động.',
  'The provider of models cannot be set for a project, only in the file in your home directory. A profile that names another provider wins over it.':
    'Không đặt được nhà cung cấp model riêng cho một dự án, chỉ đặt được trong tệp ở thư mục cá nhân của bạn. Profile nêu nhà cung cấp khác sẽ thắng thiết lập này.',
  'Codex offers the model a search that its vendor carries out and charges for; where the catalog has no price for it, it is left out.':
    'Codex đưa cho model một công cụ tìm kiếm do hãng thực hiện và tính tiền; danh mục không có giá cho việc đó thì công cụ này được bỏ ra.',
  'What is left and what today cost, below every answer: steyg login claude-code sets it up.':
    'Số dư và chi phí hôm nay dưới mỗi câu trả lời: steyg login claude-code sẽ thiết lập.',
  'A model that was chosen in Crush itself is kept elsewhere, and wins over the settings.':
    'Model đã chọn ngay trong Crush được lưu ở chỗ khác và thắng tệp cài đặt.',
  'GOOSE_PROVIDER and GOOSE_MODEL in the environment win over the file.':
    'GOOSE_PROVIDER và GOOSE_MODEL trong môi trường thắng tệp này.',
  'Put the three variables into the profile of your shell, so that every terminal has them.':
    'Đặt ba biến này vào tệp cấu hình của shell để mọi cửa sổ dòng lệnh đều có.',
  'COPILOT_OFFLINE=true keeps it from asking GitHub for anything else.':
    'COPILOT_OFFLINE=true khiến công cụ không hỏi GitHub điều gì khác.',
  'Codex warns that it does not know the model; where it is installed, `steyg connect codex` tells it.':
    'Codex cảnh báo không biết model này; trên máy có cài Codex, `steyg connect codex` sẽ khai báo cho nó.',
  'supports_websockets = true in the provider keeps one connection for a session, on which only what is new is sent.':
    'supports_websockets = true trong provider giữ một kết nối cho cả phiên và chỉ gửi phần mới.',
  'Open the command palette and run "Chat: Manage Language Models", then Add Models, Custom Endpoint.':
    'Mở bảng lệnh và chạy "Chat: Manage Language Models", rồi chọn Add Models, Custom Endpoint.',
  'Group name: Steyg. API key: the Steyg key; VS Code keeps it in its own secret store.':
    'Tên nhóm: Steyg. API key: key Steyg; VS Code giữ key trong kho bí mật riêng.',
  'VS Code opens chatLanguageModels.json: put these models into the group, save, and choose one in the model picker of the chat.':
    'VS Code mở chatLanguageModels.json: đặt các model này vào nhóm, lưu lại, rồi chọn một model trong khung trò chuyện.',
  'Custom endpoints need VS Code 1.122 or newer, with GitHub Copilot Chat switched on.':
    'Custom endpoint cần VS Code 1.122 trở lên và GitHub Copilot Chat đang bật.',
  'Each model names its whole address and the protocol that it is called by; the gateway takes all three at the same key.':
    'Mỗi model nêu trọn địa chỉ và giao thức được dùng; cổng nhận cả ba giao thức với cùng một key.',
  'Choose the model in Continue’s picker; it reads the file again when it is saved.':
    'Chọn model trong danh sách của Continue; tệp được đọc lại mỗi khi lưu.',
  'A config.json beside config.yaml is ignored.': 'config.json nằm cạnh config.yaml sẽ bị bỏ qua.',
  'Open Cursor Settings, Models.': 'Mở Cursor Settings, Models.',
  'API Keys, OpenAI API Key: the Steyg key.': 'API Keys, OpenAI API Key: key Steyg.',
  'Switch off the models that are not of Steyg while the override is on, and press Verify.':
    'Tắt các model không phải của Steyg trong khi ghi đè đang bật, rồi bấm Verify.',
  'The prefix steyg/ keeps the ids apart from Cursor’s own: it sends names it knows to their vendors, whatever the override says. The gateway takes the prefix off.':
    'Tiền tố steyg/ giúp phân biệt với các mã của riêng Cursor: những tên nó đã biết luôn được gửi tới hãng, bất kể ghi đè. Cổng sẽ bỏ tiền tố này.',
  'The override holds for every model of the OpenAI kind at once; tab completion stays with Cursor’s own models.':
    'Ghi đè có hiệu lực cho mọi model kiểu OpenAI cùng lúc; tự hoàn thành bằng phím Tab vẫn dùng model của Cursor.',
  'Cursor’s servers make the calls, so the address has to be reachable from the internet.':
    'Máy chủ của Cursor thực hiện cuộc gọi, nên địa chỉ phải truy cập được từ internet.',
  'Put STEYG_API_KEY into the profile of your shell, so that every terminal has it.':
    'Đặt STEYG_API_KEY vào tệp cấu hình của shell để mọi cửa sổ dòng lệnh đều có.',
  'The ids carry the prefix steyg/, so that they do not collide with the models that Qwen Code brings along.':
    'Các mã có tiền tố steyg/ để không trùng với những model có sẵn của Qwen Code.',
  '.qwen/.env holds the key and must be git-ignored.': '.qwen/.env chứa key và phải có trong .gitignore.',
  'Either enter the key in Zed (command "agent: open settings", provider steyg), which keeps it in the system\'s keychain, or start Zed from a terminal that has STEYG_API_KEY.':
    'Nhập key trong Zed (lệnh "agent: open settings", nhà cung cấp steyg), key được giữ trong keychain của hệ thống; hoặc khởi động Zed từ cửa sổ dòng lệnh có STEYG_API_KEY.',
  'Zed names the variable after the provider, so the provider has to be called steyg.':
    'Zed đặt tên biến theo nhà cung cấp, nên nhà cung cấp phải có tên là steyg.',
  'Set images to true for models that take them.': 'Đặt images thành true cho các model nhận hình ảnh.',
};

/** Sentences with a value, recognised by the text before it. */
const patterns: readonly (readonly [RegExp, string])[] = [
  [/^(Base URL: .+)$/, '$1'],
  [/^On Windows the file is (.+)$/, 'Trên Windows, tệp là $1'],
  [
    /^Put STEYG_API_KEY into the profile of your shell, so that every terminal has it, and start (.+) again\.$/,
    'Đặt STEYG_API_KEY vào tệp cấu hình của shell để mọi cửa sổ dòng lệnh đều có, rồi khởi động lại $1.',
  ],
  [
    /^small_model is set on purpose: titles are made with it, and (.+)’s own default is not in the catalog\.$/,
    'small_model được đặt có chủ đích: tiêu đề được tạo bằng model này, còn mặc định của $1 không có trong danh mục.',
  ],
  [
    /^The part before the slash names the provider in (.+)’s picker; the catalog id is sent without it\.$/,
    'Phần trước dấu gạch chéo là tên nhà cung cấp trong danh sách của $1; id của model được gửi đi không kèm phần đó.',
  ],
  [/^(Model ID: .+)$/, '$1'],
  [/^Under the model's configuration, context window size: (.+)$/, 'Trong cấu hình của model, context window size: $1'],
  [/^Override OpenAI Base URL: on, (.+)$/, 'Override OpenAI Base URL: bật, $1'],
  [/^Add model: (.+)$/, 'Add model: $1'],
  [/^(.+) is not: Cursor cannot reach it\.$/, '$1 thì không: Cursor không truy cập được.'],
  [
    /^Choose the model with \/model; STEYG_API_KEY comes from (.+)\/\.env or from the shell\.$/,
    'Chọn model bằng /model; STEYG_API_KEY lấy từ $1/.env hoặc từ shell.',
  ],
];

/** A sentence of the SDK in the language of the page; unknown ones stay as they are. */
export function adviceIn(locale: Locale, sentence: string): string {
  if (locale === 'en') return sentence;
  if (Object.hasOwn(sentences, sentence)) return sentences[sentence] ?? sentence;
  const found = patterns.find(([pattern]) => pattern.test(sentence));
  return found === undefined ? sentence : sentence.replace(found[0], found[1]);
}
