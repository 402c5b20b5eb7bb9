/** Conversations as requests of each wire protocol, and what a test sees of them. */

import { createHmac } from 'node:crypto';
import { expect } from 'vitest';
import type { UpstreamFeatures } from '../../../server/core/features.ts';
import type { Protocol } from '../../../server/core/protocol.ts';
import { scanBody } from '../../../server/wire/body.ts';
import type { RequestFacts, WireContext, WireProblem, WireReply, WireStream } from '../../../server/wire/protocol.ts';
import { wireFor } from '../../../server/wire/wires.ts';
import { FULL_FEATURES } from '../features.ts';

export function contextWith(features: Partial<UpstreamFeatures> = {}): WireContext {
  return {
    catalogModel: 'cat-1',
    upstreamModel: 'up-1',
    maxOutputTokens: 32_000,
    features: { ...FULL_FEATURES, ...features },
    efforts: [],
    digest: (scope, text) => createHmac('sha256', 'test').update(`${scope}\0${text}`).digest('hex'),
    createdAt: 1_700_000_000,
    requestId: 'req_01',
    statusUrl: 'https://status.test',
  };
}

export interface Direction {
  client: Protocol;
  upstream: Protocol;
}

export const M_TO_C: Direction = { client: 'messages', upstream: 'chat-completions' };
export const C_TO_M: Direction = { client: 'chat-completions', upstream: 'messages' };
export const R_TO_C: Direction = { client: 'responses', upstream: 'chat-completions' };
export const R_TO_M: Direction = { client: 'responses', upstream: 'messages' };
export const M_TO_R: Direction = { client: 'messages', upstream: 'responses' };
export const C_TO_R: Direction = { client: 'chat-completions', upstream: 'responses' };
export const DIRECTIONS = [M_TO_C, C_TO_M, R_TO_C, R_TO_M, M_TO_R, C_TO_R];

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
export const text = (data: Uint8Array): string => new TextDecoder().decode(data);

/** The smallest request of each protocol; tests add to it. */
export const MINIMAL: Record<Protocol, Record<string, unknown>> = {
  messages: { model: 'cat-1', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] },
  'chat-completions': { model: 'cat-1', messages: [{ role: 'user', content: 'Hi' }] },
  responses: { model: 'cat-1', input: 'Hi' },
};

export function factsOf(client: Protocol, raw: Uint8Array): RequestFacts {
  const scan = scanBody(raw, client);
  if (!scan.ok) throw new Error(`the test's own request is refused: ${scan.problem.message}`);
  return scan.facts;
}

/** Translates a request, given as an object or as JSON text, to the upstream's exact JSON text. */
export function translate(direction: Direction, body: unknown, features: Partial<UpstreamFeatures> = {}): string {
  const outcome = attempt(direction, body, features);
  if ('problem' in outcome) throw new Error(`refused: ${outcome.problem.message}`);
  return outcome.body;
}

/** The translated request as a value. */
export function translated(
  direction: Direction,
  body: unknown,
  features: Partial<UpstreamFeatures> = {},
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into bodies whose form is the point of the test
): any {
  return JSON.parse(translate(direction, body, features));
}

/** Why a request cannot be translated. */
export function refusal(direction: Direction, body: unknown, features: Partial<UpstreamFeatures> = {}): WireProblem {
  const outcome = attempt(direction, body, features);
  if ('body' in outcome) expect.fail(`translated although it should be refused: ${outcome.body}`);
  return outcome.problem;
}

function attempt(
  { client, upstream }: Direction,
  body: unknown,
  features: Partial<UpstreamFeatures>,
): { body: string } | { problem: WireProblem } {
  const raw = bytes(typeof body === 'string' ? body : JSON.stringify(body));
  const request = wireFor(client, upstream).request(raw, factsOf(client, raw), contextWith(features));
  return request.ok ? { body: text(request.exchange.body) } : { problem: request.problem };
}

/** A request's answer: the wire that translated the request, ready to translate what the upstream says. */
export function exchange(
  { client, upstream }: Direction,
  body: Record<string, unknown> = {},
  features: Partial<UpstreamFeatures> = {},
): { reply(answer: unknown): WireReply; stream(): WireStream } {
  const raw = bytes(JSON.stringify({ ...MINIMAL[client], ...body }));
  const facts = factsOf(client, raw);
  const context = contextWith(features);
  const opened = wireFor(client, upstream).request(raw, facts, context);
  if (!opened.ok) throw new Error(`the test's own request is refused: ${opened.problem.message}`);
  return {
    reply: (answer) => opened.exchange.reply(bytes(typeof answer === 'string' ? answer : JSON.stringify(answer))),
    stream: () => opened.exchange.stream(),
  };
}

/** A translated whole answer as a value. */
export function replied(
  direction: Direction,
  answer: unknown,
  body: Record<string, unknown> = {},
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into bodies whose form is the point of the test
): any {
  return JSON.parse(text(exchange(direction, body).reply(answer).body));
}

/** Events of an upstream: Messages and Responses name them, chat completions do not. */
export function sse(protocol: Protocol, events: readonly (string | Record<string, unknown>)[]): string {
  return events
    .map((event) => {
      if (typeof event === 'string') return `data: ${event}\n\n`;
      const name = protocol === 'chat-completions' ? '' : `event: ${String(event.type)}\n`;
      return `${name}data: ${JSON.stringify(event)}\n\n`;
    })
    .join('');
}

/** Feeds a whole stream in pieces and returns everything that the client gets. */
export function relay(stream: WireStream, pieces: readonly Uint8Array[]): string {
  const out = pieces.map((piece) => text(stream.write(piece)));
  return [...out, text(stream.end())].join('');
}

/** The client's events: name (where the protocol has names) and data, parsed where it is JSON. */
export function eventsOf(stream: string): unknown[] {
  return stream
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => {
      if (block.startsWith(':')) return block;
      const lines = block.split('\n');
      const name = lines.find((line) => line.startsWith('event: '))?.slice(7);
      const data = lines.find((line) => line.startsWith('data: '))?.slice(6) ?? '';
      const value: unknown = data.startsWith('{') ? JSON.parse(data) : data;
      return name === undefined ? value : [name, value];
    });
}

/** The same stream as vendors and networks send it: every case must give the client the same events. */
export function awkwardForms(stream: string): [string, Uint8Array[]][] {
  const whole = bytes(stream);
  const halves = Array.from({ length: whole.length - 1 }, (_, index): [string, Uint8Array[]] => [
    `split at byte ${index + 1}`,
    [whole.slice(0, index + 1), whole.slice(index + 1)],
  ]);
  return [
    ['whole', [whole]],
    ['byte by byte', Array.from(whole, (byte) => Uint8Array.of(byte))],
    ['CRLF', [bytes(stream.replaceAll('\n', '\r\n'))]],
    ['CRLF byte by byte', Array.from(bytes(stream.replaceAll('\n', '\r\n')), (byte) => Uint8Array.of(byte))],
    ['CR', [bytes(stream.replaceAll('\n', '\r'))]],
    ['no space after the colon', [bytes(stream.replaceAll(/^(event|data): /gm, '$1:'))]],
    ['data of several lines', [bytes(stream.replaceAll(/^data: \{"/gm, 'data: {\ndata: "'))]],
    ['byte order mark first', [bytes(`\uFEFF${stream}`)]],
    ['ids and retries', [bytes(stream.replaceAll(/^data: /gm, 'id: 7\nretry: 10\ndata: '))]],
    ['without the last empty line', [bytes(stream.replace(/\n\n$/, '\n'))]],
    ...halves,
  ];
}
