import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'vite';
import { describe, expect, it } from 'vitest';
import { actionTexts } from '../../dashboard/src/language/actions.ts';
import { en } from '../../dashboard/src/language/en.ts';
import { glossary } from '../../dashboard/src/language/glossary.ts';
import { operatorEn } from '../../dashboard/src/language/operator-en.ts';
import { operatorVi } from '../../dashboard/src/language/operator-vi.ts';
import { vi } from '../../dashboard/src/language/vi.ts';

// Every text of the pages comes from the language files, and every text there is used.

const root = join(import.meta.dirname, '../../dashboard/src');
const files = globSync('**/*.{ts,tsx}', { cwd: root })
  .filter((path) => !path.startsWith('language/') || path.endsWith('.tsx'))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

/** A node of a syntax tree, as far as this looks at it. */
interface Node {
  type: string;
  start: number;
  [member: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

function* walk(node: Node, above: readonly Node[] = []): Generator<{ node: Node; above: readonly Node[] }> {
  yield { node, above };
  for (const value of Object.values(node).flat()) if (isNode(value)) yield* walk(value, [...above, node]);
}

function treeOf(path: string, text: string): Node {
  return parseSync(path, text).program as unknown as Node;
}

/** Names, signs and what is the same in every language. */
const sameEverywhere = /^(?:Steyg|English|Tiếng Việt|USD|VND|CSV|JSON|POST)?$/;
/** Members of the API that an operator sets by their names. */
const isName = (text: string) => /^[a-z]+(?:[A-Z][a-z]+)+$/.test(text);
const hasWords = (text: string) => /\p{L}{2}/u.test(text) && !sameEverywhere.test(text.trim()) && !isName(text);
/** At least two words, the first with a capital: said to a person, not to a program. */
const isSentence = (text: string) => /^\p{Lu}\p{Ll}*[’']?\p{Ll}*,? \p{L}{2,}/u.test(text);
const spoken = new Set(['aria-label', 'title', 'placeholder', 'alt', 'label', 'hint', 'caption', 'lead', 'head']);

/** What a person would read that comes from the code itself. */
function textsIn(path: string, text: string): string[] {
  const found: string[] = [];
  for (const { node, above } of walk(treeOf(path, text))) {
    const value = node['value'];
    if (node.type === 'JSXText' && hasWords(String(value))) found.push(String(value).trim());
    if (node.type !== 'Literal' || typeof value !== 'string') continue;
    const parent = above.at(-1);
    const isSpokenAttribute =
      parent?.type === 'JSXAttribute' && spoken.has(String((parent['name'] as Node | undefined)?.['name']));
    // What is thrown is for engineers: people get the words of `explain`.
    const isThrown = above.some(({ type }) => type === 'ThrowStatement');
    if ((isSpokenAttribute && hasWords(value)) || (isSentence(value) && hasWords(value) && !isThrown))
      found.push(value);
  }
  return found;
}

describe('the code of the pages', () => {
  it('says nothing to people in words of its own', () => {
    const own = files.flatMap(({ path, text }) => textsIn(path, text).map((words) => `${path}: ${words}`));
    expect(own).toEqual([]);
  });

  it('would be caught if it did', () => {
    expect(textsIn('a.tsx', '<p>Hello <b>{name}</b></p>')).toEqual(['Hello']);
    expect(textsIn('a.tsx', '<button aria-label="Close it" className="Close it" />')).toContain('Close it');
    expect(textsIn('a.tsx', "const text = 'Something went wrong';")).toEqual(['Something went wrong']);
    expect(textsIn('a.tsx', "throw new Error('Nobody is signed in');")).toEqual([]);
    expect(textsIn('a.tsx', '<p className="big">{t.common.copy} · 5</p>')).toEqual([]);
  });
});

/** `t.a.b` wherever it stands, and whether the rest of the way is computed. */
function referencesIn(path: string, text: string): { way: string; computed: boolean }[] {
  const found: { way: string; computed: boolean }[] = [];
  for (const { node, above } of walk(treeOf(path, text))) {
    if (node.type !== 'Identifier' || node['name'] !== 't') continue;
    const way: string[] = [];
    let computed = false;
    let inner: Node = node;
    for (const outer of above.toReversed()) {
      if (outer.type === 'TSAsExpression' || outer.type === 'ParenthesizedExpression') {
        inner = outer;
        continue;
      }
      if (outer.type !== 'MemberExpression' || outer['object'] !== inner) break;
      if (outer['computed'] === true) {
        computed = true;
        break;
      }
      const name = String((outer['property'] as Node)['name']);
      if (name === 'map') break;
      way.push(name);
      inner = outer;
    }
    if (way.length > 0) found.push({ way: way.join('.'), computed });
  }
  return found;
}

function leavesOf(value: unknown, way: readonly string[] = []): string[][] {
  return typeof value === 'string'
    ? [[...way]]
    : Object.entries(value as object).flatMap(([name, inner]) => leavesOf(inner, [...way, name]));
}

describe('the language files', () => {
  it('have words for every code of an expected error', () => {
    const sources = globSync('server/graphql/**/*.ts', { cwd: join(root, '../..') })
      .map((path) => readFileSync(join(root, '../..', path), 'utf8'))
      .join('\n');
    const codes = [
      ...sources.matchAll(/new ConflictError\([^)]*?'([A-Z_]+)',?\s*\)/g),
      ...sources.matchAll(/readonly code = '([A-Z_]+)'/g),
    ].map(([, code]) => code ?? '');
    expect(new Set(codes).size).toBeGreaterThan(20);
    expect(codes.filter((code) => !(code in en.errors))).toEqual([]);
  });

  it('have no text that no page says', () => {
    const references = files.flatMap(({ path, text }) => referencesIn(path, text));
    expect(references.length).toBeGreaterThan(300);
    const whole = new Set(references.filter(({ computed }) => !computed).map(({ way }) => way));
    const computed = new Set(references.filter((reference) => reference.computed).map(({ way }) => way));
    const code = files.map(({ text }) => text).join('\n');
    const server = globSync(['schema.graphql', 'server/{graphql,people,plans}/**/*.ts'], { cwd: join(root, '../..') })
      .map((path) => readFileSync(join(root, '../..', path), 'utf8'))
      .join('\n');
    // The server's codes are its words in capitals.
    const isNamed = (name: string) =>
      /^[A-Z][A-Z0-9_]*$/.test(name)
        ? new RegExp(`\\b${name}\\b`, 'i').test(`${server}\n${code}`)
        : /^\d+$/.test(name) || new RegExp(`\\b${name}\\b`).test(code);
    const unused = leavesOf({ ...en, operator: operatorEn }).filter((way) => {
      for (let length = way.length; length > 0; length -= 1) {
        const start = way.slice(0, length).join('.');
        // The whole list or the whole set of forms is handed on.
        if (whole.has(start) && length > 1) return false;
        // Picked by a name that is worked out: one of the page's own, or one that the server gives.
        if (computed.has(start) && isNamed(way[length] ?? '')) return false;
      }
      return true;
    });
    expect(unused.map((way) => way.join('.'))).toEqual([]);
  });
});

/** Every text of a language, with the way to it. */
function textsOf(value: unknown, way: readonly string[] = []): { way: string; text: string }[] {
  return typeof value === 'string'
    ? [{ way: way.join('.'), text: value }]
    : Object.entries(value as object).flatMap(([name, inner]) => textsOf(inner, [...way, name]));
}

/** Written like an action in the same files: jobs, events of webhooks, kinds of notices, hosts of chat programs. */
const notActions = new Set([
  'balance.exhausted',
  'balance.low',
  'discord.com',
  'discordapp.com',
  'grant.expiring',
  'key.limit_near',
  'model.incident',
  'order.paid',
  'order.partial',
  'price.changed',
  'route.upstream_model',
  'sign_in.new',
  'spend.burn_rate',
  'steyg.audit',
  'steyg.closed_month',
  'steyg.ledger_partitions',
  'steyg.operators',
  'trial.ending',
  'webhook.test',
]);

describe('the names of actions', () => {
  const repository = join(root, '../..');
  /** What the server writes into its audit log: literals of `action`, and of the helpers that append an entry. */
  const written = globSync('server/{accounts,admin,billing,books,catalog,keys,notices,people,plans,uptime}/**/*.ts', {
    cwd: repository,
  })
    .map((path) => readFileSync(join(repository, path), 'utf8'))
    .filter((text) => text.includes('appendAudit'))
    .flatMap((text) => [...text.matchAll(/'([a-z][a-z_-]+\.[a-z_]+)'/g)].map(([, action = '']) => action))
    // Events and kinds of notices are written in the same way.
    .filter((action) => !notActions.has(action));

  it('are there in both languages for everything that the server writes down', () => {
    expect(new Set(written).size).toBeGreaterThan(60);
    expect(written.filter((action) => !(action in actionTexts.en))).toEqual([]);
    expect(Object.keys(actionTexts.vi)).toEqual(Object.keys(actionTexts.en));
    expect(Object.keys(actionTexts.en).filter((action) => !written.includes(action))).toEqual([]);
  });
});

describe('the glossary', () => {
  const languages = {
    en: textsOf({ ...en, operator: operatorEn, actions: actionTexts.en }),
    vi: textsOf({ ...vi, operator: operatorVi, actions: actionTexts.vi }),
  };
  const refused = { en: glossary.flatMap(({ notEn = [] }) => notEn), vi: glossary.flatMap(({ notVi = [] }) => notVi) };
  const found = (language: 'en' | 'vi', texts: { way: string; text: string }[]) =>
    texts.flatMap(({ way, text }) =>
      refused[language].filter((word) => text.toLowerCase().includes(word)).map((word) => `${way}: ${word}`),
    );

  it.each(['en', 'vi'] as const)('is kept by every text in %s', (language) => {
    expect(languages[language].length).toBeGreaterThan(500);
    expect(found(language, languages[language])).toEqual([]);
  });

  it('is kept by every Vietnamese line of mails, receipts, statements and the other sources', () => {
    const repository = join(root, '../..');
    const sources = globSync(['server/**/*.ts', 'sdk/src/**/*.ts', 'dashboard/src/**/*.{ts,tsx}'], { cwd: repository })
      .filter((path) => !/node_modules|\/generated\/|language\/glossary\.ts$/.test(path))
      .map((path) => ({ way: path, text: readFileSync(join(repository, path), 'utf8') }));
    const vietnamese = sources.filter(({ text }) => /[ạảấầẩậắằặẹếềểệỉịọốồổộớờởợụủứừửữự]/i.test(text));
    expect(vietnamese.length).toBeGreaterThan(15);
    expect(found('vi', vietnamese)).toEqual([]);
  });

  it('would notice an invented translation', () => {
    expect(found('vi', [{ way: 'a.b', text: 'Tạo khóa API' }])).toEqual(['a.b: khóa api']);
    expect(found('en', [{ way: 'a.b', text: 'Recharge now' }])).toEqual(['a.b: recharge']);
  });

  it('names words that the texts really use', () => {
    const all = { en: languages.en.map(({ text }) => text), vi: languages.vi.map(({ text }) => text) };
    const uses = (texts: string[], word: string) =>
      texts.some((text) => text.toLowerCase().includes(word.toLowerCase()));
    expect(glossary.filter(({ en: word }) => !uses(all.en, word)).map(({ en: word }) => word)).toEqual([]);
    expect(glossary.filter(({ vi: word }) => !uses(all.vi, word)).map(({ vi: word }) => word)).toEqual([]);
  });
});
