import { describe, expect, test } from 'vitest';
import type { Protocol } from '../../server/core/protocol.ts';
import { openApiDocument } from '../../server/gateway/openapi/document.ts';
import { scanBody } from '../../server/wire/body.ts';
import { spellMember } from '../../server/wire/member-path.ts';
import type { BodyKind } from '../../server/wire/members.ts';
import type { WireProblem } from '../../server/wire/protocol.ts';
import { wireFor } from '../../server/wire/wires.ts';
import { bytes, contextWith } from './dialogue/support.ts';
import { isTold, isWithin, pathsIn, replaced, samples, valueAt, wrongFor } from './request-samples.ts';

/** Every refusal of a request names the member at fault, by its path in the spelling of the protocol's vendor. */

const upstreams: readonly Protocol[] = ['messages', 'chat-completions', 'responses'];

/**
 * Why a body is refused on the way to each upstream; null: it is sent. On the native path it is only scanned. Responses has no
 * stop sequences: requests with them are not sent there.
 */
function problemsOf(kind: BodyKind, body: unknown): { native: WireProblem | null; translated: (WireProblem | null)[] } {
  const bodyText = typeof body === 'string' ? body : JSON.stringify(body);
  const raw = bytes(bodyText);
  const protocol = kind === 'embeddings' || kind === 'images' ? 'chat-completions' : kind;
  const scan = scanBody(raw, protocol, kind === 'embeddings' ? 'embed' : kind === 'images' ? 'image' : 'generate');
  if (!scan.ok) return { native: scan.problem, translated: [] };
  const { facts } = scan;
  const gate = facts.gates[0]?.problem ?? null;
  if (kind === 'embeddings' || kind === 'images' || gate !== null) return { native: gate, translated: [] };
  const translated = upstreams
    .filter((upstream) => upstream !== protocol && !(upstream === 'responses' && /"stop/.test(bodyText)))
    .map((upstream) => wireFor(protocol, upstream).request(raw, facts, contextWith({ jsonObject: true })));
  return { native: null, translated: translated.map((outcome) => (outcome.ok ? null : outcome.problem)) };
}

/** JSON of the client's own, which nothing reads: schemas, and what tools were called with. */
const ownJson = /(?:input_schema|parameters|schema|tool_use.*\binput)\b./;

/**
 * Members that translation does not read, and what asks for nothing there: their values are the vendor's to check on the native
 * path, and change nothing elsewhere.
 */
const unread: Record<BodyKind, RegExp> = {
  messages: /cache_control|\.signature$|^messages\.\d+\.content\.\d+\.input\./,
  'chat-completions': /^messages\[\d+\]\.name$|tool_calls\[\d+\]\.type$|^max_tokens$/,
  responses: /\.summary\[\d+\]\.type$|^store$/,
  embeddings: /^(?:encoding_format|dimensions|user)$|^input\[\d+\]\[\d+\]$/,
  images: /^(?:images?(?:\[\d+\].*)?|mask.*|background|moderation|user|output_compression|response_format)$/,
};

const cases = (Object.keys(samples) as BodyKind[]).flatMap((kind) =>
  samples[kind].flatMap((sample, index) => pathsIn(sample).map((path) => ({ kind, sample, index, path }))),
);

describe.each(Object.keys(samples) as BodyKind[])('%s', (kind) => {
  test('the samples are taken by every upstream', () => {
    for (const sample of samples[kind]) {
      const { native, translated } = problemsOf(kind, sample);
      expect([native, ...translated].filter((problem) => problem !== null)).toEqual([]);
    }
  });

  test('the samples have every documented member', () => {
    const seen = new Set(samples[kind].flatMap((sample) => pathsIn(sample).map((path) => path.at(-1))));
    expect([...documented(kind)].filter((name) => !seen.has(name))).toEqual([]);
  });

  const own = cases.filter((each) => each.kind === kind);
  const read = own.filter(({ path }) => !ownJson.test(spellMember(kind, path)));

  test.each(read.map((each) => [`${each.index} ${spellMember(kind, each.path)}`, each] as const))('%s', (_, each) => {
    const { sample, path } = each;
    const at = spellMember(kind, path);
    const told = wrongFor(valueAt(sample, path)).flatMap((value) => {
      const { native, translated } = problemsOf(kind, replaced(sample, path, value));
      return [native, ...translated].filter((problem) => problem !== null);
    });
    const astray = told.filter(({ param, message }) => !isTold(param ?? '', at) || !message.startsWith(`${param}: `));
    expect(astray).toEqual([]);
    // Some wrong value is refused by the path itself.
    expect(told.some(({ param }) => isWithin(param ?? '', at)) || unread[kind].test(at)).toBe(true);
  });

  test("what is the client's own JSON is not judged", () => {
    const judged = own
      .filter((each) => !read.includes(each))
      .map(({ sample, path }) => problemsOf(kind, replaced(sample, path, -1)).native);
    expect(judged.filter((problem) => problem !== null)).toEqual([]);
  });

  test('a member that stands twice is named by its path', () => {
    const twice = own.flatMap(({ sample, path }) => {
      const name = path.at(-1);
      if (typeof name !== 'string') return [];
      const raw = JSON.stringify(replaced(sample, path, '@twice')).replace('"@twice"', `1,"${name}":2`);
      const { native } = problemsOf(kind, raw);
      // Only members that decide something are looked for twice.
      return native?.message.includes('twice') === true ? [[native.param, spellMember(kind, path)]] : [];
    });
    expect(twice.length).toBeGreaterThan(2);
    expect(twice.filter(([param, at]) => param !== at)).toEqual([]);
  });
});

test('a role that stands twice is told where', () => {
  const body =
    '{"model":"m","max_tokens":1,"x":"a \\" , {","messages":[{"role":"user"},{"role":"user","content":[],"role":"x"}]}';
  expect(problemsOf('messages', body).native).toMatchObject({
    param: 'messages.1.role',
    message: expect.stringMatching(/^messages\.1\.role: /),
  });
  expect(problemsOf('chat-completions', body).native).toMatchObject({ param: 'messages[1].role' });
});

test('far into a large body it is told without its path: the body is not read once more for it', () => {
  const long = 'a'.repeat(1_048_576);
  const body = `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"${long}"},{"role":"user","content":[],"role":"x"}]}`;
  expect(problemsOf('messages', body).native).toMatchObject({
    param: 'role',
    message: expect.stringContaining('twice'),
  });
});

/** Names of all members that the reference shows for a kind of request. */
function documented(kind: BodyKind): Set<string> {
  const components = (openApiDocument('https://steyg.test/api') as { components: { schemas: Record<string, object> } })
    .components.schemas;
  const ids = {
    messages: 'MessagesRequest',
    'chat-completions': 'ChatCompletionRequest',
    responses: 'ResponsesRequest',
    embeddings: 'EmbeddingsRequest',
    images: 'ImagesRequest',
  };
  const names = new Set<string>();
  const seen = new Set<unknown>();
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null || seen.has(node)) return;
    seen.add(node);
    const { $ref: ref, properties } = node as { $ref?: string; properties?: object };
    if (ref !== undefined) walk(components[ref.split('/').at(-1) ?? '']);
    for (const name of Object.keys(properties ?? {})) names.add(name);
    for (const inner of Object.values(node)) walk(inner);
  };
  walk(components[ids[kind]]);
  return names;
}
