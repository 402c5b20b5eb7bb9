/** Answers requests as a model would: reads the script, plays its breaks and pace. */

import { type Chunking, deliverStream } from './delivery.ts';
import { chatCompletions } from './dialects/chat-completions.ts';
import type { BareEvent, Envelope, StreamEvent, UsageReport, VendorDialect } from './dialects/dialect.ts';
import { readEmbeddingAsk, writeEmbeddings } from './dialects/embeddings.ts';
import { messages } from './dialects/messages.ts';
import { responses } from './dialects/responses.ts';
import { type Directives, type Fault, readDirectives } from './directives.ts';
import { imageEvents, readForm, readImages, usageOfImages, writeImages } from './images.ts';
import { isObject, jsonOrUndefined, type ParsedObject, stringify } from './json.ts';
import { modelObject, playedModels } from './models.ts';
import { countPromptTokens, invalidPrompt, type Prompt, type VendorError } from './prompt.ts';
import type { PromptCache } from './prompt-cache.ts';
import { createRandom } from './random.ts';
import {
  type Arrival,
  credentialOf,
  fail,
  failEarly,
  type PlayedCall,
  sendBody,
  setHeaders,
  vendorHeaders,
  wordingOf,
} from './reply.ts';
import { cueOf, type PlayedAnswer, writeAnswer } from './script.ts';
import type { Signatures } from './signatures.ts';
import { speakAs } from './vendors/vendors.ts';

export interface AnswerSettings {
  apiKey: string | null;
  seed: number;
  tokensPerSecond: number;
  firstTokenMs: number;
  chunking: Chunking;
  reasoningField: 'reasoning_content' | 'reasoning';
  strict: boolean;
  raw: boolean;
  now: () => number;
  models: readonly string[];
  cache: PromptCache;
  signatures: Signatures;
}

const DIALECTS = { messages, 'chat-completions': chatCompletions, responses };

/** Maximum generation time that is played for an answer that is not streamed. */
const MAX_SILENT_ANSWER_MS = 2_000;

function dialectOf(arrival: Arrival): VendorDialect {
  const { route, vendor } = arrival;
  const isMessages = arrival.exchange.request.headers['anthropic-version'] !== undefined;
  const base = route === null ? (isMessages ? messages : chatCompletions) : DIALECTS[route.protocol];
  return vendor === null ? base : speakAs(vendor, base);
}

function usageOf(computed: unknown, directives: Directives): UsageReport {
  if (directives.noUsage) return { kind: 'none' };
  const text = directives.usageJson ?? JSON.stringify(computed);
  return { kind: 'reported', value: jsonOrUndefined(text), text };
}

function midFailure(call: PlayedCall, fault: Fault | null, model: string): VendorError {
  const status = fault?.kind === 'midfail' ? fault.status : null;
  return wordingOf(call, status ?? call.dialect.midStreamStatus, model, null);
}

/** A decoded path segment; a malformed one names no model and stays as it is. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** One request that is answered as a model would: its content, and the script's directives. */
interface Play {
  call: PlayedCall;
  body: ParsedObject;
  prompt: Prompt;
  directives: Directives;
}

/** Of OpenRouter, what a key may still spend: https://openrouter.ai/docs/api/api-reference/api-keys/get-current-key */
const keyFacts = { data: { label: 'sk-or-v1-…', usage: 0, limit: null, limit_remaining: null, is_free_tier: false } };

/** Lists models, or says that there is no such page. */
async function answerPage(settings: AnswerSettings, call: PlayedCall): Promise<void> {
  const { path, dialect } = call;
  const { request, response } = call.exchange;
  if (path === '/v1/key' && call.vendor?.id === 'openrouter' && request.method === 'GET') {
    setHeaders(call, vendorHeaders(call, 200, 'application/json'));
    response.end(JSON.stringify(keyFacts));
    return;
  }
  const known = /^\/v1\/models(?:\/(.+))?$/.exec(path);
  if (known === null || (request.method !== 'GET' && request.method !== 'HEAD')) {
    const status = known === null ? 404 : 405;
    const failure = dialect.wording(status, { model: '', credential: '' });
    return fail(call, { ...failure, status, code: null, message: `Invalid URL (${request.method} ${path})` });
  }
  const [, id] = known;
  const wanted = id === undefined ? null : decoded(id);
  if (wanted !== null && !settings.models.includes(wanted)) return fail(call, wordingOf(call, 404, wanted, null));
  const value = wanted === null ? playedModels(settings.models, dialect) : modelObject(wanted, dialect);
  setHeaders(call, vendorHeaders(call, 200, 'application/json'));
  response.end(JSON.stringify(value));
}

