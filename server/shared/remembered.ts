/** Values that many readers of a public page share: one read at a time, one rendering for each value. */

export interface Remembering {
  /** Milliseconds that a value is shown for. */
  freshMs: number;
  /** Milliseconds that an old value is shown for while it cannot be read. Default: not at all. */
  tolerableMs?: number;
  /** Monotonic milliseconds. */
  clock?: () => number;
}

/** Reads a value at most once in `freshMs`, however many ask. */
export function remembered<Value>(
  read: () => Promise<Value>,
  { freshMs, tolerableMs = 0, clock = () => performance.now() }: Remembering,
): () => Promise<Value> {
  let last: { value: Value; at: number } | null = null;
  let reading: Promise<Value> | null = null;

  const again = async (): Promise<Value> => {
    try {
      const value = await read();
      last = { value, at: clock() };
      return value;
    } catch (error) {
      if (last !== null && clock() - last.at < tolerableMs) return last.value;
      throw error;
    } finally {
      reading = null;
    }
  };
  return async () => {
    if (last !== null && clock() - last.at < freshMs) return last.value;
    reading ??= again();
    return reading;
  };
}

/** Renders each value once in each form: a page has a figure for every day of every model. */
export function renderOnce<Value extends object, Form extends string>(
  render: (value: Value, form: Form) => string,
): (value: Value, form: Form) => string {
  const rendered = new WeakMap<Value, Map<Form, string>>();
  return (value, form) => {
    const pages = rendered.get(value) ?? new Map<Form, string>();
    rendered.set(value, pages);
    const page = pages.get(form) ?? render(value, form);
    pages.set(form, page);
    return page;
  };
}
