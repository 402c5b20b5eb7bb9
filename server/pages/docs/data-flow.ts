import type { Pool } from 'pg';
import type { RetentionDays } from '../../accounts/retention.ts';
import type { RecipientPlace } from '../../catalog/profiles/profile.ts';
import { profileOf } from '../../catalog/profiles/profiles.ts';
import { escapeText, type Locale } from '../../shared/page.ts';
import { inline, table } from './docs-page.ts';

/**
 * `/docs/data-flow`: who receives what a customer sends, in which country, and what is kept here for how long, made of the catalog
 * and of the settings. Vietnam's law on personal data (91/2025/QH15, in force since 1 January 2026, with Decree 356/2025/NĐ-CP)
 * has whoever sends personal data abroad name receivers, countries and purposes, and file an assessment (Decree, article 18). The
 * page states facts; whether they are enough is for the operator's lawyer.
 */

/** What is known of the settings, asked at each reading. */
export interface DataFlowSettings {
  retention: RetentionDays;
  /** Where e-invoices are made; null: none are. */
  einvoices: 'SePay' | null;
  /** Who reports transfers. */
  transfers: readonly string[];
  /** Whether mail leaves through a server. */
  mail: boolean;
  /** Where people may sign in. */
  signIn: readonly string[];
}

/** One receiver of requests, of all upstreams that lead to it in a country. */
interface RequestsReceiver {
  /** Null: the operator has not said. */
  company: string | null;
  /** ISO 3166, as the operator says; null: the operator has not said, and `place` is what the receiver's page says. */
  country: string | null;
  place: RecipientPlace | null;
  /** The receiver's own page on how long it keeps what it receives; null: none is known. */
  kept: { page: string; read: boolean } | null;
  passesOn: boolean;
  /** The built-in simulator: nothing leaves. */
  simulated: boolean;
  models: readonly string[];
}

export interface DataFlow extends DataFlowSettings {
  receivers: readonly RequestsReceiver[];
}

export async function readDataFlow(pool: Pick<Pool, 'query'>, settings: DataFlowSettings): Promise<DataFlow> {
  const { rows } = await pool.query<{
    profile: string | null;
    recipient: string | null;
    country: string | null;
    simulated: boolean;
    models: string[];
  }>(
    `SELECT u.profile, u.recipient, u.country, u.simulated, array_agg(DISTINCT m.id) AS models
     FROM upstream u JOIN route r ON r.upstream_id = u.id AND r.enabled JOIN model m ON m.id = r.model_id AND m.enabled
     WHERE u.enabled GROUP BY u.id`,
  );
  const receivers = rows.map((row): RequestsReceiver => {
    const { simulated, models } = row;
    if (simulated) return { company: null, country: null, place: null, kept: null, passesOn: false, simulated, models };
    const known = profileOf(row.profile)?.recipient ?? null;
    // What the profile says is of its vendor, and of no one whom the operator names instead.
    const own = row.recipient !== null;
    return {
      company: row.recipient ?? known?.company ?? null,
      country: row.country,
      place: own ? null : (known?.place ?? null),
      kept: own ? null : (known?.kept ?? null),
      passesOn: !own && known?.passesOn === true,
      simulated,
      models,
    };
  });
  const joined = Map.groupBy(receivers, ({ company, country, place, simulated }) =>
    JSON.stringify([company, country, place, simulated]),
  );
  const merged = [...joined.values()].flatMap((same) => {
    const [first] = same;
    return first === undefined
      ? []
      : [{ ...first, models: [...new Set(same.flatMap(({ models }) => models))].toSorted() }];
  });
  return {
    ...settings,
    receivers: merged.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)),
  };
}

/** By names and countries; who is not named comes behind, the simulator last. */
const nameOf = ({ company, country, simulated }: RequestsReceiver): string =>
  `${simulated ? 2 : company === null ? 1 : 0} ${company ?? ''} ${country ?? ''}`;

