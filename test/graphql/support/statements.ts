import { Client } from 'pg';

/**
 * The SQL that this process sends while `work` runs, in order and from any part of it: an alarm for operations whose number
 * of statements grows with what they list. What a fresh connection says to introduce itself does not count.
 */
export async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const statements: string[] = [];
  const prototype = Client.prototype as unknown as { query: (...args: unknown[]) => unknown };
  const { query } = prototype;
  prototype.query = function counted(this: unknown, ...args: unknown[]) {
    const [first] = args;
    const text = typeof first === 'string' ? first : (first as { text?: string } | undefined)?.text;
    if (text !== undefined && !text.includes('set_config(name')) statements.push(text);
    return query.apply(this, args);
  };
  try {
    await work();
  } finally {
    prototype.query = query;
  }
  return statements;
}
