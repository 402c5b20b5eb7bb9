import { type FieldRule, isProtocolName } from '../members.ts';
import type { WireProblem } from '../protocol.ts';
import { isNumber, isObject, type Json, type JsonNumber, type JsonObject, stringMember } from './json.ts';

/**
 * Ends a request translation from any depth of the body. It never leaves this folder: `translatingWire` turns it
 * into the `{ ok: false }` outcome that the contract promises.
 */
export class Untranslatable extends Error {
  override name = 'Untranslatable';
  readonly problem: WireProblem;

  constructor(problem: WireProblem) {
    super(problem.message);
    this.problem = problem;
  }
}

/** Refuses a field that the other protocol (or this upstream) has no words for. */
export function refuse(param: string, reason: string, code = 'unsupported_parameter'): never {
  throw new Untranslatable({ message: `${param}: ${reason}`, param, code });
}

/** Longer names of members are not repeated: the client chooses them. */
const MAX_QUOTED = 64;

/** Refuses a block, part, item or tool of a type that cannot be carried over. */
export function refuseType(value: JsonObject, at: string, what: string): never {
  const type = stringMember(value, 'type');
  return refuse(
    `${at}.type`,
    `${what} of ${type === null || !isProtocolName(type) ? 'unknown type' : `type "${type}"`} are not supported for this model`,
  );
}

/** Refuses a field whose value is not what the client's own protocol allows. */
function malformed(param: string, expected: string): never {
  throw new Untranslatable({ message: `${param}: expected ${expected}`, param, code: null });
}

export function requireObject(value: Json | undefined, at: string): JsonObject {
  return isObject(value) ? value : malformed(at, 'an object');
}

export function requireList(value: Json | undefined, at: string): Json[] {
  return Array.isArray(value) ? value : malformed(at, 'a list');
}

export function requireString(value: Json | undefined, at: string): string {
  return typeof value === 'string' ? value : malformed(at, 'a string');
}

/** Null and absent are the same in every one of the protocols. */
export function optionalString(value: Json | undefined, at: string): string | null {
  return value === undefined || value === null ? null : requireString(value, at);
}

export function optionalBoolean(value: Json | undefined, at: string): boolean | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'boolean' ? value : malformed(at, 'true or false');
}

export function optionalNumber(value: Json | undefined, at: string): JsonNumber | null {
  if (value === undefined || value === null) return null;
  return isNumber(value) ? value : malformed(at, 'a number');
}

export function optionalObject(value: Json | undefined, at: string): JsonObject | null {
  return value === undefined || value === null ? null : requireObject(value, at);
}

export function optionalList(value: Json | undefined, at: string): Json[] {
  return value === undefined || value === null ? [] : requireList(value, at);
}

export function oneOf<T extends string>(value: Json | undefined, allowed: readonly T[], at: string): T {
  const found = allowed.find((name) => name === value);
  return found ?? malformed(at, `one of ${allowed.join(', ')}`);
}

/**
 * Refuses every field without a rule, and every ruled one whose value is not harmless. Null counts as absent. `at` is
 * where the object stands in the body; the body itself stands nowhere.
 */
export function checkFields(
  fields: JsonObject,
  { rules, upstream, at = '' }: { rules: Readonly<Record<string, FieldRule>>; upstream: string; at?: string },
): void {
  for (const [name, value] of Object.entries(fields)) {
    if (value === null) continue;
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (rule === 'read' || rule === 'drop') continue;
    if (typeof rule === 'function' && rule(value)) continue;
    const shown = name.length > MAX_QUOTED ? `${name.slice(0, MAX_QUOTED)}…` : name;
    const param = at === '' ? shown : `${at}.${shown}`;
    refuse(param, `is not supported for this model: its upstream speaks ${upstream}, which has no equivalent`);
  }
}
