/** The directives that a user's text gives to the simulator. */

import { endOfJson, isObject, jsonOrUndefined } from './json.ts';

/** A break in the answer after so many stream events. */
export type Fault =
  /** The connection goes: `close` drops it, `reset` drops it with a TCP reset, `end` ends the body as if all were said. */
  | { kind: 'cut'; after: number; how: 'close' | 'reset' | 'end' }
  /** An error event in the vendor's wording for `status` (null: the vendor's usual one), then the end of the body. */
  | { kind: 'midfail'; after: number; status: number | null }
  /** Silence, until the client leaves. */
  | { kind: 'hang'; after: number };

interface ToolDirective {
  name: string;
  /** The input as JSON text, exactly as written. */
  inputJson: string;
  /** The id of the call, for unusual ones; null for one in the vendor's style. */
  id: string | null;
}

/** The directives of a user's text. */
export interface Directives {
  say: string | null;
  think: string | null;
  tools: ToolDirective[];
  status: { code: number; message: string | null } | null;
  delayMs: number;
  /** The earliest of the requested breaks. */
  fault: Fault | null;
  /** JSON text of the usage to report; null for the simulator's own count. */
  usageJson: string | null;
  noUsage: boolean;
  headers: [name: string, value: string | string[]][];
  raw: Buffer | null;
  /** Bytes for the raw socket, status line included. */
  socket: Buffer | null;
  /** Drop the connection instead of answering. */
  drop: boolean;
  /** The model id to report instead of the one asked for. */
  model: string | null;
  /** The tier, speed or region to report instead of the one asked for; `none`: it says none. */
  tier: string | null;
  tokensPerSecond: number | null;
}

export type ReadDirectives = { ok: true; directives: Directives } | { ok: false; message: string };

/** More words than this are refused: an answer is held in memory as a whole. */
const MAX_WORDS = 1_000_000;

const OPENING =
  /\[\[(say|len|think|tool|status|delay|cut|midfail|hang|usage|nousage|headers|raw|socket|drop|early|model|speed|tier)(?=[\s\]])/g;

/** Whether a text contains anything that looks like a directive. */
export function hasDirective(text: string): boolean {
  return text.search(OPENING) >= 0;
}

function none(): Directives {
  return {
    say: null,
    think: null,
    tools: [],
    status: null,
    delayMs: 0,
    fault: null,
    usageJson: null,
    noUsage: false,
    headers: [],
    raw: null,
    socket: null,
    drop: false,
    model: null,
    tier: null,
    tokensPerSecond: null,
  };
}

class Malformed extends Error {
  override name = 'Malformed';
}

function wholeNumber(text: string, highest: number): number {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(number <= highest)) throw new Malformed(`wants a whole number up to ${highest}`);
  return number;
}

function statusCode(text: string): number {
  const code = wholeNumber(text, 599);
  if (code < 200) throw new Malformed('wants a final HTTP status, 200 to 599');
  return code;
}

function base64(text: string): Buffer {
  if (!/^[A-Za-z0-9+/\s_-]*={0,2}\s*$/.test(text)) throw new Malformed('wants base64');
  return Buffer.from(text, 'base64');
}

function words(count: number): string {
  return Array.from({ length: count }, (_none, index) => `w${index}`).join(' ');
}

function headerPairs(text: string): [string, string | string[]][] {
  const value = jsonOrUndefined(text);
  if (!isObject(value)) throw new Malformed('wants a JSON object of headers');
  return Object.entries(value).map(([name, header]) => {
    return [name.toLowerCase(), Array.isArray(header) ? header.map(String) : String(header)];
  });
}

function tool(text: string): ToolDirective {
  const name = /^\S+/.exec(text)?.[0];
  if (name === undefined) throw new Malformed('wants the name of a tool');
  const open = text.slice(name.length).trimStart();
  if (open === '') return { name, inputJson: '{}', id: null };
  const end = endOfJson(open, 0);
  const inputJson = end < 0 ? open : open.slice(0, end);
  if (!isObject(jsonOrUndefined(inputJson))) throw new Malformed('wants its input as a JSON object');
  return { name, inputJson, id: (end < 0 ? '' : open.slice(end).trim()) || null };
}

