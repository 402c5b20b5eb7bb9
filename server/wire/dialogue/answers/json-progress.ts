/** Tells when JSON that arrives in pieces is complete, looking at every character once. */
export class JsonProgress {
  private depth = 0;
  private begun = false;
  private inString = false;
  private escaped = false;

  /** An object or a list was opened and closed again. */
  get complete(): boolean {
    return this.begun && this.depth <= 0 && !this.inString;
  }

  feed(text: string): void {
    for (let index = 0; index < text.length; index += 1) this.take(text[index] as string);
  }

  private take(character: string): void {
    if (this.escaped) this.escaped = false;
    else if (this.inString) {
      if (character === '\\') this.escaped = true;
      else if (character === '"') this.inString = false;
    } else if (character === '"') this.inString = true;
    else if (character === '{' || character === '[') {
      this.depth += 1;
      this.begun = true;
    } else if (character === '}' || character === ']') this.depth -= 1;
  }
}
