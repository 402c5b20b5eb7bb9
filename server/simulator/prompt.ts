/** The content of a request, in the terms that the three protocols share. */

import type { Protocol } from '../core/protocol.ts';

/** One step of the conversation, oldest first, reduced to what the script needs. */
export type PromptTurn = { from: 'user'; text: string } | { from: 'assistant' } | { from: 'tool' };

/** A segment of the context, in the order in which the vendor's cache sees it. */
export interface Segment {
  /** Distinguishes it from other segments; media are represented by their digest. */
  text: string;
  tokens: number;
  /** How long the context up to here shall be cached; null when no marker asks for it. */
  mark: '5m' | '1h' | null;
}

export interface PromptTool {
  name: string;
  /** JSON schema of its input; null for a tool that takes free text. */
  schema: unknown;
  kind: 'function' | 'custom';
}

/** `any` and `named` oblige the model to call a tool. */
export type PromptToolChoice = { mode: 'auto' | 'none' | 'any' } | { mode: 'named'; name: string };

export interface Prompt {
  protocol: Protocol;
  model: string;
  stream: boolean;
  /** Cap on generated tokens, thinking included; null when there is none. */
  maxTokens: number | null;
  stopSequences: string[];
  /** How many answers are wanted. */
  answers: number;
  turns: PromptTurn[];
  segments: Segment[];
  tools: PromptTool[];
  toolChoice: PromptToolChoice;
  parallelTools: boolean;
  /** The answer must be JSON; `schema` is null when any object will do. */
  json: { schema: unknown } | null;
  /** Chat completions: the usage chunk was asked for. */
  includeUsage: boolean;
  /** What the model thinks although the script does not say so; null: nothing. */
  thought: string | null;
}

/** A refusal or failure, before it gets the protocol's envelope. */
export interface VendorError {
  status: number;
  message: string;
  /** The envelope's `type`; null for the vendor's usual one for that status. */
  type: string | null;
  param: string | null;
  code: string | null;
}

export type Reading<T> = { ok: true; value: T } | { ok: false; failure: VendorError };

/** A 400 in the making; the dialect fills in its usual type. */
export function invalidPrompt(message: string, param: string | null = null, code: string | null = null): VendorError {
  return { status: 400, message, type: null, param, code };
}

/** The number of tokens that were sent in. `count_tokens` and usage both come from here. */
export function countPromptTokens(segments: readonly Segment[]): number {
  return segments.reduce((sum, segment) => sum + segment.tokens, 0);
}
