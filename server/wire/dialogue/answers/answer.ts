import type { CacheWrite } from '../../../core/request.ts';
import type { TokenPools } from '../../../core/tokens.ts';
/**
 * One answer in words that belong to none of the protocols, whole or as it streams. Readers turn an upstream's
 * answer into it, writers put it into the client's protocol.
 */

import type { StreamError, WireContext } from '../../protocol.ts';
import { countedAs, reportedAs, type UsageReading } from '../../usage.ts';

/** Why the answer ended. */
export interface Finish {
  kind: 'stop' | 'stop-sequence' | 'length' | 'calls' | 'refusal';
  /** The stop sequence that was met, where the upstream says which. */
  sequence: string | null;
  /** What the vendor says about a refusal, apart from the answer's own text. */
  explanation: string | null;
}

export function finishOf(kind: Finish['kind']): Finish {
  return { kind, sequence: null, explanation: null };
}

/** A tool call, without its arguments. */
export interface ToolCall {
  kind: 'call';
  id: string;
  /** The client's name for the tool once the answer has passed `restoreCall`. */
  name: string;
  /** The arguments are free text, not JSON. */
  custom: boolean;
  /** The client's free-text tool, which travelled as a function with the one argument `input`. */
  wrapped: boolean;
  /** The group in which the client declared the tool. */
  namespace?: string;
}

/** The vendor sent no arguments for a call that takes JSON. */
export function isWithoutArguments({ custom, wrapped }: ToolCall, text: string): boolean {
  return !custom && !wrapped && text.trim() === '';
}

/**
 * Without the calls that say nothing: some vendors send an empty one beside their text. A call that has arguments and no
 * name stays, and `namedCalls` decides about it.
 */
export function withoutEmptyCalls(blocks: AnswerBlock[]): AnswerBlock[] {
  return blocks.filter((block) => block.kind !== 'call' || block.name !== '' || block.arguments.trim() !== '');
}

/** Without the calls that have no name, which no client can carry out; null when nothing else can be shown. */
export function namedCalls(blocks: AnswerBlock[]): AnswerBlock[] | null {
  const named = blocks.filter((block) => block.kind !== 'call' || block.name !== '');
  return named.length === 0 && blocks.length > 0 ? null : named;
}

export type TextKind = 'text' | 'refusal' | 'reasoning';

export type AnswerBlock = { kind: TextKind; text: string } | (ToolCall & { arguments: string });

/** Token counts, with what only the client's display needs beside the billed pools. */
export interface AnswerUsage {
  reading: UsageReading | null;
  /** How much of the output was reasoning, where the upstream says. */
  reasoningTokens: number | null;
}

/** The upstream has reported no counts. */
export const NO_USAGE: AnswerUsage = { reading: null, reasoningTokens: null };

export interface WholeAnswer {
  blocks: AnswerBlock[];
  finish: Finish;
  usage: AnswerUsage;
  /** As the upstream reported it. */
  model: string | null;
}

/** What a writer tells the client about tokens; null when the upstream said nothing. */
export interface ShownUsage {
  usage: TokenPools;
  reasoningTokens: number | null;
}

/** Usage by what is known of the upstream's way of counting. */
export function countedUsage(usage: AnswerUsage, { features }: WireContext): AnswerUsage {
  return { ...usage, reading: countedAs(usage.reading, features.cachedTokens) };
}

/** `asked`: the longest lifetime that the request's cache markers ask for. */
export function shownUsage({ reading, reasoningTokens }: AnswerUsage, asked: CacheWrite): ShownUsage | null {
  const { usage } = reportedAs(reading, asked);
  return usage === null ? null : { usage, reasoningTokens };
}

/** Takes the events that a stream reader finds, in the upstream's order. */
export interface AnswerSink {
  /** The answer exists; nothing of it has been said yet. */
  begin(): void;
  text(kind: TextKind, text: string): void;
  /** `key` tells the calls of one answer apart, as long as several are open. */
  call(key: string, call: ToolCall): void;
  callArguments(key: string, text: string): void;
  /** No more arguments will come for this call. */
  callEnd(key: string): void;
  /** Only the first one counts. */
  finish(finish: Finish): void;
  /** The upstream's own terminator. */
  end(): void;
  /** A sign of life that the upstream sent as an event. */
  ping(): void;
  fail(error: StreamError): void;
}

/** Reads the events of one upstream stream; `data` is one event's data. */
export interface StreamReader {
  event(type: string | null, data: string): void;
  usage(): AnswerUsage;
  readonly model: string | null;
}

/** The reader as it is made: with a member that it sets, because an accessor in an object literal costs a hidden class. */
export type OpenStreamReader = { -readonly [K in keyof StreamReader]: StreamReader[K] };

/** Blocks as a writer gets them: one at a time, each opened, filled and closed. */
export interface BlockSink {
  open(block: { kind: TextKind } | ToolCall): void;
  delta(text: string): void;
  close(): void;
}

/** Writes one stream in the client's protocol. Every method returns whole events, or nothing. */
export interface StreamWriter {
  begin(): string;
  open(block: { kind: TextKind } | ToolCall): string;
  delta(text: string): string;
  close(): string;
  /** Called when all blocks are closed. */
  finish(finish: Finish): string;
  /** The protocol's terminator, after `finish`. */
  end(usage: ShownUsage | null): string;
  fail(error: StreamError): string;
  readonly keepAlive: string;
  /** Kinds of text of which the writer keeps nothing: the pieces of a block differ in their text alone. */
  readonly forgets: readonly TextKind[];
}

/** The upstream's answer makes no sense in its own protocol. */
export function nonsense(message: string): StreamError {
  return { status: 502, type: 'api_error', message };
}
