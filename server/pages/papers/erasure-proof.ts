import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { ErasedKind, Erasure, ErasureProof } from '../../accounts/erasure.ts';
import type { Seller } from '../../plans/papers/parties.ts';
import { chooseLocale, type Locale, momentText } from '../../shared/page.ts';
import type { LinkLimits } from '../link-limits.ts';
import { createSignedLinks, deadLink, type LinkBase, linkHeaders, type SignedLinks } from '../signed-links.ts';
import type { Paper } from './paper.ts';
import type { PdfPress } from './pdf.ts';
import { sellerLines } from './receipt-words.ts';
import { sendPdf } from './receipts.ts';

/**
 * The proof of an erasure as PDF: what was erased, when, by ids, and what the law has the service keep. Its link opens without an
 * account, because there is none any more: it says nothing of anybody but ids and counts.
 */

/** By account. */
export type ErasureLinks = SignedLinks<string>;

const path = '/downloads/erasure';
/** Nobody can sign in to fetch it again. */
const validMs = 90 * 86_400_000;

export function createErasureLinks(base: LinkBase): ErasureLinks {
  return createSignedLinks(base, { purpose: 'erasure', path, validMs, contents: z.uuid() });
}

export interface ErasureProofParts {
  links: ErasureLinks;
  limits: LinkLimits;
  press: Pick<PdfPress, 'draw'>;
  erasure: Pick<Erasure, 'proof'>;
  seller: () => Promise<Seller>;
}

export function registerErasureProofs(app: FastifyInstance, parts: ErasureProofParts): void {
  const { links, limits, press, erasure, seller } = parts;
  app.get<{ Querystring: { grant?: unknown; lang?: unknown } }>(path, async (request, reply) => {
    const refused = limits.refuse(request, reply);
    if (refused !== null) return refused;
    const opened = links.open(request.query.grant);
    const proof = opened === null ? null : await erasure.proof(opened.contents);
    if (proof === null) return reply.code(403).headers(linkHeaders).type('text/plain; charset=utf-8').send(deadLink);
    const locale = chooseLocale(request.query.lang, request.headers['accept-language']);
    reply.headers({ ...linkHeaders, 'content-language': locale });
    const paper = erasurePaper(proof, await seller(), locale);
    return sendPdf(reply, press, { name: `erasure-${proof.accountId}`, paper });
  });
}

interface Words {
  title: string;
  done: string;
  account: string;
  when: string;
  by: string;
  owner: string;
  operator: string;
  controller: string;
  what: string;
  count: string;
  kinds: Record<ErasedKind, string>;
  ids: string;
  id: string;
  person: string;
  key: string;
  kept: string;
  keptWhat: string;
  why: string;
  keptRows: readonly (readonly [string, string])[];
  notes: readonly string[];
}

