/** The interface of a simulated vendor's protocol. */

import type { IncomingHttpHeaders } from 'node:http';
import type { Protocol } from '../../core/protocol.ts';
import type { ParsedObject } from '../json.ts';
import type { Prompt, Reading, Segment, VendorError } from '../prompt.ts';
import type { CachedInput, PromptCache } from '../prompt-cache.ts';
import type { PlayedAnswer } from '../script.ts';
import type { Signatures } from '../signatures.ts';

/** One event of a stream. */
export interface StreamEvent {
  /** The `event:` line; null in protocols that have none. */
  name: string | null;
  data: string;
  /** Generated tokens that it carries: what paces the stream. */
  tokens: number;
  /** Keep-alives belong to no answer and are not counted by `cut`, `midfail` and `hang`. */
  counted: boolean;
}

/** Scripted bytes that stand in a stream as they are, however many events they hold. */
export interface BareEvent {
  bare: Buffer;
  tokens: number;
  counted: boolean;
}

/** The usage that an answer reports. */
export type UsageReport =
  /** The vendor's shape, or the script's replacement. `text` is its exact JSON. */
  { kind: 'reported'; value: unknown; text: string } | { kind: 'none' };

/** Further inputs of a rendered answer. */
export interface Envelope {
  /** The answer's id, in the vendor's style. */
  id: string;
  /** Further ids, e.g. `nextId('toolu_', 24)`. */
  nextId(prefix: string, length: number): string;
  model: string;
  /** Unix seconds. */
  createdAt: number;
  usage: UsageReport;
  /** The request body, for members that the vendor echoes or that change the answer's shape. */
  body: ParsedObject;
  headers: IncomingHttpHeaders;
  prompt: Prompt;
  signatures: Signatures;
  reasoningField: 'reasoning_content' | 'reasoning';
  /** As the script says; null: as was asked for. */
  tier: string | null;
}

export interface ReadRules {
  signatures: Signatures;
  /** Check the history as closely as the vendor does: calls and results must pair up. */
  strict: boolean;
  /** The request only counts tokens, so that members about the answer may be missing. */
  countOnly: boolean;
}

/** One vendor's protocol. Pure: values in, values out. */
export interface VendorDialect {
  protocol: Protocol;
  /** The vendor's id for the operator's account; it stands in headers and in some error texts. */
  accountId: string;
  /** Reads and checks a request as the vendor would. */
  read(body: ParsedObject, headers: IncomingHttpHeaders, rules: ReadRules): Reading<Prompt>;
  /** Splits the input by the vendor's caching rules. */
  cached(cache: PromptCache, scope: string, segments: readonly Segment[]): CachedInput;
  /** The vendor's usage object. */
  usage(input: CachedInput, answer: PlayedAnswer, answers: number, envelope: Envelope): unknown;
  /** Prefix and length of an answer's id. */
  idStyle: readonly [prefix: string, length: number];
  /** The body of an answer that is not streamed, ready for `stringify`. */
  whole(answer: PlayedAnswer, envelope: Envelope): unknown;
  /** The events of a streamed answer, made one by one as they are sent. */
  events(answer: PlayedAnswer, envelope: Envelope): Iterable<StreamEvent | BareEvent>;
  /** The vendor's failure over an answer that it would otherwise give; absent: it gives every answer. */
  refuseAnswer?(answer: PlayedAnswer, prompt: Prompt): VendorError | null;
  /** How a running stream reports a failure, after so many events. */
  failedEvents(failure: VendorError, envelope: Envelope, sent: number): Iterable<StreamEvent>;
  /** The error envelope. */
  errorBody(failure: VendorError, requestId: string): unknown;
  /** The vendor's message for a status, unless the script has one. */
  wording(status: number, about: { model: string; credential: string }): VendorError;
  /** The status of a failure inside a stream when the script names none. */
  midStreamStatus: number;
  /** The headers that identify and meter the operator's account; a gateway must not forward them. */
  accountHeaders(about: { requestId: string; status: number }): [string, string][];
}
