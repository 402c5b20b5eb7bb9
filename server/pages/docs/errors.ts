import { escapeText, type Locale } from '../../shared/page.ts';
import { block, inline, table } from './docs-page.ts';

/** The pages of errors: each at its own address, by its name or by the code that a program sees. */

export interface DocumentedError {
  name: string;
  /** Which API answers with it. */
  api: 'rest' | 'graphql';
  /** HTTP statuses. */
  statuses: readonly number[];
  /** `error.code`, or `extensions.code`; empty: none. */
  codes: readonly string[];
  /** What it says, with figures of an example. In English. */
  sentences: readonly string[];
  /** Whether another try can succeed. */
  isFinal: boolean;
  texts: Readonly<Record<Locale, { title: string; cause: string; cure: string }>>;
}

interface Words {
  title: string;
  lead: string;
  apis: Record<DocumentedError['api'], string>;
  status: string;
  code: string;
  meaning: string;
  cause: string;
  cure: string;
  sentence: string;
  retry: string;
  final: string;
  again: string;
  all: string;
  several: string;
}

const words: Record<Locale, Words> = {
  en: {
    title: 'Errors',
    lead: 'What each error means and what to do about it. Refusals of the REST API carry the address of their page as `error.doc_url`. A vendor’s own errors pass through in the vendor’s words.',
    apis: { rest: 'REST', graphql: 'GraphQL' },
    status: 'Status',
    code: 'Code',
    meaning: 'Meaning',
    cause: 'Why',
    cure: 'What to do',
    sentence: 'What it says',
    retry: 'Another try',
    final: 'cannot succeed unchanged (`x-should-retry: false`)',
    again: 'can succeed',
    all: 'All errors',
    several: 'Several errors have this code; the sentence tells them apart.',
  },
  vi: {
    title: 'Lỗi',
    lead: 'Mỗi lỗi nghĩa là gì và cách khắc phục. Lỗi của REST API có địa chỉ trang này trong `error.doc_url`. Lỗi của nhà cung cấp được chuyển nguyên văn.',
    apis: { rest: 'REST', graphql: 'GraphQL' },
    status: 'Mã HTTP',
    code: 'Mã lỗi',
    meaning: 'Ý nghĩa',
    cause: 'Nguyên nhân',
    cure: 'Cách khắc phục',
    sentence: 'Thông báo',
    retry: 'Thử lại',
    final: 'không thể thành công nếu giữ nguyên (`x-should-retry: false`)',
    again: 'có thể thành công',
    all: 'Mọi lỗi',
    several: 'Nhiều lỗi dùng chung mã này; thông báo cho biết là lỗi nào.',
  },
};

const pathOf = (name: string, locale: Locale) => `/docs/errors/${name}?lang=${locale}`;

export function errorList(errors: readonly DocumentedError[], locale: Locale): { title: string; body: string } {
  const w = words[locale];
  const part = (api: DocumentedError['api']) =>
    `<h2>${w.apis[api]}</h2>${table(
      w.apis[api],
      [w.status, w.code, w.meaning],
      errors.filter((error) => error.api === api).map((error) => rowOf(error, locale)),
    )}`;
  return {
    title: w.title,
    body: `<h1>${w.title}</h1>\n<p class="lead">${inline(w.lead)}</p>\n${part('rest')}\n${part('graphql')}`,
  };
}

function rowOf({ name, statuses, codes, texts }: DocumentedError, locale: Locale): string {
  const shown = codes.filter((code) => code !== name).map((code) => `<br><code>${code}</code>`);
  return `<tr><td>${statuses.join(', ')}</td><th scope="row"><a href="${pathOf(name, locale)}"><code>${name}</code></a>${shown.join('')}</th><td>${inline(texts[locale].title)}</td></tr>`;
}

/** The page of a name, or of a code that one or several errors have; null: there is none. */
export function errorOf(
  errors: readonly DocumentedError[],
  asked: string,
  locale: Locale,
): { title: string; body: string } | null {
  const w = words[locale];
  const found = foundBy(errors, asked);
  const trail = `<p class="trail"><a href="/docs/errors?lang=${locale}">← ${w.all}</a></p>`;
  const [only] = found;
  if (only === undefined) return null;
  if (found.length > 1) {
    const list = table(
      asked,
      [w.status, w.code, w.meaning],
      found.map((error) => rowOf(error, locale)),
    );
    return { title: asked, body: `${trail}\n<h1><code>${escapeText(asked)}</code></h1>\n<p>${w.several}</p>\n${list}` };
  }
  const { title, cause, cure } = only.texts[locale];
  const codes = only.codes.length === 0 ? '–' : only.codes.map((code) => `<code>${code}</code>`).join(', ');
  return {
    title: `${only.name}: ${title}`,
    body: `${trail}
<h1>${inline(title)}</h1>
<dl class="facts"><dt>API</dt><dd>${w.apis[only.api]}</dd><dt>${w.status}</dt><dd>${only.statuses.join(', ')}</dd><dt>${w.code}</dt><dd>${codes}</dd><dt>${w.retry}</dt><dd>${inline(only.isFinal ? w.final : w.again)}</dd></dl>
<h2>${w.cause}</h2><p>${inline(cause)}</p>
<h2>${w.cure}</h2><p>${inline(cure)}</p>
${only.sentences.length === 0 ? '' : `<h2>${w.sentence}</h2>${only.sentences.map((sentence) => `<div lang="en">${block(w.sentence, sentence)}</div>`).join('')}`}`,
  };
}

function foundBy(errors: readonly DocumentedError[], asked: string): readonly DocumentedError[] {
  const named = errors.filter(({ name }) => name === asked);
  return named.length > 0 ? named : errors.filter(({ codes }) => codes.includes(asked));
}

export function errorMarkdown(errors: readonly DocumentedError[], asked: string, locale: Locale): string | null {
  const found = foundBy(errors, asked);
  return found.length === 0 ? null : `${found.map((error) => markdownOf(error, locale, '#')).join('\n\n')}\n`;
}

export function errorsMarkdown(errors: readonly DocumentedError[], locale: Locale): string {
  const w = words[locale];
  return `# ${w.title}\n\n${w.lead}\n\n${errors.map((error) => markdownOf(error, locale, '##')).join('\n\n')}\n`;
}

function markdownOf(
  { name, api, statuses, codes, isFinal, sentences, texts }: DocumentedError,
  locale: Locale,
  level: string,
): string {
  const w = words[locale];
  const { title, cause, cure } = texts[locale];
  return [
    `${level} ${name}: ${title}`,
    [
      `- API: ${w.apis[api]}; ${w.status}: ${statuses.join(', ')}${codes.length === 0 ? '' : `; ${w.code}: ${codes.map((code) => `\`${code}\``).join(', ')}`}`,
      `- ${w.retry}: ${isFinal ? w.final : w.again}`,
      `- ${w.cause}: ${cause}`,
      `- ${w.cure}: ${cure}`,
      ...sentences.map((sentence) => `- ${w.sentence}: ${sentence}`),
    ].join('\n'),
  ].join('\n\n');
}
