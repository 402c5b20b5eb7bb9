import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * The worst vendor: an upstream of all three protocols that bills the most that a vendor can for a request and tells it as late as
 * it can. It keeps its own books: the prompt from the first byte, every token that it has generated, whoever still listens.
 *
 * What it does stands in the request's text: `[[worst {…}]]`, a `Plan`; each request names itself there.
 */
export interface Plan {
  id: string;
  /** The prompt as it is billed. Left out: the most for what the request holds. */
  input?: number;
  cacheHit?: number;
  cacheWrite1h?: number;
  /** Tokens of the answer; left out: as many as every cap of the request allows. */
  output?: number;
  /** Left out: as many as the request's own bound on uses allows. */
  searches?: number;
  /** Milliseconds to the first byte, between chunks, and from the last word to the usage. */
  firstMs?: number;
  everyMs?: number;
  usageMs?: number;
  /** Tokens of a chunk. */
  chunk?: number;
}

export interface Bill {
  input: number;
  cacheHit: number;
  cacheWrite1h: number;
  output: number;
  searches: number;
  /** It reported its usage, and the answer ended. */
  finished: boolean;
  /** The body as it arrived. */
  body: Record<string, unknown>;
}

export interface WorstVendor {
  url: string;
  bills: Map<string, Bill>;
  /** Requests that are being answered. */
  readonly running: number;
  close(): Promise<void>;
}

/** A token of its answers: four bytes, as most of English has. */
const token = 'abc ';
const window = 200_000;
const longestAnswer = 32_000;

export async function createWorstVendor(): Promise<WorstVendor> {
  const bills = new Map<string, Bill>();
  let running = 0;
  const server = createServer((request, response) => {
    running += 1;
    answer(request, response, bills)
      .catch(() => response.destroy())
      .finally(() => {
        running -= 1;
      });
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bills,
    get running() {
      return running;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Protocol = 'messages' | 'chat' | 'responses';

async function answer(request: IncomingMessage, response: ServerResponse, bills: Map<string, Bill>): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const raw = Buffer.concat(pieces).toString();
  const body = JSON.parse(raw) as Record<string, unknown>;
  const protocol: Protocol =
    request.url?.includes('messages') === true
      ? 'messages'
      : request.url?.includes('chat') === true
        ? 'chat'
        : 'responses';
  const [, planText = '{}'] = /\[\[worst (\{.*?\})\]\]/.exec(raw.replaceAll('\\"', '"')) ?? [];
  const plan = JSON.parse(planText) as Plan;
  const bill: Bill = {
    input: plan.input ?? (plan.cacheHit === undefined && plan.cacheWrite1h === undefined ? mostInput(body, raw) : 0),
    cacheHit: plan.cacheHit ?? 0,
    cacheWrite1h: plan.cacheWrite1h ?? 0,
    output: 0,
    searches: 0,
    finished: false,
    body,
  };
  bills.set(plan.id, bill);
  const total = plan.output ?? mostOutput(body);
  const { firstMs = 0, everyMs = 0, usageMs = 0, chunk = 50, searches = mostSearches(body, protocol) } = plan;
  const isGone = (): boolean => response.destroyed && !response.writableFinished;
  const pause = async (ms: number): Promise<void> => {
    if (ms > 0) await delay(ms);
  };
  await pause(firstMs);
  bill.searches = searches;
  if (body['stream'] !== true) {
    // It works on for as long as somebody listens.
    for (let made = 0; made < total && !isGone(); made += chunk) {
      bill.output = Math.min(total, made + chunk);
      await pause(everyMs);
    }
    if (isGone()) return;
    bill.finished = true;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole(protocol, bill)));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (lines: readonly string[]) => lines.length > 0 && response.write(lines.join(''));
  send(beginning(protocol, bill));
  for (let made = 0; made < total && !isGone(); made += chunk) {
    const more = Math.min(chunk, total - made);
    bill.output = made + more;
    send(piece(protocol, token.repeat(more)));
    if (everyMs > 0) await pause(everyMs);
    else await new Promise((resolve) => setImmediate(resolve));
  }
  if (isGone()) return;
  send(lastWord(protocol));
  await pause(usageMs);
  if (isGone()) return;
  bill.finished = true;
  // Split in the middle of its figures.
  const end = Buffer.from(ending(protocol, bill).join(''));
  response.write(end.subarray(0, end.length >> 1));
  await delay(2);
  response.end(end.subarray(end.length >> 1));
}

/** Every byte of text a token; what only the vendor can measure is the whole window. */
function mostInput(body: Record<string, unknown>, raw: string): number {
  const isMeasured =
    !/"(?:image|image_url|input_image|document|file|input_file|video_url|input_video|input_audio|audio|container_upload|unheard_of|file_id|file_url)"/.test(
      raw,
    );
  if (Array.isArray(body['tools'])) return window * (1 + (usesOf(body) ?? 0));
  return isMeasured ? Math.min(window, Buffer.byteLength(raw)) : window;
}

/** As often as the body lets tools that run here be used; null: it does not say, or offers none. */
function usesOf(body: Record<string, unknown>): number | null {
  if (typeof body['max_tool_calls'] === 'number') return body['max_tool_calls'];
  const tools = (body['tools'] ?? []) as { max_uses?: unknown }[];
  const uses = tools.flatMap(({ max_uses }) => (typeof max_uses === 'number' ? [max_uses] : []));
  return uses.length === 0 ? null : uses.reduce((sum, each) => sum + each, 0);
}

/** Every use is a search where the request offers one, and at responses every call eight of them. */
function mostSearches(body: Record<string, unknown>, protocol: Protocol): number {
  if (!JSON.stringify(body['tools'] ?? []).includes('search')) return 0;
  return (usesOf(body) ?? 0) * (protocol === 'responses' ? 8 : 1);
}

function mostOutput(body: Record<string, unknown>): number {
  const caps = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'].flatMap((name) =>
    typeof body[name] === 'number' ? [body[name]] : [],
  );
  const answers = typeof body['n'] === 'number' ? body['n'] : 1;
  return Math.min(longestAnswer, caps.length === 0 ? longestAnswer : Math.max(...caps)) * answers;
}

const event = (name: string, data: object): string =>
  `event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`;
const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const chunkOf = (more: object): string =>
  data({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'worst', ...more });

function usageOf(protocol: Protocol, bill: Bill): Record<string, unknown> {
  const { input, cacheHit, cacheWrite1h, output, searches } = bill;
  if (protocol === 'messages')
    return {
      input_tokens: input,
      cache_read_input_tokens: cacheHit,
      cache_creation_input_tokens: cacheWrite1h,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: cacheWrite1h },
      output_tokens: output,
      ...(searches > 0 ? { server_tool_use: { web_search_requests: searches } } : {}),
    };
  const prompt = input + cacheHit + cacheWrite1h;
  if (protocol === 'chat')
    return {
      prompt_tokens: prompt,
      completion_tokens: output,
      total_tokens: prompt + output,
      prompt_tokens_details: { cached_tokens: cacheHit, cache_write_tokens: cacheWrite1h },
      ...(searches > 0 ? { num_search_queries: searches } : {}),
    };
  return {
    input_tokens: prompt,
    input_tokens_details: { cached_tokens: cacheHit },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: prompt + output,
  };
}

