import { Buffer } from 'node:buffer';
import type { UpstreamFeatures } from '../../core/features.ts';
import type { TokenPools } from '../../core/tokens.ts';
import { insertMember, removeMember, removeMembers, renameMember } from '../body.ts';
import { errorEvent, errorType, statusOfError } from '../envelope.ts';
import { countJson, countText, type Generated, isNothing, isSaid, wordsOf } from '../generated.ts';
import { type JsonNode, leaf, listOf, scanJson, shape, textOf, tryScanJson, valueOf } from '../json.ts';
import {
  answerLimits,
  answerModelEdits,
  bodyStart,
  eventLimits,
  type NativeProtocol,
  type ReplyProtocol,
  storeEdits,
} from '../native.ts';
import type { Edit, RequestFacts, Span, WireContext } from '../protocol.ts';
import { asksForVariant } from '../served.ts';
import type { DataEvent, Verdict, Words } from '../streams/event-relay.ts';
import {
  type Dialect,
  type ErrorVerdict,
  editEvent,
  type Progress,
  type StreamProtocol,
  shownModel,
} from '../streams/native-stream.ts';
import { isDone, sseEvent } from '../streams/sse.ts';
import { readChatUsage, toChatUsage } from '../usage.ts';
import { isFailureReason } from './finish.ts';

/**
 * Chat completions where client and upstream both speak them. One thing is added on the way up: a stream is always
 * asked for its usage, and what the client did not ask for is taken out again on the way down. Where the vendor stores
 * what passes unless a request says `store: false`, requests say so. The cap on the output goes by the name that the upstream takes.
 */

const done = 'data: [DONE]\n\n';

const optionsShape = shape({ include_usage: leaf });

/** Makes a streaming request ask for usage, leaving every other byte alone. */
function usageEdits(raw: Uint8Array, facts: RequestFacts): Edit[] {
  if (!facts.stream || facts.includeUsage) return [];
  const span = facts.members.get('stream_options');
  if (span === undefined) return [insertMember(raw, bodyStart(raw), 'stream_options', '{"include_usage":true}')];
  const options = scanJson(raw.subarray(span.start, span.end), optionsShape, answerLimits);
  if (options.kind !== 'object') return [{ ...span, text: '{"include_usage":true}' }];
  const asked = options.members.get('include_usage');
  if (asked === undefined) return [insertMember(raw, span.start, 'include_usage', 'true')];
  return [{ start: span.start + asked.start, end: span.start + asked.end, text: 'true' }];
}

/** What the upstream's features change in a request: the name of the cap on the output, and members that it refuses. */
function featureEdits(raw: Uint8Array, facts: RequestFacts, features: UpstreamFeatures): Edit[] {
  const cap = capEdits(raw, facts, features.maxTokensField);
  const refused = features.usageOption ? [] : ['stream_options'];
  return [...cap.edits, ...removeMembers(facts.members, [...cap.removed, ...refused])];
}

/**
 * Names the cap on the output as the upstream does: vendors refuse the other name, or ignore it, and both together. The
 * value keeps its bytes. Where both came, the one that the hold was sized by is sent.
 */
function capEdits(
  raw: Uint8Array,
  { members }: RequestFacts,
  wanted: UpstreamFeatures['maxTokensField'],
): { edits: Edit[]; removed: string[] } {
  const other = wanted === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
  const sent = members.get(other);
  if (wanted === null || sent === undefined) return { edits: [], removed: [] };
  const own = members.get(wanted);
  if (own === undefined) return { edits: [renameMember(raw, sent, wanted)], removed: [] };
  const newer = wanted === 'max_completion_tokens' ? own : sent;
  const winner = isNull(raw, newer) ? (newer === own ? sent : own) : newer;
  const moved = winner === own ? [] : [{ start: own.start, end: own.end, text: textAt(raw, sent) }];
  return { edits: moved, removed: [other] };
}

/** A checked body's value that begins with an `n`. */
function isNull(raw: Uint8Array, { start }: Span): boolean {
  return raw[start] === 0x6e;
}

function textAt(raw: Uint8Array, { start, end }: Span): string {
  return Buffer.from(raw.subarray(start, end)).toString();
}

const messageShape = shape({
  content: leaf,
  refusal: leaf,
  reasoning_content: leaf,
  reasoning: leaf,
  tool_calls: listOf(shape({ function: shape({ name: leaf, arguments: leaf }), custom: shape({ input: leaf }) })),
  function_call: shape({ name: leaf, arguments: leaf }),
});

function countMessage(generated: Generated, message: JsonNode | undefined): void {
  if (message === undefined) return;
  const { members } = message;
  // Some vendors send content as a list of parts, reasoning among them; its JSON is counted as it stands.
  countJson(generated, members.get('content'));
  countText(generated, members.get('refusal'));
  countText(generated, [members.get('reasoning_content'), members.get('reasoning')].find(isSaid));
  for (const call of members.get('tool_calls')?.items ?? []) {
    countText(generated, call.members.get('function')?.members.get('name'));
    countText(generated, call.members.get('function')?.members.get('arguments'));
    countText(generated, call.members.get('custom')?.members.get('input'));
  }
  countText(generated, members.get('function_call')?.members.get('name'));
  countText(generated, members.get('function_call')?.members.get('arguments'));
}

