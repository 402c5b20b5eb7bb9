/**
 * One request in words that belong to none of the protocols. Readers turn a client's body into it and refuse what
 * only their own protocol knows; writers turn it into an upstream's body and refuse what that one lacks. Each piece
 * remembers where it stood (`at`), so that a refusal names the client's own field.
 */

import type { JsonNumber, JsonObject } from './json.ts';

/** A cache marker; the lifetime is the only thing the protocols say about it. */
export interface CacheMark {
  ttl: '5m' | '1h' | null;
}

export interface TextPart {
  kind: 'text';
  text: string;
  cache: CacheMark | null;
  at: string;
}

export interface ImagePart {
  kind: 'image';
  source: { kind: 'base64'; mediaType: string; data: string } | { kind: 'url'; url: string };
  /** Chat completions and Responses only; the Messages protocol has no such setting. */
  detail: string | null;
  cache: CacheMark | null;
  at: string;
}

export interface DocumentPart {
  kind: 'document';
  source:
    | { kind: 'base64'; mediaType: string; data: string }
    | { kind: 'text'; text: string }
    | { kind: 'url'; url: string };
  title: string | null;
  context: string | null;
  cache: CacheMark | null;
  at: string;
}

export type ContentPart = TextPart | ImagePart | DocumentPart;

export interface ReasoningPart {
  kind: 'reasoning';
  text: string;
  at: string;
}

export interface CallPart {
  kind: 'call';
  /** As the chat protocols spell it; the Messages reader decodes and its writer encodes (see tool-ids.ts). */
  id: string;
  name: string;
  /** A function's JSON arguments as text, or a custom tool's free text. */
  arguments: string;
  custom: boolean;
  cache: CacheMark | null;
  at: string;
}

export type AssistantPart = TextPart | ReasoningPart | CallPart;

export interface ToolResult {
  callId: string;
  parts: ContentPart[];
  failed: boolean;
  custom: boolean;
  cache: CacheMark | null;
  at: string;
}

export type Turn =
  | { role: 'system'; texts: TextPart[]; at: string }
  | { role: 'user'; parts: ContentPart[]; at: string }
  | { role: 'assistant'; parts: AssistantPart[]; at: string }
  | { role: 'results'; results: ToolResult[]; at: string };

export interface FunctionTool {
  kind: 'function';
  name: string;
  description: string | null;
  /** JSON Schema of the arguments; null when the client gave none. */
  schema: JsonObject | null;
  strict: boolean | null;
  cache: CacheMark | null;
  at: string;
  /** How the client knows the tool, where that differs: its calls go back so. */
  own?: OwnTool;
}

/** A client's tool that travels as a function of another name or form. */
export interface OwnTool {
  name: string;
  /** The group that the client declared it in (Responses only); its name alone does not tell it from others. */
  namespace: string | null;
  /** It takes free text, and travels as a function with the one argument `input`. */
  freeText: boolean;
}

/** A tool that takes free text; only the OpenAI protocols have it. */
export interface CustomTool {
  kind: 'custom';
  name: string;
  description: string | null;
  format: JsonObject | null;
  at: string;
}

export type Tool = FunctionTool | CustomTool;

export type ToolChoice =
  | { kind: 'auto' | 'any' | 'none'; at: string }
  | { kind: 'tool'; name: string; custom: boolean; at: string };

export const EFFORTS = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof EFFORTS)[number];

/** How much the model shall think. */
export type Thinking =
  | { kind: 'off'; at: string }
  | { kind: 'effort'; effort: Effort; at: string }
  | { kind: 'budget'; tokens: number; at: string }
  /** The model decides. */
  | { kind: 'adaptive'; at: string };

export type AnswerFormat =
  | { kind: 'json'; at: string }
  | {
      kind: 'schema';
      schema: JsonObject;
      name: string | null;
      description: string | null;
      strict: boolean | null;
      at: string;
    };

export interface Dialogue {
  /** Leading system texts, in order. */
  instructions: TextPart[];
  turns: Turn[];
  tools: Tool[];
  toolChoice: ToolChoice | null;
  /** False: at most one call at a time. Null: not said. */
  parallelCalls: boolean | null;
  thinking: Thinking | null;
  /** Whether the client asked to be shown the reasoning, or not to be; null when it said neither. */
  showReasoning: boolean | null;
  format: AnswerFormat | null;
  stop: { sequences: string[]; at: string };
  temperature: JsonNumber | null;
  topP: JsonNumber | null;
  topK: JsonNumber | null;
  /** The client's name for its own user, as sent; writers pass on a digest only. */
  endUser: string | null;
  verbosity: string | null;
  /** Routes a vendor's prompt cache; passed on as a digest only. */
  cacheKey: string | null;
}
