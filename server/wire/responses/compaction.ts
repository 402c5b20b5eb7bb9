import { insertMember, scanBody, splice } from '../body.ts';
import { type JsonLimits, type JsonNode, leaf, listOf, scanJson, shape, textOf, valueOf } from '../json.ts';
import { bodyStart } from '../native.ts';
import type { Edit } from '../protocol.ts';
import {
  type RequestFacts,
  UnreadableReply,
  type WireContext,
  type WireExchange,
  type WireReply,
  type WireStream,
} from '../protocol.ts';
import { sseEvent } from '../streams/sse.ts';
import { handOver } from './hand-over.ts';

/**
 * Compaction of responses (https://developers.openai.com/api/docs/guides/compaction): a `compaction_trigger` at the end of the
 * input asks for the conversation in short, as one sealed item that stands for it from then on. A vendor that has it answers
 * natively. In front of every other one the same model is asked to sum up, and what it writes is sealed here; such an item
 * is readable on every route of its account.
 */

const opening = 'What follows is the hand-over of the conversation before this point, which was compacted.\n\n';

/** Seals what a client keeps, for its account; `open` gives null for what was not sealed there. */
export interface ItemSeal {
  seal(text: string): string;
  open(sealed: string): string | null;
}

const bodyShape = shape({
  input: listOf(shape({ type: leaf, encrypted_content: leaf })),
  tools: leaf,
  tool_choice: leaf,
  text: shape({ format: leaf }),
});
/** The body has been scanned with the limits of requests before. */
const limits: JsonLimits = { maxDepth: 512, maxValues: 20_000_000, refuseDuplicates: false };

export interface OpenedCompaction {
  raw: Uint8Array;
  facts: RequestFacts;
}

/**
 * The request with readable items in place of those that were sealed here and, where the vendor has no compaction (`isOwn`),
 * with the question for a hand-over in place of the trigger.
 */
export function openCompaction(
  raw: Uint8Array,
  facts: RequestFacts,
  { seal, isOwn }: { seal: ItemSeal; isOwn: boolean },
): OpenedCompaction {
  if (facts.compaction === null) return { raw, facts };
  const root = scanJson(raw, bodyShape, limits);
  const edits: Edit[] = [];
  const compacts = isOwn && facts.compaction === 'asked';
  for (const item of root.members.get('input')?.items ?? []) {
    const type = textOf(raw, item.members.get('type'));
    if (type === 'compaction_trigger' && compacts) edits.push(instead(item, handOver));
    if (type !== 'compaction' && type !== 'compaction_summary') continue;
    const text = seal.open(textOf(raw, item.members.get('encrypted_content')) ?? '');
    if (text !== null) edits.push(instead(item, opening + text));
  }
  if (compacts) edits.push(...withoutCalls(raw, root));
  if (edits.length === 0) return { raw, facts };
  const opened = Buffer.from(splice(raw, edits));
  const scanned = scanBody(opened, 'responses');
  if (!scanned.ok) throw new Error('a body was not readable any more after its compaction was opened');
  return { raw: opened, facts: scanned.facts };
}

function instead({ start, end }: JsonNode, text: string): Edit {
  return {
    start,
    end,
    text: JSON.stringify({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }),
  };
}

/** The answer is a text: no call, and in no schema. */
function withoutCalls(raw: Uint8Array, root: JsonNode): Edit[] {
  const choice = root.members.get('tool_choice');
  const format = root.members.get('text')?.members.get('format');
  const edits: Edit[] = [];
  if (choice !== undefined) edits.push({ start: choice.start, end: choice.end, text: '"none"' });
  else if (root.members.get('tools')?.kind === 'array')
    edits.push(insertMember(raw, bodyStart(raw), 'tool_choice', '"none"'));
  if (format !== undefined) edits.push({ start: format.start, end: format.end, text: '{"type":"text"}' });
  return edits;
}

