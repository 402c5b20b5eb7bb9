import type { ClientBase, Submittable } from 'pg';

/**
 * Sends several statements in one message and receives one answer. pg awaits each query on its own, and even in its
 * pipeline mode both sides wake up for each query: at thousands of requests a second, most of the round trip's time was
 * spent on that.
 */

/** A statement that a connection prepares once, under its name. Values are in PostgreSQL's text format. */
export interface Statement {
  name: string;
  text: string;
  values: readonly string[];
}

/** The columns of a row, in the order of the statement, in PostgreSQL's text format. */
export type Row = readonly (string | null)[];

export interface StatementResult {
  /** PostgreSQL's command tag: `COMMIT`, `INSERT 0 3`. */
  command: string;
  rows: Row[];
}

/** The methods that pg calls on a submittable; the part of its protocol that a flight implements. */
interface Wire {
  stream: { cork(): void; uncork(): void };
  parse(statement: { name: string; text: string }): void;
  bind(values: { statement: string; values: readonly string[] }): void;
  execute(): void;
  close(what: { type: 'S'; name: string }): void;
  sync(): void;
}

/** Names of the statements that each connection has prepared. */
const prepared = new WeakMap<object, Set<string>>();

/** How statements read on connections to a database that wants some of them in other words. */
const wordings = new WeakMap<object, (text: string) => string>();

/** From now on, the connection prepares its statements as `wording` has them. */
export function rewriteStatements(client: ClientBase, wording: (text: string) => string): void {
  wordings.set(client, wording);
}

/**
 * Runs statements one after the other. A failure ends the flight: later statements are not run, and only the failure is
 * reported. A failed transaction behaves so anyway; outside of one, the whole flight is a transaction.
 */
export function flight(client: ClientBase, statements: readonly Statement[]): Promise<StatementResult[]> {
  return new Promise((resolve, reject) => {
    const answers: StatementResult[] = [];
    let rows: Row[] = [];
    const known = prepared.get(client) ?? new Set();
    prepared.set(client, known);
    const wording = wordings.get(client);

    const query = {
      /** pg wraps this with its own timeout. */
      callback(error: Error | null): void {
        if (error !== null) return reject(error);
        for (const { name } of statements) known.add(name);
        resolve(answers);
      },
      submit(connection: Wire): void {
        connection.stream.cork();
        for (const { name, text, values } of statements) {
          if (!known.has(name)) {
            // A failed flight may or may not have prepared it; closing an unknown statement is no error.
            connection.close({ type: 'S', name });
            connection.parse({ name, text: wording === undefined ? text : wording(text) });
          }
          connection.bind({ statement: name, values });
          connection.execute();
        }
        connection.sync();
        connection.stream.uncork();
      },
      handleDataRow({ fields }: { fields: (string | null)[] }): void {
        rows.push(fields);
      },
      handleCommandComplete({ text }: { text: string }): void {
        answers.push({ command: text, rows });
        rows = [];
      },
      handleReadyForQuery(): void {
        query.callback(null);
      },
      handleError(error: Error): void {
        query.callback(error);
      },
      // Statements bound this way never produce the messages below.
      handleRowDescription(): void {},
      handleEmptyQuery(): void {},
      handlePortalSuspended(): void {},
      handleCopyInResponse(): void {},
      handleCopyData(): void {},
    };
    client.query(query as unknown as Submittable);
  });
}