function envelopeOf(settings: AnswerSettings, { call, body, prompt, directives }: Play): Envelope {
  const { now, signatures } = settings;
  return {
    id: call.dialect.idStyle[0] + call.random.id(call.dialect.idStyle[1]),
    nextId: (prefix, length) => prefix + call.random.id(length),
    model: directives.model ?? prompt.model,
    createdAt: Math.floor(now() / 1000),
    usage: { kind: 'none' },
    body,
    headers: call.exchange.request.headers,
    prompt,
    signatures,
    reasoningField: settings.reasoningField,
    tier: directives.tier,
  };
}

async function stream(
  settings: AnswerSettings,
  { call, directives }: Play,
  envelope: Envelope,
  events: Iterable<StreamEvent | BareEvent>,
): Promise<void> {
  const { exchange, dialect } = call;
  const { fault } = directives;
  call.onStream();
  exchange.response.flushHeaders();
  await deliverStream({
    exchange,
    events,
    failedEvents: (sent) => dialect.failedEvents(midFailure(call, fault, envelope.model), envelope, sent),
    fault,
    tokensPerSecond: directives.tokensPerSecond ?? settings.tokensPerSecond,
    chunking: settings.chunking,
    random: createRandom(~(settings.seed + call.number)),
    onEvent: call.onEvent,
  });
}

/** Waits as long as a model would take until its first byte. */
function think(settings: AnswerSettings, { call, directives, prompt }: Play, answer: PlayedAnswer): Promise<void> {
  const speed = directives.tokensPerSecond ?? settings.tokensPerSecond;
  const generating = prompt.stream ? 0 : Math.min((answer.outputTokens / speed) * 1000, MAX_SILENT_ANSWER_MS);
  const ms = settings.firstTokenMs + generating;
  return ms > 0 ? call.exchange.sleep(ms) : Promise.resolve();
}

async function answerPrompt(settings: AnswerSettings, turn: Play): Promise<void> {
  const { call, prompt, directives } = turn;
  const { exchange, dialect, random } = call;
  const cue = cueOf(prompt.turns);
  const answer = writeAnswer(prompt, directives, cue, random);
  const input = dialect.cached(settings.cache, prompt.model, prompt.segments);
  const refused = dialect.refuseAnswer?.(answer, prompt) ?? null;
  if (refused !== null) return fail(call, refused);
  const envelope = envelopeOf(settings, turn);
  envelope.usage = usageOf(dialect.usage(input, answer, prompt.answers, envelope), directives);
  await think(settings, turn, answer);
  if (exchange.gone) return;
  if (prompt.stream) return stream(settings, turn, envelope, dialect.events(answer, envelope));
  const failed = directives.fault?.kind === 'midfail';
  const value = failed
    ? dialect.errorBody(midFailure(call, directives.fault, envelope.model), call.requestId)
    : dialect.whole(answer, envelope);
  return sendBody(call, directives, Buffer.from(stringify(value)));
}

/** Plays a request for embeddings; of the directives those that are not about text. */
async function playEmbeddings(settings: AnswerSettings, call: PlayedCall, body: ParsedObject): Promise<void> {
  const { exchange, random } = call;
  const ask = readEmbeddingAsk(body);
  if ('status' in ask) return fail(call, ask);
  const script = readDirectives(ask.cue, settings.raw);
  if (!script.ok) return fail(call, invalidPrompt(script.message));
  const { directives } = script;
  await exchange.sleep(Math.max(directives.delayMs, settings.firstTokenMs));
  if (exchange.gone) return;
  if (directives.drop) return exchange.sever('close');
  const status = directives.status?.code ?? 200;
  if (status >= 300) {
    return fail(call, wordingOf(call, status, ask.model, directives.status?.message ?? null), directives.headers);
  }
  setHeaders(call, vendorHeaders(call, status, 'application/json'), directives.headers);
  return sendBody(call, directives, directives.raw ?? writeEmbeddings(ask, directives, random));
}

