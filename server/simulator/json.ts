/** JSON of the simulator: lenient readers, and raw text inside of documents. */

import { randomBytes } from 'node:crypto';

export type ParsedObject = Record<string, unknown>;

export function isObject(value: unknown): value is ParsedObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value when it is an array, else an empty one. */
export function arrayOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value when it is a string, else an empty one: bodies are untrusted. */
export function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Parses without throwing: undefined when the text is not JSON. */
export function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// Unguessable, so that no text of a request can be taken for spliced JSON.
const MARK = `raw-json-${randomBytes(12).toString('hex')}:`;
const SPLICE = new RegExp(`"${MARK}((?:[^"\\\\]|\\\\.)*)"`, 'g');

/**
 * JSON text to be put into a document exactly as it is. Scripted usage objects and tool inputs carry numbers that
 * would not survive a parse (`1e2`, `12345678901234567890`), and those are the ones worth testing.
 */
export function rawJson(text: string): { toJSON(): string } {
  return { toJSON: () => MARK + text };
}

/** JSON.stringify that honours `rawJson`. */
export function stringify(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes(MARK)) return text;
  return text.replace(SPLICE, (_match, escaped: string) => String(JSON.parse(`"${escaped}"`)));
}

/** Where the JSON value that starts at `start` ends (exclusive), or -1 when it does not. */
export function endOfJson(text: string, start: number): number {
  let depth = 0;
  let inString = false;
  for (let index = start; index < text.length; index += 1) {
    const character = text[index];
    if (inString) {
      if (character === '\\') index += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') {
      inString = true;
    } else if (character === '{' || character === '[') {
      depth += 1;
    } else if (character === '}' || character === ']') {
      // A scalar ends where the directive around it closes.
      if (depth === 0) return index;
      depth -= 1;
      if (depth === 0) return index + 1;
    }
  }
  return -1;
}