/** A call of `/v1/responses/compact`, as the request for responses that it stands for; null: it is no such body. */
export function compactRequest(raw: Buffer): Buffer | null {
  const scanned = scanBody(raw, 'responses');
  if (!scanned.ok) return null;
  const { members, gates } = scanned.facts;
  const input = members.get('input');
  if (input === undefined || gates.some(({ name }) => name === 'previous_response_id')) return null;
  const trigger = '{"type":"compaction_trigger"}';
  const edits: Edit[] = [];
  const said = raw.subarray(input.start, input.end).toString('utf8');
  const list = said.startsWith('[') ? said.slice(1, -1) : `{"type":"message","role":"user","content":${said}}`;
  edits.push({ start: input.start, end: input.end, text: `[${list.trim() === '' ? '' : `${list},`}${trigger}]` });
  const stream = members.get('stream');
  if (stream !== undefined) edits.push({ start: stream.start, end: stream.end, text: 'false' });
  return Buffer.from(splice(raw, edits));
}

/** How the answer to a compaction reads. */
export interface CompactionAnswer {
  seal: ItemSeal;
  /** What the model wrote is to be sealed; natively the vendor has sealed it. */
  isOwn: boolean;
  /** For `/v1/responses/compact`: what the user said stands before the item; null: an answer of responses. */
  userItems: readonly unknown[] | null;
}

/** The messages of the user in a request, which a compacted conversation keeps as they were. */
export function userItemsOf(raw: Uint8Array): unknown[] {
  const itemShape = shape({ input: listOf(shape({ type: leaf, role: leaf })) });
  const items = scanJson(raw, itemShape, limits).members.get('input')?.items ?? [];
  return items
    .filter((item) => textOf(raw, item.members.get('role')) === 'user')
    .map((item, index) => {
      const said = valueOf(raw, item) as Record<string, unknown>;
      const content =
        typeof said['content'] === 'string' ? [{ type: 'input_text', text: said['content'] }] : said['content'];
      return { id: `msg_${index}`, type: 'message', role: 'user', status: 'completed', ...said, content };
    });
}

type Item = Record<string, unknown>;
type Answer = Item & { output?: Item[] };

const isItem = (value: unknown): value is Item => typeof value === 'object' && value !== null;

/** The exchange with the compaction in its answer. */
export function compactingExchange(
  exchange: WireExchange,
  context: WireContext,
  answer: CompactionAnswer,
): WireExchange {
  const { reply, stream } = exchange;
  const worded = (whole: WireReply): WireReply => {
    const parsed = JSON.parse(Buffer.from(whole.body).toString('utf8')) as Answer;
    const output = answer.isOwn ? compacted(parsed.output ?? [], context, answer) : vendorItems(parsed.output ?? []);
    const { id, created_at, usage } = parsed;
    const { userItems } = answer;
    const body =
      userItems === null
        ? { ...parsed, output }
        : { id, created_at, object: 'response.compaction', output: [...userItems, ...output], usage };
    return { body: Buffer.from(JSON.stringify(body)), account: whole.account };
  };
  return {
    ...exchange,
    reply: (body) => worded(reply(body)),
    async replyInPieces(pieces, pause) {
      await pause();
      const { body, account } = worded(reply(Buffer.concat(pieces)));
      return { pieces: [body], account };
    },
    stream: () => (answer.isOwn ? new CompactingStream(stream(), context, answer.seal) : stream()),
  };
}

/** The one item that stands for the conversation; throws `UnreadableReply` where there is nothing to make it of. */
function compacted(
  output: readonly Item[],
  { requestId }: WireContext,
  { seal }: Pick<CompactionAnswer, 'seal'>,
): Item[] {
  const text = output.map(textOfItem).filter(Boolean).join('\n\n');
  if (text === '') throw new UnreadableReply('The model wrote no summary of the conversation.');
  return [{ id: `cmp_${requestId.replace(/^req_/, '')}`, type: 'compaction', encrypted_content: seal.seal(text) }];
}

