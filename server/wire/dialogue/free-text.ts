import { isObject, tryParseJson } from './json.ts';

/**
 * Takes free text out of the arguments of the function that stands in for a free-text tool (`{"input":"…"}`),
 * piece by piece as the arguments stream.
 */
export interface FreeText {
  /** The next piece of the free text; empty until its beginning is recognised. */
  push(piece: string): string;
  /** What is left at the end: all of it, when the arguments did not have the expected form. */
  end(): string;
}

const HEAD = /^\s*\{\s*"input"\s*:\s*"/;
/** Arguments whose text has not begun within so many characters have another form. */
const MAX_HEAD_LENGTH = 256;
/** Everything up to the closing quote, without an escape that is not whole yet. */
const READY = /^(?:[^"\\]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/;

export function createFreeText(): FreeText {
  let all = '';
  let rest = '';
  let begun = false;
  let ended = false;

  function take(): string {
    const [ready = ''] = READY.exec(rest) ?? [];
    rest = rest.slice(ready.length);
    ended = rest.startsWith('"');
    return ready === '' ? '' : (JSON.parse(`"${ready.replaceAll(CONTROLS, escapeControl)}"`) as string);
  }

  return {
    push(piece) {
      if (ended) return '';
      rest += piece;
      if (!begun) {
        all += piece;
        const head = rest.length - piece.length > MAX_HEAD_LENGTH ? null : HEAD.exec(rest);
        if (head === null) return '';
        begun = true;
        rest = rest.slice(head[0].length);
      }
      return take();
    },
    end() {
      if (begun) return '';
      const value = tryParseJson(all);
      return isObject(value) && typeof value.input === 'string' ? value.input : all;
    },
  };
}

/** Some models write line breaks into JSON strings unescaped. */
const CONTROLS = /\p{Cc}/gu;

function escapeControl(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
