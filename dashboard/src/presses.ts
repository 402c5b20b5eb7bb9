/**
 * Presses of a button that makes something. A second press while the first is under way does nothing, and whoever tries again after
 * a lost answer, or presses once too often, asks with the same idempotency key, so that the server makes one thing.
 */

/** Two equal things are rarely wanted within so short a time, and often pressed for by mistake. */
const sameMs = 5_000;

export interface Presses {
  /** False: exactly this is under way. */
  begin(input: unknown): boolean;
  /** The idempotency key to ask with. */
  keyOf(input: unknown): string;
  /** The attempt has ended; `done`: something was made. */
  end(input: unknown, done: boolean): void;
}

export function createPresses(now: () => number = Date.now): Presses {
  const known = new Map<string, { key: string; running: boolean; doneAt: number | null }>();
  const textOf = (input: unknown) => JSON.stringify(input) ?? '';
  return {
    begin(input) {
      for (const [text, { doneAt }] of known) if (doneAt !== null && now() - doneAt > sameMs) known.delete(text);
      const text = textOf(input);
      const attempt = known.get(text) ?? { key: createKey(), running: false, doneAt: null };
      if (attempt.running) return false;
      known.set(text, { ...attempt, running: true });
      return true;
    },
    keyOf: (input) => known.get(textOf(input))?.key ?? createKey(),
    end(input, done) {
      const text = textOf(input);
      const attempt = known.get(text);
      if (attempt !== undefined) known.set(text, { ...attempt, running: false, doneAt: done ? now() : null });
    },
  };
}

// `randomUUID` is there on secure origins alone, and a first start speaks http.
function createKey(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), String).join('-');
}