function fault(kind: Fault['kind'], text: string): Fault {
  const [count = '', how = ''] = text.trim().split(/\s+/);
  const after = wholeNumber(count, Number.MAX_SAFE_INTEGER);
  if (kind === 'hang') return { kind, after };
  if (kind === 'midfail') return { kind, after, status: how === '' ? null : statusCode(how) };
  if (how !== '' && how !== 'reset' && how !== 'end') throw new Malformed('wants a number and perhaps reset or end');
  return { kind, after, how: how === '' ? 'close' : how };
}

function earlier(one: Fault | null, other: Fault): Fault {
  return one !== null && one.after <= other.after ? one : other;
}

function apply(directives: Directives, name: string, text: string): void {
  const word = text.trim();
  switch (name) {
    case 'say':
      directives.say = text;
      break;
    case 'len':
      directives.say = words(wholeNumber(word, MAX_WORDS));
      break;
    case 'think':
      directives.think = text;
      break;
    case 'tool':
      directives.tools.push(tool(word));
      break;
    case 'status':
      directives.status = { code: statusCode(word.slice(0, 3)), message: word.slice(3).trim() || null };
      break;
    case 'delay':
      // The longest delay of a timer.
      directives.delayMs = wholeNumber(word, 2_147_483_647);
      break;
    case 'cut':
    case 'midfail':
    case 'hang':
      directives.fault = earlier(directives.fault, fault(name, text));
      break;
    case 'usage':
      if (jsonOrUndefined(word) === undefined) throw new Malformed('wants JSON');
      directives.usageJson = word;
      break;
    case 'nousage':
      directives.noUsage = true;
      break;
    case 'headers':
      directives.headers.push(...headerPairs(word));
      break;
    case 'raw':
      directives.raw = base64(word);
      break;
    case 'socket':
      directives.socket = base64(word);
      break;
    case 'drop':
      directives.drop = true;
      break;
    case 'model':
      directives.model = word;
      break;
    case 'tier':
      directives.tier = word;
      break;
    case 'speed':
      directives.tokensPerSecond = wholeNumber(word, 1_000_000_000) || Number.POSITIVE_INFINITY;
      break;
    default:
      // `early` acted while the body was still coming in; reading it again here changes nothing.
      break;
  }
}

/** Where the directive's text ends: JSON may itself contain `]]`. */
function endOfText(text: string, name: string, start: number): number {
  const json = name === 'usage' || name === 'headers' ? start : name === 'tool' ? text.indexOf('{', start) : -1;
  const plain = text.indexOf(']]', start);
  if (json < 0 || plain < json) return plain;
  const end = endOfJson(text, json);
  return end < 0 ? plain : text.indexOf(']]', end);
}

/** Directives by which a text says what a vendor alone should say: bytes, headers, counts and names. */
const vendorsOwn: ReadonlySet<string> = new Set(['usage', 'headers', 'raw', 'socket', 'model']);

/**
 * Reads all directives of a text, wherever they stand. An unknown directive is an error in the script, and reporting it
 * beats playing something else. `isRaw`: whether the vendor's own may be scripted.
 */
export function readDirectives(text: string, isRaw: boolean): ReadDirectives {
  const directives = none();
  const opening = new RegExp(OPENING);
  for (let match = opening.exec(text); match !== null; match = opening.exec(text)) {
    const name = match[1] ?? '';
    if (!isRaw && vendorsOwn.has(name))
      return { ok: false, message: `simulator: [[${name}]] is off here (SIMULATOR_RAW=0)` };
    const start = opening.lastIndex;
    const end = endOfText(text, name, start);
    if (end < 0) return { ok: false, message: `simulator: [[${name}]] is not closed` };
    try {
      // One blank parts the name from its text; any further one belongs to the text.
      apply(directives, name, text.slice(Math.min(start + 1, end), end));
    } catch (error) {
      if (error instanceof Malformed) return { ok: false, message: `simulator: [[${name}]] ${error.message}` };
      throw error;
    }
    opening.lastIndex = end + 2;
  }
  return { ok: true, directives };
}
