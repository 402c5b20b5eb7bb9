import type { Locale } from '../format.ts';

/** Texts of usage by session, user, tag and project, apart from the others: only the pages that show them load them. */
export interface AttributionTexts {
  title: string;
  lead: string;
  kinds: Record<'SESSION' | 'USER' | 'TAG', string>;
  orders: Record<'COST' | 'TIME', string>;
  kind: string;
  order: string;
  last: string;
  empty: string;
  emptyText: string;
  digests: string;
  settings: string;
  onlySession: string;
  allSessions: string;
  session: string;
  user: string;
  tags: string;
  project: string;
  byProject: string;
  noProject: string;
  maker: string;
  byMaker: string;
  noMaker: string;
  forgotten: string;
  stored: string;
  storedText: string;
  modes: Record<'OFF' | 'DIGESTS' | 'TAGS' | 'PLAIN', { name: string; text: string }>;
  storedNow: string;
  statusLine: string;
  statusLineText: string;
}

export const attributionTexts: Record<Locale, AttributionTexts> = {
  en: {
    title: 'By session, user or tag',
    lead: 'What coding agents and programs say of themselves. A request with several tags counts for each; one that says nothing is in no row.',
    kinds: { SESSION: 'Session', USER: 'User', TAG: 'Tag' },
    orders: { COST: 'most expensive first', TIME: 'last used first' },
    kind: 'Added up by',
    order: 'Order',
    last: 'Last request',
    empty: 'Nothing in this time',
    emptyText: 'Send the header x-steyg-tags: team=search, or use a coding agent that names its session.',
    digests:
      'Names beginning with ~ are digests: they tell one from another and cannot be read. ~other is what an hour had beyond a thousand names.',
    settings: 'What is stored',
    onlySession: 'Only session {session}',
    allSessions: 'Show all',
    session: 'Session',
    user: 'User',
    tags: 'Tags',
    project: 'Project',
    byProject: 'by project',
    noProject: 'No project',
    maker: 'Member',
    byMaker: 'by member',
    noMaker: 'Nobody known',
    forgotten: 'a deleted person',
    stored: 'Sessions, users and tags',
    storedText:
      'Programs can say which session, user and tags a request belongs to. We keep that beside the request’s cost (at most 256 characters each, never prompts or answers) and delete it after a while. You choose how:',
    modes: {
      OFF: { name: 'Nothing', text: 'Requests are only known by their key.' },
      TAGS: {
        name: 'Tags as sent, the rest as digests',
        text: 'Tags of the header x-steyg-tags are labels that you choose, such as team=search: you read them here and in exports. Sessions and users are digests, which nobody can read.',
      },
      DIGESTS: {
        name: 'Digests',
        text: 'Keyed digests, which nobody can read or compare with other accounts. Names of tags stay readable, their values do not. Programs that know an id can ask what it cost.',
      },
      PLAIN: {
        name: 'As sent',
        text: 'Sessions, users and values of tags as your programs send them, readable for everybody in this account and for the operator: also through GET /v1/usage, with a key of a project for that project alone, with any other key for the whole account. Do not put personal data into them that you may not store.',
      },
    },
    storedNow: 'Applies to requests from now on; what is already stored stays as it is.',
    statusLine: 'Cost in the status line',
    statusLineText: 'Shows below the prompt what the session has cost so far: a script, and the settings that name it.',
  },
  vi: {
    title: 'Theo phiên, người dùng hoặc tag',
    lead: 'Những gì coding agent và chương trình tự khai. Yêu cầu có nhiều tag được tính cho từng tag; yêu cầu không khai gì không nằm ở dòng nào.',
    kinds: { SESSION: 'Phiên', USER: 'Người dùng', TAG: 'Tag' },
    orders: { COST: 'tốn nhất trước', TIME: 'mới dùng trước' },
    kind: 'Cộng theo',
    order: 'Thứ tự',
    last: 'Yêu cầu cuối',
    empty: 'Không có gì trong thời gian này',
    emptyText: 'Gửi header x-steyg-tags: team=search, hoặc dùng coding agent có khai phiên của nó.',
    digests:
      'Tên bắt đầu bằng ~ là mã băm: phân biệt được với nhau nhưng không đọc được. ~other là phần vượt quá một nghìn tên trong một giờ.',
    settings: 'Những gì được lưu',
    onlySession: 'Chỉ phiên {session}',
    allSessions: 'Hiện tất cả',
    session: 'Phiên',
    user: 'Người dùng',
    tags: 'Tag',
    project: 'Dự án',
    byProject: 'theo dự án',
    noProject: 'Không thuộc dự án',
    maker: 'Thành viên',
    byMaker: 'theo thành viên',
    noMaker: 'Không rõ ai',
    forgotten: 'người đã bị xóa',
    stored: 'Phiên, người dùng và tag',
    storedText:
      'Chương trình có thể khai yêu cầu thuộc phiên, người dùng và tag nào. Thông tin được lưu cạnh chi phí của yêu cầu (mỗi mục tối đa 256 ký tự, không bao giờ gồm câu hỏi hay câu trả lời) và bị xóa sau một thời gian. Bạn chọn cách lưu:',
    modes: {
      OFF: { name: 'Không lưu', text: 'Yêu cầu chỉ được biết qua key của nó.' },
      TAGS: {
        name: 'Tag như đã gửi, còn lại là mã băm',
        text: 'Tag trong header x-steyg-tags là nhãn do bạn chọn, ví dụ team=search: bạn đọc được ở đây và trong tệp xuất. Phiên và người dùng là mã băm, không ai đọc được.',
      },
      DIGESTS: {
        name: 'Mã băm',
        text: 'Mã băm có khóa, không ai đọc được hay so sánh với tài khoản khác. Tên tag vẫn đọc được, giá trị thì không. Chương trình biết mã gốc có thể hỏi chi phí của nó.',
      },
      PLAIN: {
        name: 'Nguyên văn',
        text: 'Phiên, người dùng và giá trị tag đúng như chương trình gửi, mọi người trong tài khoản này và bên vận hành đều đọc được: kể cả qua GET /v1/usage: key thuộc một dự án chỉ đọc được của dự án đó, key khác đọc được của cả tài khoản. Đừng đưa vào dữ liệu cá nhân mà bạn không được phép lưu.',
      },
    },
    storedNow: 'Áp dụng cho yêu cầu từ bây giờ; những gì đã lưu giữ nguyên.',
    statusLine: 'Chi phí trên dòng trạng thái',
    statusLineText: 'Hiện dưới ô nhập chi phí của phiên đến lúc này: một script, và cài đặt gọi nó.',
  },
};
