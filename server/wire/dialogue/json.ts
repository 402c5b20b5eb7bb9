/**
 * JSON whose numbers keep their spelling. JavaScript turns 12345678901234567890 into …567000 and 1.0 into 1;
 * tool arguments and schemas must cross the gateway with the digits that the model or the client wrote.
 */

/** A number whose source text a JavaScript number would not reproduce. */
export interface RawNumber {
  readonly rawJSON: string;
}

export type JsonNumber = number | RawNumber;
export type Json = null | boolean | string | JsonNumber | Json[] | JsonObject;
export interface JsonObject {
  [name: string]: Json;
}

/** The part of ES2026's JSON that Node 24 has and the compiler's library does not describe yet. */
interface JsonWithSource {
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
  parse(text: string, reviver: (name: string, value: unknown, context: { source?: string }) => unknown): Json;
}

const json = JSON as unknown as JsonWithSource;

/**
 * Parses text, keeping every number that would otherwise change as a {@link RawNumber}.
 * Throws `SyntaxError`, and `RangeError` for nesting deeper than the stack (both mean: not usable).
 */
export function parseJson(text: string): Json {
  return json.parse(text, (_name, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? json.rawJSON(source) : value,
  );
}

/** Members whose numbers are the model's own: what a tool is called with keeps the digits that were written. */
const modelsOwn = new Set(['input', 'arguments']);

/**
 * Parses an upstream's answer or event: plain numbers, however their vendor spells them (`3.0`, `1e2`, `-0`), but in
 * the arguments of tools, which keep theirs. Throws like {@link parseJson}.
 */
export function parseAnswer(text: string): Json {
  if (!argumentsAsJson.test(text)) return JSON.parse(text) as Json;
  const root = [parseJson(text)];
  makePlain(root);
  return root[0] as Json;
}

/** Arguments that come as JSON, not as text. It finds too many rather than too few, which costs time and nothing else. */
const argumentsAsJson = /"(?:input|arguments)"\s*:\s*[^"\s]/;

function makePlain(holder: Json[] | JsonObject): void {
  for (const [name, value] of Object.entries(holder)) {
    if (isRaw(value)) (holder as JsonObject)[name] = numberValue(value);
    else if (typeof value === 'object' && value !== null && !modelsOwn.has(name)) makePlain(value);
  }
}

function isRaw(value: Json): value is RawNumber {
  return json.isRawJSON(value);
}

/** Like {@link parseJson}, with undefined where the text is no JSON. */
export function tryParseJson(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Bytes of UTF-8 JSON to a value; a byte order mark is skipped. */
export function parseJsonBytes(bytes: Uint8Array): Json {
  return parseJson(decoder.decode(bytes));
}

/** Bytes of UTF-8 JSON to an upstream's answer; a byte order mark is skipped. */
export function parseAnswerBytes(bytes: Uint8Array): Json {
  return parseAnswer(decoder.decode(bytes));
}

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** The JSON text of a value; members that are undefined are left out. */
export function stringifyJson(value: unknown): string {
  return JSON.stringify(value);
}

export function encodeText(text: string): Uint8Array {
  return encoder.encode(text);
}

export function encodeJson(value: unknown): Uint8Array {
  return encoder.encode(stringifyJson(value));
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !json.isRawJSON(value);
}

export function isNumber(value: Json | undefined): value is JsonNumber {
  return typeof value === 'number' || json.isRawJSON(value);
}

/** The value of a number, however it was spelled. */
export function numberValue(value: JsonNumber): number {
  return typeof value === 'number' ? value : Number(value.rawJSON);
}

/** The member of that name when it is a string. */
export function stringMember(value: JsonObject, name: string): string | null {
  const member = value[name];
  return typeof member === 'string' ? member : null;
}

/** The `type` member, by which all protocols tell their blocks, parts, items and events apart; empty when absent. */
export function typeOf(value: JsonObject): string {
  return stringMember(value, 'type') ?? '';
}

/** A member by which a vendor says nothing: left out, null, false, or an empty string, list or object. */
export function saysNothing(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === false || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}

/** The member of that name when it is an object. */
export function objectMember(value: JsonObject, name: string): JsonObject | null {
  const member = value[name];
  return isObject(member) ? member : null;
}

/** The member of that name when it is a list, else an empty one: for answers, where absence means "nothing". */
export function listMember(value: JsonObject, name: string): Json[] {
  const member = value[name];
  return Array.isArray(member) ? member : [];
}