interface Words {
  title: string;
  lead: string;
  requests: string;
  requestsLead: string;
  heads: readonly [string, string, string, string];
  ownPage: string;
  here: string;
  unsaid: string;
  anywhere: string;
  byRegion: string;
  unread: string;
  reported: (country: string) => string;
  pageUnread: string;
  askLawyer: string;
  passesOn: string;
  sent: string;
  none: string;
  others: string;
  otherHeads: readonly [string, string];
  transfers: (names: string) => readonly [string, string];
  einvoices: (name: string) => readonly [string, string];
  mail: readonly [string, string];
  signIn: (names: string) => readonly [string, string];
  chosen: readonly [string, string];
  kept: string;
  keptHeads: readonly [string, string];
  rows: (days: RetentionDays) => readonly (readonly [string, string])[];
  rights: string;
  rightsText: readonly string[];
}

const words: Record<Locale, Words> = {
  en: {
    title: 'Data flow',
    lead: 'Who receives what you send, in which country, and what is kept here for how long. Made from the catalog and the settings of this service as they are now.',
    requests: 'Requests and answers',
    requestsLead:
      'A request goes to a receiver of the model that it names, and to another receiver of the same model if the first one fails. Nobody else receives it.',
    heads: ['Receiver', 'Country', 'Models', 'How long it keeps what it receives'],
    ownPage: 'the receiver’s own page',
    here: 'This service itself (simulated models)',
    unsaid: 'not stated by the operator',
    anywhere: 'any country in which the receiver has data centres, unless the operator chose a region',
    byRegion: 'the region, or group of regions, that the operator chose, which is not stated',
    unread: 'not checked: the receiver’s page could not be opened',
    reported: (country) => `${country}, as others report; not checked: the receiver’s page could not be opened`,
    pageUnread: 'the receiver’s own page, which could not be opened',
    askLawyer:
      'What receivers say was read in public copies of their pages on 28 November 2026. Where a row says that a page could not be opened, nothing was checked: a lawyer must, before anybody relies on it.',
    passesOn: 'It passes requests on to other companies, which its page names.',
    sent: 'What is sent: the request as you make it, with its texts, pictures, files and tools, and a pseudonym of the end user if you name one. Your key, your name, your e-mail address and your network address stay here.',
    none: 'No models are on sale.',
    others: 'Everything else',
    otherHeads: ['Receiver', 'What it receives'],
    transfers: (names) => [
      names,
      'reports bank transfers to this service: amounts, memos and payers’ names, as the bank tells them',
    ],
    einvoices: (name) => [
      `${name}, and through it the tax office of Vietnam`,
      'for each paid order: name, e-mail address, company with tax code and address, plan and price',
    ],
    mail: ['The operator’s mail server', 'mails to you: your address, and what the mail says'],
    signIn: (names) => [names, 'if you sign in with it: that you did so here'],
    chosen: ['Receivers that you choose (webhooks, Telegram, Slack, mail)', 'the notices that you ask for'],
    kept: 'What is kept here',
    keptHeads: ['What', 'How long'],
    rows: ({ sessionDays, auditDays, attributionDays }) => [
      ['Texts, pictures and files of requests and answers', 'not at all: they are in memory while a request runs'],
      [
        'For each request: time, key, model, tokens, prices, how it ended',
        'as long as books of account must be kept (in Vietnam ten years)',
      ],
      [
        'Orders, receipts, e-invoices with their XML, bank transfers, the company that you name',
        'as long as books of account must be kept',
      ],
      ['Sessions, tags and end users that requests name, in the form that you chose', `${attributionDays} days`],
      ['Which lines a batch has, and how they ended', '30 days after its settlement'],
      ['Name, e-mail address, password (as a hash), settings, names of keys', 'until you erase the account'],
      ['Sign-ins: network address and browser', `${sessionDays} days after the last use`],
      ['Who changed what', `${auditDays} days`],
    ],
    rights: 'What you can do',
    rightsText: [
      'Settings, your data: download everything that is stored about your account, or erase it. An erasure is confirmed by a PDF that says what was erased and what the law has us keep.',
      'What a receiver has been sent is subject to the receiver’s own rules. Choose models by their receivers, or limit a key to some models.',
      'For people in Vietnam, a receiver in another country means that personal data in a request leaves Vietnam (Law 91/2025/QH15 on personal data, Decree 356/2025/NĐ-CP). Whoever puts personal data of others into requests answers for its basis.',
    ],
  },
  vi: {
    title: 'Luồng dữ liệu',
    lead: 'Ai nhận những gì bạn gửi, ở nước nào, và dịch vụ lưu những gì trong bao lâu. Trang này lập từ danh mục và cài đặt hiện tại của dịch vụ.',
    requests: 'Yêu cầu và câu trả lời',
    requestsLead:
      'Một yêu cầu được gửi đến bên nhận của model được gọi; nếu bên đó lỗi, đến bên nhận khác của cùng model. Không ai khác nhận được.',
    heads: ['Bên nhận', 'Quốc gia', 'Model', 'Bên nhận lưu trong bao lâu'],
    ownPage: 'trang của bên nhận',
    here: 'Chính dịch vụ này (model mô phỏng)',
    unsaid: 'đơn vị vận hành chưa nêu',
    anywhere: 'bất kỳ nước nào bên nhận có trung tâm dữ liệu, trừ khi đơn vị vận hành đã chọn khu vực',
    byRegion: 'khu vực, hoặc nhóm khu vực, do đơn vị vận hành chọn, chưa được nêu',
    unread: 'chưa kiểm tra: không mở được trang của bên nhận',
    reported: (country) => `${country}, theo nguồn khác; chưa kiểm tra: không mở được trang của bên nhận`,
    pageUnread: 'trang của bên nhận, không mở được',
    askLawyer:
      'Những gì bên nhận công bố được đọc từ bản sao công khai của trang của họ vào ngày 28 tháng 11 năm 2026. Dòng nào ghi không mở được trang thì chưa được kiểm tra: cần một luật sư kiểm tra trước khi dựa vào đó.',
    passesOn: 'Bên này chuyển tiếp yêu cầu cho công ty khác, được nêu trên trang của họ.',
    sent: 'Nội dung gửi đi: yêu cầu đúng như bạn tạo, gồm văn bản, hình ảnh, tệp và công cụ, cùng alias của người dùng cuối nếu bạn nêu. Key, tên, email và địa chỉ mạng của bạn không được gửi đi.',
    none: 'Chưa bán model nào.',
    others: 'Những thứ khác',
    otherHeads: ['Bên nhận', 'Nhận những gì'],
    transfers: (names) => [
      names,
      'báo giao dịch ngân hàng cho dịch vụ: số tiền, nội dung và tên người chuyển, như ngân hàng cung cấp',
    ],
    einvoices: (name) => [
      `${name}, và qua đó là cơ quan thuế`,
      'với mỗi đơn đã thanh toán: tên, email, công ty cùng mã số thuế và địa chỉ, gói và giá',
    ],
    mail: ['Máy chủ thư của đơn vị vận hành', 'thư gửi cho bạn: địa chỉ của bạn và nội dung thư'],
    signIn: (names) => [names, 'nếu bạn đăng nhập bằng tài khoản đó: việc bạn đăng nhập tại đây'],
    chosen: ['Bên nhận do bạn chọn (webhook, Telegram, Slack, email)', 'các thông báo mà bạn yêu cầu'],
    kept: 'Dữ liệu được lưu tại đây',
    keptHeads: ['Dữ liệu', 'Thời gian'],
    rows: ({ sessionDays, auditDays, attributionDays }) => [
      ['Văn bản, hình ảnh và tệp của yêu cầu và câu trả lời', 'không lưu: chỉ ở trong bộ nhớ khi yêu cầu đang chạy'],
      [
        'Với mỗi yêu cầu: thời điểm, key, model, số token, đơn giá, kết quả',
        'theo thời hạn lưu sổ kế toán (ở Việt Nam là mười năm)',
      ],
      [
        'Đơn hàng, biên nhận, hóa đơn điện tử kèm tệp XML, giao dịch ngân hàng, công ty bạn khai',
        'theo thời hạn lưu sổ kế toán',
      ],
      ['Phiên, nhãn và người dùng cuối mà yêu cầu nêu, ở dạng bạn chọn', `${attributionDays} ngày`],
      ['Các dòng của một lô và kết quả từng dòng', '30 ngày sau khi quyết toán'],
      ['Tên, email, mật khẩu (dạng băm), cài đặt, tên các key', 'đến khi bạn xóa tài khoản'],
      ['Các lần đăng nhập: địa chỉ mạng và trình duyệt', `${sessionDays} ngày sau lần dùng cuối`],
      ['Ai đã thay đổi gì', `${auditDays} ngày`],
    ],
    rights: 'Bạn có thể làm gì',
    rightsText: [
      'Cài đặt, dữ liệu của bạn: tải về mọi thứ được lưu về tài khoản, hoặc xóa tài khoản. Việc xóa được xác nhận bằng một tệp PDF ghi rõ những gì đã xóa và những gì pháp luật buộc lưu lại.',
      'Dữ liệu đã gửi cho bên nhận tuân theo quy định của bên đó. Hãy chọn model theo bên nhận, hoặc giới hạn một key trong vài model.',
      'Với người ở Việt Nam, bên nhận ở nước khác nghĩa là dữ liệu cá nhân trong yêu cầu được chuyển ra nước ngoài (Luật Bảo vệ dữ liệu cá nhân 91/2025/QH15, Nghị định 356/2025/NĐ-CP). Ai đưa dữ liệu cá nhân của người khác vào yêu cầu thì chịu trách nhiệm về cơ sở xử lý.',
    ],
  },
};