const vendorItems = (output: readonly Item[]): Item[] => output.filter(({ type }) => type === 'compaction');

function textOfItem({ type, content }: Item): string {
  if (type !== 'message' || !Array.isArray(content)) return '';
  return content.map((part) => (isItem(part) && typeof part['text'] === 'string' ? part['text'] : '')).join('');
}

/** Keeps back what the model writes until it is whole: it becomes one sealed item. */
class CompactingStream implements WireStream {
  private readonly inner: WireStream;
  private readonly context: WireContext;
  private readonly seal: ItemSeal;
  private rest = '';
  private items: Item[] = [];
  private last: { type: string; response: Answer } | null = null;
  private failure = '';
  private isOut = false;

  constructor(inner: WireStream, context: WireContext, seal: ItemSeal) {
    this.inner = inner;
    this.context = context;
    this.seal = seal;
  }

  /** What is kept back has not begun for the client. */
  get state(): WireStream['state'] {
    const { state } = this.inner;
    return state === 'open' ? 'waiting' : state;
  }

  get error(): WireStream['error'] {
    return this.inner.error;
  }

  get keepAlive(): Uint8Array {
    return this.inner.keepAlive;
  }

  get noise(): number {
    return this.inner.noise;
  }

  account(): ReturnType<WireStream['account']> {
    return this.inner.account();
  }

  write(chunk: Uint8Array): Uint8Array {
    return this.take(this.inner.write(chunk));
  }

  end(): Uint8Array {
    return this.take(this.inner.end());
  }

  stop(end: Parameters<WireStream['stop']>[0]): Uint8Array {
    return this.take(this.inner.stop(end));
  }

  private take(bytes: Uint8Array): Uint8Array {
    if (bytes.length > 0) this.read(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
    const { state } = this.inner;
    if (this.isOut || (state !== 'terminated' && state !== 'failed')) return Buffer.alloc(0);
    this.isOut = true;
    return Buffer.from(state === 'failed' ? this.failure : this.ending());
  }

  /** The gateway's own streams hand events out whole, one line of data each. */
  private read(text: string): void {
    const events = (this.rest + text).split('\n\n');
    this.rest = events.pop() ?? '';
    for (const event of events) {
      const data = event.split('\n').find((line) => line.startsWith('data: {'));
      if (data !== undefined) this.readEvent(JSON.parse(data.slice('data: '.length)) as Item, `${event}\n\n`);
    }
  }

  private readEvent({ type, item, response }: Item, event: string): void {
    if (type === 'response.output_item.done' && isItem(item)) this.items.push(item);
    else if (type === 'response.failed' || type === 'error') this.failure = event;
    else if ((type === 'response.completed' || type === 'response.incomplete') && isItem(response))
      this.last = { type, response };
  }

  private ending(): string {
    const { last, items, context, seal } = this;
    if (last === null) return '';
    const output = items.length > 0 ? items : (last.response.output ?? []);
    const begun = { ...last.response, status: 'in_progress', output: [], usage: null };
    try {
      const [item] = compacted(output, context, { seal });
      const whole = { ...last.response, output: [item] };
      return eventsOf([
        ['response.created', { response: begun }],
        ['response.output_item.added', { output_index: 0, item }],
        ['response.output_item.done', { output_index: 0, item }],
        [last.type, { response: whole }],
      ]);
    } catch (problem) {
      if (!(problem instanceof UnreadableReply)) throw problem;
      const error = { code: 'server_error', message: problem.message };
      return eventsOf([
        ['response.created', { response: begun }],
        ['response.failed', { response: { ...last.response, status: 'failed', output: [], error } }],
      ]);
    }
  }
}

function eventsOf(events: readonly (readonly [string, Item])[]): string {
  return events
    .map(([type, more], sequence_number) => sseEvent(type, JSON.stringify({ type, sequence_number, ...more })))
    .join('');
}