/** Plays a request for images. A refusal may say that it costs something, as one of the vendor's moderation does. */
async function playImages(settings: AnswerSettings, call: PlayedCall, edits: boolean): Promise<void> {
  const { exchange, random, read } = call;
  const type = exchange.request.headers['content-type'] ?? '';
  const body = type.startsWith('multipart/') ? await readForm(read.body, type) : jsonOrUndefined(read.body.toString());
  if (!isObject(body)) return fail(call, invalidPrompt('We could not parse the body of your request.'));
  const ask = readImages(body, edits);
  if ('status' in ask) return fail(call, ask);
  const script = readDirectives(ask.prompt, settings.raw);
  if (!script.ok) return fail(call, invalidPrompt(script.message));
  const { directives } = script;
  await exchange.sleep(Math.max(directives.delayMs, settings.firstTokenMs));
  if (exchange.gone) return;
  if (directives.drop) return exchange.sever('close');
  const status = directives.status?.code ?? 200;
  const created = Math.floor(settings.now() / 1_000);
  if (status >= 300) {
    const failure = wordingOf(call, status, ask.model, directives.status?.message ?? null);
    if (directives.usageJson === null) return fail(call, failure, directives.headers);
    exchange.response.statusCode = status;
    setHeaders(call, vendorHeaders(call, status, 'application/json'), directives.headers);
    const { status: _status, ...error } = failure;
    return sendBody(call, directives, Buffer.from(stringify({ error, usage: usageOfImages(ask, 0, directives) })));
  }
  const isStream = ask.stream && directives.raw === null;
  setHeaders(
    call,
    vendorHeaders(call, status, isStream ? 'text/event-stream; charset=utf-8' : 'application/json'),
    directives.headers,
  );
  if (!isStream) return sendBody(call, directives, directives.raw ?? writeImages(ask, directives, created));
  call.onStream();
  exchange.response.flushHeaders();
  await deliverStream({
    exchange,
    events: imageEvents(ask, directives, created),
    failedEvents: () => {
      const { status: _status, ...error } = midFailure(call, directives.fault, ask.model);
      return [{ name: 'error', data: stringify({ type: 'error', error }), tokens: 0, counted: true }];
    },
    fault: directives.fault,
    tokensPerSecond: settings.tokensPerSecond,
    chunking: settings.chunking,
    random,
    onEvent: call.onEvent,
  });
}

/** Plays one request as its directives ask. */
async function play(settings: AnswerSettings, turn: Play): Promise<void> {
  const { call, prompt, directives } = turn;
  const { exchange, route } = call;
  if (directives.delayMs > 0) await exchange.sleep(directives.delayMs);
  if (exchange.gone) return;
  if (directives.drop) return exchange.sever('close');
  if (directives.socket !== null) return exchange.sendBare(directives.socket);
  const status = directives.status?.code ?? 200;
  if (status >= 300 && directives.raw === null) {
    const failure = wordingOf(call, status, prompt.model, directives.status?.message ?? null);
    return fail(call, failure, directives.headers);
  }
  const isStream = prompt.stream && status < 300 && route?.countOnly !== true;
  const contentType = isStream ? 'text/event-stream; charset=utf-8' : 'application/json';
  const headers = vendorHeaders(call, status, contentType);
  if (isStream) headers.set('cache-control', 'no-cache');
  if (!setHeaders(call, headers, directives.headers)) {
    return fail(call, invalidPrompt('simulator: [[headers]] wants names and values that HTTP allows'));
  }
  exchange.response.statusCode = status;
  if (directives.raw !== null) {
    if (!isStream) return sendBody(call, directives, directives.raw);
    const bare = { bare: directives.raw, tokens: 0, counted: true };
    return stream(settings, turn, envelopeOf(settings, turn), [bare]);
  }
  if (route?.countOnly !== true) return answerPrompt(settings, turn);
  const counted = { input_tokens: countPromptTokens(prompt.segments) };
  return sendBody(call, directives, Buffer.from(JSON.stringify(counted)));
}

/** Builds the answer to every request but the simulator's own pages. */
export function createAnswering(settings: AnswerSettings): (arrival: Arrival) => Promise<void> {
  return async (arrival) => {
    const random = createRandom(settings.seed + arrival.number * 0x9e37_79b9);
    const dialect = dialectOf(arrival);
    const requestId = `req_${random.id(24)}`;
    const call: PlayedCall = { ...arrival, dialect, random, requestId, credential: credentialOf(arrival) };
    const { exchange, read, route } = call;
    if (read.kind === 'early') return failEarly(call, wordingOf(call, read.status, '', null));
    if (settings.apiKey !== null && call.credential !== settings.apiKey) {
      return fail(call, wordingOf(call, 401, '', null));
    }
    if (route === null) return answerPage(settings, call);
    if (exchange.request.method !== 'POST') {
      return fail(call, { ...wordingOf(call, 405, '', 'Method Not Allowed'), status: 405 });
    }
    if (route.makes !== undefined) return playImages(settings, call, route.makes === 'edits');
    const body = jsonOrUndefined(read.body.toString());
    if (!isObject(body)) return fail(call, invalidPrompt('We could not parse the JSON body of your request.'));
    if (route.embeds === true) return playEmbeddings(settings, call, body);
    const reading = dialect.read(body, exchange.request.headers, {
      signatures: settings.signatures,
      strict: settings.strict,
      countOnly: route.countOnly,
    });
    if (!reading.ok) return fail(call, reading.failure);
    const script = readDirectives(cueOf(reading.value.turns).text, settings.raw);
    if (!script.ok) return fail(call, invalidPrompt(script.message));
    return play(settings, { call, body, prompt: reading.value, directives: script.directives });
  };
}