/** A vendor may put usage on the answer, on its first choice or in another place. */
function reportedUsage(root: JsonNode): JsonNode | null {
  const places = [
    root.members.get('usage'),
    root.members.get('choices')?.items[0]?.members.get('usage'),
    root.members.get('x_groq')?.members.get('usage'),
  ];
  return places.find((place) => place?.kind === 'object' && !isNothing(place)) ?? null;
}

const reply: ReplyProtocol = {
  shape: shape({
    model: leaf,
    service_tier: leaf,
    usage: leaf,
    error: shape(),
    choices: listOf(shape({ message: messageShape, text: leaf, usage: leaf, finish_reason: leaf })),
    x_groq: shape({ usage: leaf }),
  }),
  list: 'choices',
  noun: 'choices',
  countItem: (generated, choice) => countMessage(generated, choice.members.get('message')),
  usage: reportedUsage,
  readUsage: readChatUsage,
  servedIn: 'answer',
  finish: (root) => root.members.get('choices')?.items[0]?.members.get('finish_reason'),
};

const chunkMembers = {
  id: leaf,
  created: leaf,
  model: leaf,
  choices: listOf(shape({ index: leaf, delta: messageShape, message: messageShape, finish_reason: leaf, usage: leaf })),
  usage: leaf,
  obfuscation: leaf,
  error: shape({ type: leaf, code: leaf, message: leaf }),
  type: leaf,
  code: leaf,
  message: leaf,
  x_groq: shape({ usage: leaf }),
};
const chunkShape = shape(chunkMembers);
/** For requests that ask for a tier: others do not look for it in every chunk. */
const tieredChunkShape = shape({ ...chunkMembers, service_tier: leaf });

/** Where the content of a chunk stands that carries one piece of it. */
function wordsOfChunk(root: JsonNode, pieces: number): Words {
  const delta = root.members.get('choices')?.items[0]?.members.get('delta')?.members;
  const call = delta?.get('tool_calls')?.items[0];
  const texts = ['content', 'reasoning_content', 'reasoning'].map((name) => delta?.get(name));
  const args = call?.members.get('function')?.members.get('arguments');
  return wordsOf(pieces, [...texts, args], root.members.get('obfuscation'));
}