const responseOf = (bill: Bill | null, status: string, output: unknown[] = []): object => ({
  response: {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status,
    model: 'worst',
    output,
    usage: bill === null ? null : usageOf('responses', bill),
  },
});

const searchItems = (count: number): object[] =>
  Array.from({ length: count }, (_item, index) => ({
    id: `ws_${index}`,
    type: 'web_search_call',
    status: 'completed',
    action: { type: 'search', query: 'q' },
  }));

function beginning(protocol: Protocol, bill: Bill): string[] {
  if (protocol === 'messages')
    return [
      event('message_start', {
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'worst',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          // The searches are told at the end.
          usage: usageOf(protocol, { ...bill, searches: 0, output: 1 }),
        },
      }),
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ];
  if (protocol === 'chat')
    return [chunkOf({ choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] })];
  const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [] };
  const index = bill.searches;
  return [
    event('response.created', responseOf(null, 'in_progress')),
    ...searchItems(bill.searches).flatMap((search, at) => [
      event('response.output_item.added', { output_index: at, item: search }),
      event('response.output_item.done', { output_index: at, item: search }),
    ]),
    event('response.output_item.added', { output_index: index, item }),
    event('response.content_part.added', {
      item_id: 'msg_1',
      output_index: index,
      content_index: 0,
      part: { type: 'output_text', text: '', annotations: [] },
    }),
  ];
}

function piece(protocol: Protocol, text: string): string[] {
  if (protocol === 'messages') return [event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })];
  if (protocol === 'chat') return [chunkOf({ choices: [{ index: 0, delta: { content: text }, finish_reason: null }] })];
  return [event('response.output_text.delta', { item_id: 'msg_1', output_index: 0, content_index: 0, delta: text })];
}

function lastWord(protocol: Protocol): string[] {
  if (protocol === 'messages') return [event('content_block_stop', { index: 0 })];
  if (protocol === 'chat') return [chunkOf({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })];
  return [];
}

function ending(protocol: Protocol, bill: Bill): string[] {
  if (protocol === 'messages')
    return [
      event('message_delta', {
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: usageOf(protocol, bill),
      }),
      event('message_stop', {}),
    ];
  if (protocol === 'chat') return [chunkOf({ choices: [], usage: usageOf(protocol, bill) }), 'data: [DONE]\n\n'];
  return [event('response.completed', responseOf(bill, 'completed', searchItems(bill.searches)))];
}

function whole(protocol: Protocol, bill: Bill): object {
  const text = token.repeat(Math.min(bill.output, 200));
  const usage = usageOf(protocol, bill);
  if (protocol === 'messages')
    return {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'worst',
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage,
    };
  if (protocol === 'chat')
    return {
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'worst',
      choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
      usage,
    };
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [] }],
  };
  return (responseOf(bill, 'completed', [...searchItems(bill.searches), message]) as { response: object }).response;
}
