import { Buffer } from 'node:buffer';
import { type Protocol, upstreamPaths } from '../core/protocol.ts';
import { type Edit, insertMember, modelEdits, splice } from './body.ts';
import { nativeError, scrubIdentifiers } from './envelope.ts';
import type { Verdict } from './event-relay.ts';
import type { JsonLimits, JsonNode } from './json.ts';
import type { RequestFacts, Wire, WireContext, WireExchange, WireReply, WireStream } from './protocol.ts';
import type { SseEvent } from './sse.ts';

/** The native wire, which hands bytes through, and the pieces that the three protocols' parts of it are made of. */

/** What sets a protocol's native wire apart from the others'. */
export interface NativeProtocol {
  protocol: Protocol;
  /** Edits of the request besides that of its model. */
  requestEdits(raw: Uint8Array, facts: RequestFacts, context: WireContext): Edit[];
  /** Throws `UnreadableReply`. */
  reply(body: Uint8Array, facts: RequestFacts, context: WireContext): WireReply;
  stream(facts: RequestFacts, context: WireContext): WireStream;
}

/** The wire of a route whose upstream speaks the client's own protocol. */
export function nativeWire(native: NativeProtocol): Wire {
  const { protocol } = native;
  return {
    client: protocol,
    upstream: protocol,
    request(raw, facts, context) {
      const edits = [...modelEdits(facts, context.upstreamModel), ...native.requestEdits(raw, facts, context)];
      return { ok: true, exchange: nativeExchange(native, splice(raw, edits), facts, context) };
    },
  };
}

/** A function of its own, so that an exchange keeps no other bytes than its body in memory. */
function nativeExchange(
  { protocol, reply, stream }: NativeProtocol,
  body: Uint8Array,
  facts: RequestFacts,
  context: WireContext,
): WireExchange {
  return {
    client: protocol,
    upstream: protocol,
    body,
    path: upstreamPaths[protocol],
    droppedTools: [],
    reply: (answer) => reply(answer, facts, context),
    stream: () => stream(facts, context),
    error: (status, answer) => nativeError(status, answer, context.requestId),
  };
}

/** Limits for answers and their events. The upstream is not hostile, so that they only bound a mishap. */
export const answerLimits: JsonLimits = { maxDepth: 512, maxValues: 20_000_000, refuseDuplicates: false };

/**
 * The edit that keeps a vendor from keeping what it is asked and what it answers: it stores both unless it is told not to,
 * in the one account that all customers share, where the operator's people can read them and ids of one customer would
 * reach what another one wrote. Whoever asks for it in so many words has passed the gate of that name.
 */
export function storeEdits(raw: Uint8Array, facts: RequestFacts): Edit[] {
  const span = facts.members.get('store');
  if (span === undefined) return [insertMember(raw, bodyStart(raw), 'store', 'false')];
  return raw[span.start] === 0x6e ? [{ ...span, text: 'false' }] : [];
}

/** Where a request's object begins: blanks may come before it. */
export function bodyStart(raw: Uint8Array): number {
  return raw.indexOf(0x7b);
}

/**
 * Whether an answer that lacks its list of content is one all the same: it says what it took and of no error, as a
 * filtered or empty one may.
 */
export function isAnswerWithoutContent(root: JsonNode | null): root is JsonNode {
  return root?.members.get('usage')?.kind === 'object' && root.members.get('error')?.kind !== 'object';
}

export type DataEvent = SseEvent & { data: Buffer };

/** An answer names the catalog's id where the upstream knows the model by another one. */
export function answerModelEdits(model: JsonNode | undefined, context: WireContext): Edit[] {
  if (model?.kind !== 'string' || context.upstreamModel === context.catalogModel) return [];
  return [{ start: model.start, end: model.end, text: JSON.stringify(context.catalogModel) }];
}

/** The event with edits applied to its data, every other byte as it came; the event itself when there are none. */
export function editEvent(event: DataEvent, edits: readonly Edit[]): Extract<Verdict, { kind: 'pass' | 'replace' }> {
  if (edits.length === 0) return { kind: 'pass' };
  const { bytes, data, dataStart } = event;
  if (dataStart !== null) {
    const shift = dataStart - event.start;
    const shifted = edits.map((edit) => ({ ...edit, start: edit.start + shift, end: edit.end + shift }));
    return { kind: 'replace', with: splice(bytes.subarray(event.start, event.end), shifted), edits: shifted };
  }
  // Data of several lines was joined in a buffer of its own; JSON stays the same JSON when its line breaks go.
  const name = event.type === null ? '' : `event: ${event.type}\n`;
  const line = Buffer.from(splice(data, edits)).toString('utf8').replaceAll('\n', ' ');
  return { kind: 'replace', with: Buffer.from(`${name}data: ${line}\n\n`) };
}

/** An error event without identifiers of the operator's account; null when it has none. */
export function scrubEvent(event: SseEvent, requestId: string): Buffer | null {
  const text = event.bytes.toString('utf8', event.start, event.end);
  const scrubbed = scrubIdentifiers(text, requestId);
  return scrubbed === text ? null : Buffer.from(scrubbed);
}

/**
 * The strings of an event that the next one may have others for: the one that was counted first, then those that mean
 * nothing. Null when something else was counted than one of `candidates`, or nothing.
 */
export function wordsOf(
  pieces: number,
  candidates: readonly (JsonNode | undefined)[],
  meaningless: JsonNode | undefined,
): readonly JsonNode[] | null {
  const full = candidates.filter((node) => node?.kind === 'string' && node.end - node.start > 2);
  const [word] = full;
  if (pieces !== 1 || full.length !== 1 || word === undefined) return null;
  if (meaningless === undefined) return [word];
  return meaningless.kind === 'string' && meaningless.start > word.end ? [word, meaningless] : null;
}

/** Generated content seen so far. */
export interface Generated {
  bytes: number;
  pieces: number;
}

/** A string that says something. */
export function isSaid(node: JsonNode | undefined): boolean {
  return node?.kind === 'string' && node.end - node.start > 2;
}

/** Counts a string's bytes between the quotes, escapes included: near enough for an estimate, and no decoding. */
export function countText(generated: Generated, node: JsonNode | undefined): void {
  if (node?.kind !== 'string') return;
  count(generated, node.end - node.start - 2);
}

/** Counts any value by its JSON, an empty container as nothing. */
export function countJson(generated: Generated, node: JsonNode | undefined): void {
  if (node === undefined || node.kind === 'null') return;
  if (node.kind === 'string') return countText(generated, node);
  const bytes = node.end - node.start;
  if (bytes > 2) count(generated, bytes);
}

/** Counts one piece of so many bytes. */
export function count(generated: Generated, bytes: number): void {
  if (bytes === 0) return;
  generated.bytes += bytes;
  generated.pieces += 1;
}
