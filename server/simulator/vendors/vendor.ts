/** What sets one simulated vendor apart from the reference of its protocol. */

import type { ProfileId } from '../../core/profile.ts';
import type { Protocol } from '../../core/protocol.ts';
import type { BareEvent, Envelope, StreamEvent } from '../dialects/dialect.ts';
import { arrayOf, isObject, type ParsedObject, wordOf } from '../json.ts';
import { invalidPrompt, type Prompt, type VendorError } from '../prompt.ts';
import type { PlayedAnswer } from '../script.ts';

export interface SimulatedVendor {
  id: ProfileId;
  protocols: readonly Protocol[];
  /** The body without the members that the vendor ignores. Absent: it reads all of them. */
  seen?(body: ParsedObject, protocol: Protocol): ParsedObject;
  /** The vendor's refusal of what the reference takes. */
  refuse(body: ParsedObject, protocol: Protocol): VendorError | null;
  /** Text that it thinks unless it is told not to; absent or null: none. */
  thought?(body: ParsedObject): string | null;
  /** The vendor's failure over an answer that the reference gives. */
  refuseAnswer?(answer: PlayedAnswer, prompt: Prompt): VendorError | null;
  errorBody?(failure: VendorError): unknown;
  reasoningField?: Envelope['reasoningField'];
  idStyle?: readonly [prefix: string, length: number];
  /** The usage object in the vendor's form. */
  usage?(usage: ParsedObject): ParsedObject;
  /** A whole answer in the vendor's form. */
  whole?(answer: ParsedObject): ParsedObject;
  /** The events of a stream in the vendor's form. `usage` is what the whole answer reports. */
  events?(events: Iterable<StreamEvent>, usage: ParsedObject): Iterable<StreamEvent | BareEvent>;
}

export function messagesOf(body: ParsedObject): ParsedObject[] {
  return arrayOf(body['messages']).filter(isObject);
}

export function modelOf(body: ParsedObject): string {
  return wordOf(body['model']);
}

/** Whether the value obliges the model to call a tool, in either protocol's form. */
export function isForcedChoice(choice: unknown): boolean {
  if (choice === 'required' || choice === 'any') return true;
  return isObject(choice) && ['function', 'tool', 'any', 'custom'].includes(wordOf(choice['type']));
}

export function hasTools(body: ParsedObject): boolean {
  return arrayOf(body['tools']).length > 0;
}

/** The members of the body that are in none of the lists. */
export function unknownMembers(body: ParsedObject, ...known: readonly string[]): string[] {
  const names = new Set(known.flatMap((list) => list.split(' ')));
  return Object.keys(body).filter((name) => !names.has(name));
}

export function without(body: ParsedObject, ...names: readonly string[]): ParsedObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));
}

/** The first refusal of a list, in its order. */
export function firstOf(...refusals: (VendorError | null)[]): VendorError | null {
  return refusals.find((refusal) => refusal !== null) ?? null;
}

/** Whether a system message stands anywhere but first. */
export function hasLateSystem(body: ParsedObject): boolean {
  return messagesOf(body).some(({ role }, index) => index > 0 && (role === 'system' || role === 'developer'));
}

export function unsupportedParameter(name: string, instead = ''): VendorError {
  const message = `Unsupported parameter: '${name}' is not supported with this model.${instead}`;
  return invalidPrompt(message, name, 'unsupported_parameter');
}

/** Rewrites the JSON of each chunk; what is no JSON (`[DONE]`) stays. */
export function* mapChunks(
  events: Iterable<StreamEvent>,
  change: (chunk: ParsedObject) => ParsedObject | null,
): Iterable<StreamEvent> {
  for (const event of events) {
    const chunk: unknown = event.data.startsWith('{') ? JSON.parse(event.data) : null;
    if (!isObject(chunk)) yield event;
    else {
      const changed = change(chunk);
      if (changed !== null) yield { ...event, data: JSON.stringify(changed) };
    }
  }
}

/** A chunk's first choice; null in one without choices. */
export function choiceOf(chunk: ParsedObject): ParsedObject | null {
  const [choice] = arrayOf(chunk['choices']).filter(isObject);
  return choice ?? null;
}

export function isFinish(chunk: ParsedObject): boolean {
  return typeof choiceOf(chunk)?.['finish_reason'] === 'string';
}

export function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