export function dataFlowPage(flow: DataFlow, locale: Locale): { title: string; body: string } {
  const w = words[locale];
  const [receiver, receives] = w.otherHeads;
  const others = [
    ...(flow.transfers.length === 0 ? [] : [w.transfers(flow.transfers.join(', '))]),
    ...(flow.einvoices === null ? [] : [w.einvoices(flow.einvoices)]),
    ...(flow.mail ? [w.mail] : []),
    ...(flow.signIn.length === 0 ? [] : [w.signIn(flow.signIn.join(', '))]),
    w.chosen,
  ];
  const pairs = (rows: readonly (readonly [string, string])[]) =>
    rows.map(([what, text]) => `<tr><th scope="row">${escapeText(what)}</th><td>${escapeText(text)}</td></tr>`);
  return {
    title: w.title,
    body: `<h1>${w.title}</h1>
<p class="lead">${w.lead}</p>
<h2>${w.requests}</h2>
<p>${w.requestsLead}</p>
<p>${w.sent}</p>
<p>${w.askLawyer}</p>
${
  flow.receivers.length === 0
    ? `<p>${w.none}</p>`
    : table(
        w.requests,
        w.heads,
        flow.receivers.map((each) => receiverRow(each, w, locale)),
      )
}
<h2>${w.others}</h2>
${table(w.others, [receiver, receives], pairs(others))}
<h2>${w.kept}</h2>
${table(w.kept, w.keptHeads, pairs(w.rows(flow.retention)))}
<h2>${w.rights}</h2>
${w.rightsText.map((text) => `<p>${inline(text)}</p>`).join('\n')}`,
  };
}

