import { createHash } from 'node:crypto';
import { featuresOf } from '../../catalog/features.ts';
import { formatUsd } from '../../core/money.ts';
import { cost, type UnitPrices } from '../../core/price.ts';
import type { Protocol } from '../../core/protocol.ts';
import { scanBody } from '../../wire/body.ts';
import { type RequestFacts, UnreadableReply, type WireContext, type WireExchange } from '../../wire/protocol.ts';
import { wireFor } from '../../wire/wires.ts';
import { meterStream, meterWhole } from '../settle.ts';
import type { RecordedExchange } from './recorded.ts';

/**
 * Replays a recorded answer for a client of each protocol, and reports outcome and cost. A report contains counts,
 * types and the gateway's sentences: no prompt and no completion.
 */

/** Price and limits of the model, as far as the operator gives them. */
export interface ReplayedModel {
  prices: UnitPrices | null;
  contextWindow: number;
}

export interface ReplayedView {
  client: Protocol;
  /** `answer`, `stream` (and its end), `error` or `unreadable`. */
  outcome: string;
  /** The answer's finish reason in the client's protocol; null without one. */
  ending: string | null;
  /** Bytes for the client, and counted bytes of generated content. */
  bytes: number;
  contentBytes: number;
  usage: Record<string, number> | null;
  usageSource: string;
  costUsd: string | null;
  /** The client would not have got a complete answer, or its usage is not as reported. */
  isFault: boolean;
}

export interface ReplayedExchange {
  upstream: Protocol;
  status: number;
  isStream: boolean;
  views: ReplayedView[];
}

const clients: readonly Protocol[] = ['messages', 'chat-completions', 'responses'];

export function replay(recorded: RecordedExchange, model: ReplayedModel): ReplayedExchange {
  const { upstream, status, isStream } = recorded;
  return { upstream, status, isStream, views: clients.map((client) => viewOf(client, recorded, model)) };
}

function viewOf(client: Protocol, recorded: RecordedExchange, model: ReplayedModel): ReplayedView {
  const { exchange, facts } = exchangeFor(client, recorded);
  if (recorded.status >= 300) return errorView(client, exchange, recorded);
  return recorded.isStream
    ? streamView(client, exchange, { recorded, facts, model })
    : wholeView(client, exchange, { recorded, facts, model });
}

interface Answered {
  recorded: RecordedExchange;
  facts: RequestFacts;
  model: ReplayedModel;
}

/**
 * The exchange of the recorded answer. The request of another protocol's client was not recorded: the smallest request
 * replaces it, with the measures of the recorded one.
 */
function exchangeFor(client: Protocol, recorded: RecordedExchange): { exchange: WireExchange; facts: RequestFacts } {
  const { upstream, request, isStream } = recorded;
  const known = request === null ? null : scanBody(request, upstream);
  const measured = known?.ok === true ? known.facts : null;
  const raw = client === upstream && request !== null && measured !== null ? request : smallest(client, isStream);
  const scan = scanBody(raw, client);
  if (!scan.ok) throw new Error("the stand-in for a client's request is refused");
  const { facts } = scan;
  if (measured !== null) {
    const { cacheWrite, textBytes, images, documents, documentBytes, reasoning } = measured;
    Object.assign(facts, { cacheWrite, textBytes, images, documents, documentBytes, reasoning });
  }
  const opened = wireFor(client, upstream).request(raw, facts, contextFor(upstream, facts.model));
  if (!opened.ok) throw new Error("the stand-in for a client's request cannot be translated");
  return { exchange: opened.exchange, facts };
}

function smallest(client: Protocol, stream: boolean): Buffer {
  const messages = [{ role: 'user', content: '.' }];
  const more = {
    messages: { max_tokens: 1_024, messages },
    'chat-completions': { messages, ...(stream ? { stream_options: { include_usage: true } } : {}) },
    responses: { input: '.' },
  };
  return Buffer.from(JSON.stringify({ model: 'replayed', stream, ...more[client] }));
}

