/** Tells when JSON that arrives in pieces is complete, looking at every character once. */
export interface JsonProgress {
  feed(text: string): void;
  /** An object or a list was opened and closed again. */
  readonly complete: boolean;
}

export function createJsonProgress(): JsonProgress {
  let depth = 0;
  let begun = false;
  let inString = false;
  let escaped = false;

  function take(character: string): void {
    if (escaped) escaped = false;
    else if (inString) {
      if (character === '\\') escaped = true;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') {
      depth += 1;
      begun = true;
    } else if (character === '}' || character === ']') depth -= 1;
  }

  return {
    feed(text) {
      for (let index = 0; index < text.length; index += 1) take(text[index] as string);
    },
    get complete() {
      return begun && depth <= 0 && !inString;
    },
  };
}