const words: Record<Locale, Words> = {
  en: {
    title: 'Confirmation of erasure',
    done: 'Erased',
    account: 'Account (id)',
    when: 'Erased on',
    by: 'Asked for by',
    owner: 'an owner of the account',
    operator: 'the operator of the service',
    controller: 'Controller of the data',
    what: 'What was erased',
    count: 'Number',
    kinds: {
      people: 'People: names, addresses, passwords, sign-ins',
      keys: 'API keys: names and permitted networks; the keys themselves ended',
      projects: 'Projects: names',
      tokens: 'Access tokens: names; the tokens themselves ended',
      invitations: 'Invitations',
      company: 'Company that the account bought for',
      settings: 'Settings of notices',
      channels: 'Channels of notices: addresses and secrets',
      webhooks: 'Webhooks: addresses and secrets',
      deliveries: 'Deliveries to webhooks',
      notices: 'Notices',
      attributions: 'Whom requests were for: sessions, tags, end users',
      idempotency: 'Clients’ idempotency keys',
      links: 'Links and codes of mails that were not used',
      facts: 'Entries of the audit log: what they said of people',
    },
    ids: 'Ids, by which nobody is found any more',
    id: 'Id',
    person: 'Person',
    key: 'API key',
    kept: 'What is kept, without names of people, as accounting law requires',
    keptWhat: 'What',
    why: 'Why',
    keptRows: [
      ['Time, model, tokens and price of each request, by ids', 'books of account'],
      ['Orders, bank transfers, receipts and e-invoices with the parties that they name', 'books of account, tax law'],
      ['That something was done, when, and by which id', 'proof of proper bookkeeping'],
    ],
    notes: [
      'Texts of requests and answers were never stored.',
      'Mails that were sent, webhooks that were delivered and exports that were downloaded are elsewhere. Backups keep what they have until they expire.',
    ],
  },
  vi: {
    title: 'Xác nhận xóa dữ liệu',
    done: 'Đã xóa',
    account: 'Tài khoản (ID)',
    when: 'Thời điểm xóa',
    by: 'Theo yêu cầu của',
    owner: 'một chủ sở hữu tài khoản',
    operator: 'đơn vị vận hành dịch vụ',
    controller: 'Bên kiểm soát dữ liệu',
    what: 'Dữ liệu đã xóa',
    count: 'Số lượng',
    kinds: {
      people: 'Người dùng: tên, địa chỉ, mật khẩu, các lần đăng nhập',
      keys: 'API key: tên và mạng được phép; bản thân key đã ngừng hoạt động',
      projects: 'Dự án: tên',
      tokens: 'Access token: tên; bản thân token đã ngừng hoạt động',
      invitations: 'Lời mời',
      company: 'Công ty mà tài khoản mua cho',
      settings: 'Cài đặt thông báo',
      channels: 'Kênh thông báo: địa chỉ và khóa bí mật',
      webhooks: 'Webhook: địa chỉ và khóa bí mật',
      deliveries: 'Các lần gửi đến webhook',
      notices: 'Thông báo',
      attributions: 'Yêu cầu được gửi cho ai: phiên, nhãn, người dùng cuối',
      idempotency: 'Khóa chống lặp của chương trình gọi',
      links: 'Liên kết và mã trong thư chưa dùng',
      facts: 'Mục nhật ký: nội dung nói về con người',
    },
    ids: 'Các ID, không còn dẫn đến ai',
    id: 'ID',
    person: 'Người dùng',
    key: 'API key',
    kept: 'Dữ liệu được giữ lại, không có tên người, theo luật kế toán',
    keptWhat: 'Dữ liệu',
    why: 'Lý do',
    keptRows: [
      ['Thời điểm, model, số token và giá của từng yêu cầu, theo ID', 'sổ kế toán'],
      ['Đơn hàng, giao dịch ngân hàng, biên nhận và hóa đơn điện tử cùng các bên được nêu', 'sổ kế toán, luật thuế'],
      ['Việc đã làm, lúc nào và bởi ID nào', 'chứng minh sổ sách đúng đắn'],
    ],
    notes: [
      'Nội dung yêu cầu và câu trả lời chưa bao giờ được lưu.',
      'Thư đã gửi, webhook đã giao và bản xuất đã tải về nằm ở nơi khác. Bản sao lưu giữ dữ liệu cho đến khi hết hạn.',
    ],
  },
};

/** Ids beyond are counted: the paper stays one that people read. */
const maxIds = 200;

function erasurePaper(proof: ErasureProof, seller: Seller, locale: Locale): Paper {
  const { accountId, erasedAt, byOperator, counts, people, keys } = proof;
  const w = words[locale];
  const ids = [...people.map((id) => [w.person, id]), ...keys.map((id) => [w.key, id])];
  const kinds = Object.keys(w.kinds) as ErasedKind[];
  return {
    language: locale,
    title: w.title,
    state: w.done,
    warning: '',
    facts: [
      { label: w.account, lines: [accountId] },
      { label: w.when, lines: [momentText(erasedAt, locale, 'Vietnam'), erasedAt.toISOString()] },
      { label: w.controller, lines: sellerLines(seller, 'Steyg', locale) },
      { label: w.by, lines: [byOperator ? w.operator : w.owner] },
    ],
    tables: [
      {
        title: w.what,
        columns: [
          { head: w.what, width: 5 },
          { head: w.count, width: 1, isFigure: true },
        ],
        rows: kinds.map((kind) => [w.kinds[kind], String(counts[kind] ?? 0)]),
        sums: [],
      },
      ...(ids.length === 0
        ? []
        : [
            {
              title: w.ids,
              columns: [
                { head: w.what, width: 1 },
                { head: w.id, width: 3 },
              ],
              rows: [...ids.slice(0, maxIds), ...(ids.length > maxIds ? [['…', `+ ${ids.length - maxIds}`]] : [])],
              sums: [],
            },
          ]),
      {
        title: w.kept,
        columns: [
          { head: w.keptWhat, width: 3 },
          { head: w.why, width: 2 },
        ],
        rows: w.keptRows,
        sums: [],
      },
    ],
    notes: w.notes,
    foot: [seller.name, seller.supportEmail, seller.supportPhone].filter((text) => text !== '').join(' · '),
    at: erasedAt,
  };
}