function createDialect(progress: Progress, context: WireContext, facts: RequestFacts): Dialect {
  const asksFor = asksForVariant(facts.gates);
  const begun = new Set<number>();
  const finished = new Set<number>();
  let failed = false;
  let usageRelayed = false;
  let id: string | null = null;
  let created: number | null = null;

  function read(event: DataEvent): ReturnType<Dialect['read']> {
    const { data } = event;
    if (isDone(data)) {
      const { pieces, bytes, reading } = progress;
      const isAny = pieces > 0 || bytes > 0 || finished.size > 0 || reading !== null;
      return isAny ? { kind: 'pass', state: 'terminated' } : nothingAtAll;
    }
    const root = tryScanJson(data, asksFor ? tieredChunkShape : chunkShape, eventLimits);
    const error = root?.members.get('error');
    if (error !== undefined && !isNothing(error)) return errorOf(data, error);
    if (event.type === 'error') return { ...errorOf(data, root), unsaid: 'instead' };
    if (root?.kind !== 'object') {
      progress.bytes += data.length;
      return { kind: 'pass' };
    }
    // The protocol has no such event, and its clients would read the data as a chunk.
    if (event.type === 'ping') return { kind: 'hide' };
    const before = progress.pieces;
    readChunk(data, root);
    if (failed) return { ...failedAnswer, edits: answerModelEdits(root.members.get('model'), context) };
    const state = finished.size > 0 && finished.size >= Math.max(facts.answers, begun.size) ? 'finished' : null;
    const verdict = show(event, root);
    if (state !== null) return { ...verdict, state };
    return verdict.kind === 'hide' ? verdict : { ...verdict, words: wordsOfChunk(root, progress.pieces - before) };
  }

  /** Each chunk may say it; the last word counts, unless it leaves it to the vendor. */
  function readTier(data: Buffer, root: JsonNode): void {
    const tier = textOf(data, root.members.get('service_tier'));
    if (tier !== null && tier !== 'auto' && tier !== progress.served?.service_tier)
      progress.served = { service_tier: tier };
  }

  function readChunk(data: Buffer, root: JsonNode): void {
    progress.model ??= textOf(data, root.members.get('model'));
    id ??= textOf(data, root.members.get('id'));
    if (asksFor) readTier(data, root);
    const createdAt = root.members.get('created');
    if (created === null && createdAt?.kind === 'number') created = Number(valueOf(data, createdAt));
    const reported = reportedUsage(root);
    // Cumulative where it comes with every chunk: the last one counts, never the sum.
    if (reported !== null) progress.reading = readChatUsage(valueOf(data, reported)) ?? progress.reading;
    for (const choice of root.members.get('choices')?.items ?? []) {
      const index = choice.members.get('index');
      const number = index?.kind === 'number' ? Number(valueOf(data, index)) : 0;
      begun.add(number);
      // Some vendors say nothing by an empty reason in every chunk.
      const reason = choice.members.get('finish_reason');
      const ended = isSaid(reason) ? textOf(data, reason) : null;
      if (ended !== null) {
        finished.add(number);
        progress.finish = ended;
        failed ||= isFailureReason(ended);
      }
      countMessage(progress, choice.members.get('delta'));
      // Some vendors end with the whole message; it is content where no piece of it came before.
      if (progress.pieces === 0) countMessage(progress, choice.members.get('message'));
    }
  }

  /** What of a chunk the client sees: all of it, less the usage that only the gateway asked for. */
  function show(event: DataEvent, root: JsonNode): Exclude<Verdict, { kind: 'idle' | 'error' }> {
    const usage = root.members.get('usage');
    const edits = answerModelEdits(root.members.get('model'), context);
    if (facts.includeUsage) {
      usageRelayed ||= usage?.kind === 'object';
      return editEvent(event, edits);
    }
    if (usage === undefined) return editEvent(event, edits);
    const choices = root.members.get('choices');
    if (usage.kind === 'object' && (choices === undefined || choices.items.length === 0)) return { kind: 'hide' };
    return editEvent(event, [...edits, removeMember(event.data, usage)]);
  }

  function chunk(more: Record<string, unknown>): string {
    const head = {
      id: id ?? `chatcmpl-${context.requestId}`,
      object: 'chat.completion.chunk',
      created: created ?? context.createdAt,
      model: shownModel(progress.model, context),
    };
    return sseEvent(null, JSON.stringify({ ...head, ...more }));
  }

  function usageChunk(usage: TokenPools | null): string {
    if (!facts.includeUsage || usageRelayed || usage === null) return '';
    return chunk({ choices: [], usage: toChatUsage(usage) });
  }

  /** Every answer that is still running ends at its "token limit". */
  function lengthEndings(): string {
    const answers = new Set(begun);
    for (let index = 0; index < facts.answers; index += 1) answers.add(index);
    return [...answers]
      .filter((index) => !finished.has(index))
      .sort((one, other) => one - other)
      .map((index) => {
        const delta = begun.has(index) ? {} : { role: 'assistant', content: '' };
        const choice = { index, delta, logprobs: null, finish_reason: 'length' };
        return chunk({ choices: [choice], ...(facts.includeUsage ? { usage: null } : {}) });
      })
      .join('');
  }

  return {
    read,
    budgetEnding: (pools) => lengthEndings() + usageChunk(pools) + done,
    terminator: () => usageChunk(progress.reading?.usage ?? null) + done,
    failure: ({ status, message, code, requestId }) =>
      errorEvent('chat-completions', { status, message, code, requestId, inChunk: context.errorsInChunks }),
  };
}

/**
 * A terminator alone is no answer, nor is one behind chunks that say neither content nor a reason nor a count of tokens: another
 * route may have one, and nothing is charged.
 */
const nothingAtAll: ErrorVerdict = {
  kind: 'error',
  unsaid: 'instead',
  error: { status: 502, type: 'server_error', message: 'The upstream answered with nothing.' },
  edits: [],
};

/** A finish reason by which the vendor says that the answer failed. */
const failedAnswer: ErrorVerdict = {
  kind: 'error',
  unsaid: 'behind',
  error: { status: 502, type: 'server_error', message: 'The model failed at its vendor.' },
  edits: [],
};

function errorOf(data: Buffer, error: JsonNode | null): ErrorVerdict {
  const type = textOf(data, error?.members.get('type'));
  const code = error?.members.get('code');
  const status = statusOfError(type, code === undefined ? null : valueOf(data, code));
  const message =
    textOf(data, error?.members.get('message')) ??
    textOf(data, error ?? undefined) ??
    'The model failed at its vendor.';
  const word = textOf(data, code);
  const coded = word === null ? {} : { code: word };
  return {
    kind: 'error',
    error: { status, type: type ?? errorType('chat-completions', status), ...coded, message },
    edits: [],
  };
}

const stream: StreamProtocol = {
  maxEventBytes: 1_048_576,
  // A comment, because a `ping` event with data would break the protocol's most used client.
  keepAlive: Buffer.from(': keep-alive\n\n'),
  createDialect,
};

export const nativeChatCompletions: NativeProtocol = {
  protocol: 'chat-completions',
  requestEdits: (raw, facts, { features }) => [
    ...(features.store ? storeEdits(raw, facts) : []),
    ...(features.usageOption ? usageEdits(raw, facts) : []),
    // Last: what the others insert stands before the first member, which this may rename or remove.
    ...featureEdits(raw, facts, features),
  ],
  reply,
  stream,
};