function contextFor(upstream: Protocol, model: string): WireContext {
  return {
    catalogModel: model,
    upstreamModel: model,
    maxOutputTokens: 65_536,
    features: featuresOf(upstream, null, {}),
    efforts: [],
    digest: (scope, text) => createHash('sha256').update(`${scope}\0${text}`).digest('hex'),
    createdAt: 0,
    requestId: 'replayed',
    statusUrl: 'https://status.invalid',
  };
}

function errorView(client: Protocol, exchange: WireExchange, { status, response }: RecordedExchange): ReplayedView {
  const passed = status === 400 || status === 413 || status === 422;
  const error = passed ? exchange.error(status, response) : null;
  return {
    ...nothing(client),
    outcome: error === null ? "an error in the gateway's own words" : `error ${error.status}`,
    bytes: error?.body.length ?? 0,
    isFault: passed && error === null,
  };
}

function wholeView(client: Protocol, exchange: WireExchange, { recorded, facts, model }: Answered): ReplayedView {
  try {
    const { body, account } = exchange.reply(recorded.response);
    const metered = meterWhole(account, facts, model.contextWindow, 'completed');
    return {
      ...nothing(client),
      outcome: 'answer',
      ending: endingOf(Buffer.from(body).toString('utf8')),
      bytes: body.length,
      contentBytes: account.outputBytes,
      ...costOf(metered, model),
      isFault: metered.usageSource !== 'reported',
    };
  } catch (error) {
    if (!(error instanceof UnreadableReply)) throw error;
    return { ...nothing(client), outcome: `unreadable: ${error.message}`, isFault: true };
  }
}

function streamView(client: Protocol, exchange: WireExchange, { recorded, facts, model }: Answered): ReplayedView {
  const stream = exchange.stream();
  const text = Buffer.concat([stream.write(recorded.response), stream.end()]).toString('utf8');
  const account = stream.account();
  const isComplete = stream.state === 'terminated';
  const ending = isComplete ? 'completed' : stream.state === 'failed' ? 'upstream_error' : 'upstream_cut';
  const metered = meterStream(ending, account, facts, model.contextWindow, 0);
  return {
    ...nothing(client),
    outcome: `stream, ${stream.state}`,
    ending: endingOf(text),
    bytes: Buffer.byteLength(text),
    contentBytes: account.outputBytes,
    ...costOf(metered, model),
    isFault: !isComplete || metered.usageSource !== 'reported' || chunked(exchange, recorded.response) !== text,
  };
}

/** Reads the same stream in pieces that end inside lines and characters: the result must be the same. */
function chunked(exchange: WireExchange, response: Buffer): string {
  const stream = exchange.stream();
  const out: Uint8Array[] = [];
  for (let at = 0; at < response.length; at += 7)
    out.push(Uint8Array.from(stream.write(response.subarray(at, at + 7))));
  out.push(stream.end());
  return Buffer.concat(out).toString('utf8');
}

/** The last finish reason of any protocol in the text. */
function endingOf(text: string): string | null {
  const said = [...text.matchAll(/"(?:stop_reason|finish_reason|status)"\s*:\s*"([a-z_]{1,32})"/g)];
  return said.at(-1)?.[1] ?? null;
}

function costOf(
  { usage, usageSource }: ReturnType<typeof meterWhole>,
  { prices }: ReplayedModel,
): Pick<ReplayedView, 'usage' | 'usageSource' | 'costUsd'> {
  return { usage: { ...usage }, usageSource, costUsd: prices === null ? null : formatUsd(cost(usage, prices)) };
}

function nothing(client: Protocol): ReplayedView {
  const none = { ending: null, bytes: 0, contentBytes: 0, usage: null, usageSource: 'none', costUsd: null };
  return { client, outcome: '', ...none, isFault: false };
}