function receiverRow(each: RequestsReceiver, w: Words, locale: Locale): string {
  const { company, country, place, kept, passesOn, simulated, models } = each;
  const name = simulated ? w.here : (company ?? w.unsaid);
  const said = country === null ? placeText(place, w, locale) : escapeText(countryName(country, locale));
  const link = kept === null ? '–' : linkTo(kept.page, kept.read ? w.ownPage : w.pageUnread);
  const on = passesOn ? `<br><span class="quiet">${w.passesOn}</span>` : '';
  const list = models.map((model) => `<code>${escapeText(model)}</code>`).join(', ');
  return `<tr><th scope="row">${escapeText(name)}${on}</th><td>${simulated ? '–' : said}</td><td>${list}</td><td>${link}</td></tr>`;
}

function linkTo(page: string, text: string): string {
  return `<a href="${escapeText(page)}" rel="noreferrer">${escapeText(text)}</a>`;
}

/** What the receiver's page says of where it processes requests, as HTML. */
function placeText(place: RecipientPlace | null, w: Words, locale: Locale): string {
  if (place === null) return escapeText(w.unsaid);
  switch (place.kind) {
    case 'anywhere':
      return linkTo(place.page, w.anywhere);
    case 'chosen':
      return linkTo(place.page, w.byRegion);
    case 'unread':
      return escapeText(place.reported === undefined ? w.unread : w.reported(countryName(place.reported, locale)));
  }
}

function countryName(code: string, locale: Locale): string {
  return new Intl.DisplayNames([locale], { type: 'region', fallback: 'code' }).of(code) ?? code;
}
