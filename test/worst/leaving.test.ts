import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { bodyOf, costOf, type Door, doors, post, told, worstCatalog } from './support.ts';
import { createWorstVendor, type Plan, type WorstVendor } from './vendor.ts';

/**
 * Leaving costs what staying costs: whoever leaves at the worst moment pays at least 0.9 of what the vendor bills, natively and
 * translated, over any of these; and never more than the vendor can have billed for it.
 */

let vendor: WorstVendor;
let app: TestApp;
beforeAll(async () => {
  vendor = await createWorstVendor();
  app = await startApp({ catalog: worstCatalog(vendor.url) });
});
afterAll(async () => {
  await app.close();
  await vendor.close();
});

type Moment = 'before the first byte' | 'at the first word' | 'in the middle' | 'after the last word';

/** What makes the cost unknown until the usage comes. */
interface Content {
  plan: Omit<Plan, 'id'>;
  /** Bytes of text. */
  bytes?: number;
  parts?: Partial<Record<Door, readonly unknown[]>>;
  more?: Partial<Record<Door, Record<string, unknown>>>;
  /** The vendors that it can be sent to: an address is read by the vendor of the same protocol alone. */
  nativeOnly?: true;
  /** When it is left; left out: at every moment. */
  left?: readonly Moment[];
}

const url = 'https://files.example/large.pdf';
const contents: Record<string, Content> = {
  'a document by its address': {
    plan: { input: 190_000 },
    parts: {
      messages: [{ type: 'document', source: { type: 'url', url } }],
      chat: [{ type: 'file', file: { file_data: url, filename: 'a.pdf' } }],
      responses: [{ type: 'input_file', file_url: url }],
    },
    nativeOnly: true,
  },
  'a video': {
    plan: { input: 190_000 },
    parts: { chat: [{ type: 'video_url', video_url: { url: 'https://files.example/a.mp4' } }] },
    nativeOnly: true,
  },
  'a long new prompt': { plan: { input: 47_500 }, bytes: 190_000 },
  'a long cached prompt': { plan: { input: 500, cacheHit: 47_000 }, bytes: 190_000 },
  'a prompt that is written to the cache for an hour': {
    plan: { cacheWrite1h: 95_000 },
    bytes: 380_000,
    more: { messages: { cache_control: { type: 'ephemeral', ttl: '1h' } } },
    nativeOnly: true,
  },
  'ten paid searches': {
    plan: { input: 26_000, searches: 10 },
    more: {
      messages: { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 10 }] },
      responses: { tools: [{ type: 'web_search' }] },
    },
    nativeOnly: true,
  },
  // Where nothing else has a price, the words that are on the wire when the exchange is ended weigh more than the prompt.
  'a short prompt': { plan: { input: 40 }, left: ['in the middle', 'after the last word'] },
};

const moments: Record<Moment, Partial<Plan>> = {
  // Three thousand tokens a second: what is on the wire when an exchange is ended is little.
  'before the first byte': { firstMs: 300, output: 400, everyMs: 15 },
  'at the first word': { output: 600, everyMs: 15 },
  'in the middle': { output: 1_500, everyMs: 15 },
  'after the last word': { output: 300, usageMs: 600 },
};

/** A word of the answer, however the protocol wraps it. */
const isThere = (text: string, count: number): boolean => text.split('abc ').length > count;

let requests = 0;

/** Sends one request and leaves; resolves to its plan's id once the exchange is over. */
async function leave(
  secret: string,
  to: { door: Door; model: Door; content: Content; moment: Moment; stream: boolean },
): Promise<string> {
  const { door, model, content, moment, stream } = to;
  requests += 1;
  const id = `r${requests}`;
  const text = `${told({ id, chunk: 50, ...content.plan, ...moments[moment] })} ${'word '.repeat((content.bytes ?? 0) / 5)}`;
  const leaving = new AbortController();
  const running = post(app, {
    door,
    secret,
    body: { ...bodyOf(door, { model, text, parts: content.parts?.[door] ?? [] }), ...content.more?.[door], stream },
    signal: leaving.signal,
  });
  const until = async (isSo: () => boolean) => {
    while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  if (moment === 'before the first byte' || !stream) {
    await Promise.race([until(() => vendor.bills.has(id)), running.catch(() => undefined)]);
    leaving.abort();
    await running.catch(() => undefined);
  } else {
    const response = await running;
    if (response.status !== 200) throw new Error(await response.text());
    const words = moment === 'at the first word' ? 1 : moment === 'in the middle' ? 500 : 300;
    let seen = '';
    try {
      for await (const piece of response.body as ReadableStream<Uint8Array>) {
        seen += Buffer.from(piece).toString();
        if (isThere(seen, words)) break;
      }
    } catch {}
    leaving.abort();
  }
  return id;
}

const combinations = (content: Content): { door: Door; model: Door; stream: boolean }[] =>
  doors.flatMap((door) =>
    doors
      .filter((model) => model === door || content.nativeOnly === undefined)
      .filter(
        () =>
          content.nativeOnly === undefined || content.parts?.[door] !== undefined || content.more?.[door] !== undefined,
      )
      .flatMap((model) => [true, false].map((stream) => ({ door, model, stream }))),
  );

describe.each(Object.entries(contents))('%s', (_name, content) => {
  it.each(content.left ?? (Object.keys(moments) as Moment[]))('left %s', async (moment) => {
    const shares = await Promise.all(
      combinations(content).map(async (to) => {
        const customer = await app.customer({ usd: '50' });
        const ids = await Promise.all([1].map(() => leave(customer.secret, { ...to, content, moment })));
        const rows = await app.ledger(customer.accountId);
        while (vendor.running > 0) await new Promise((resolve) => setTimeout(resolve, 10));
        const billed = ids
          .map((id) => vendor.bills.get(id))
          .reduce((sum, bill) => sum + (bill === undefined ? 0n : costOf(bill)), 0n);
        const charged = rows.reduce((sum, row) => sum + (row['charged'] as bigint), 0n);
        return {
          ...to,
          rows: rows.map((row) =>
            [row['outcome'], row['usage_source'], row['input'], row['output'], JSON.stringify(row['units'])].join(' '),
          ),
          share: Number((charged * 1_000n) / billed) / 1_000,
          billed: Number(billed) / 1e12,
        };
      }),
    );
    const wrong = shares.filter(({ share }) => share < 0.9 || share > 1.15);
    expect(wrong).toEqual([]);
  });
});
