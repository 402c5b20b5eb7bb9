import type { ClientBase, Submittable } from 'pg';

/**
 * Several statements in one message to the database and one answer back. pg sends and awaits each query by itself, and
 * even when it pipelines them, both sides wake up for each: at thousands of requests a second, most of the time between
 * this process and its database went into that.
 */

/** A statement that a connection prepares once, under its name. Values are what PostgreSQL reads as text. */
export interface Statement {
  name: string;
  text: string;
  values: readonly string[];
}

/** The columns of a row, in the order of the statement, as PostgreSQL writes them as text. */
export type Row = readonly (string | null)[];

export interface StatementResult {
  /** What PostgreSQL says it did: `COMMIT`, `INSERT 0 3`. */
  command: string;
  rows: Row[];
}

/** What pg calls on whatever it is given to run; the part of its protocol that a flight speaks. */
interface Wire {
  stream: { cork(): void; uncork(): void };
  parse(statement: { name: string; text: string }): void;
  bind(values: { statement: string; values: readonly string[] }): void;
  execute(): void;
  close(what: { type: 'S'; name: string }): void;
  sync(): void;
}

/** What each connection has prepared. */
const prepared = new WeakMap<object, Set<string>>();

/**
 * Runs statements one after the other. A failure ends the flight: what comes after it is not run, and nothing else is
 * told. Within a transaction that is what a failure does anyway; outside of one, the whole flight is a transaction.
 */
export function flight(client: ClientBase, statements: readonly Statement[]): Promise<StatementResult[]> {
  return new Promise((resolve, reject) => {
    const answers: StatementResult[] = [];
    let rows: Row[] = [];
    const known = prepared.get(client) ?? new Set();
    prepared.set(client, known);

    const query = {
      /** pg puts its own time limit around this. */
      callback(error: Error | null): void {
        if (error !== null) return reject(error);
        for (const { name } of statements) known.add(name);
        resolve(answers);
      },
      submit(connection: Wire): void {
        connection.stream.cork();
        for (const { name, text, values } of statements) {
          if (!known.has(name)) {
            // A flight that failed may have prepared it or not; closing what is not there is no error.
            connection.close({ type: 'S', name });
            connection.parse({ name, text });
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
      // Nothing below comes to statements that were bound like these.
      handleRowDescription(): void {},
      handleEmptyQuery(): void {},
      handlePortalSuspended(): void {},
      handleCopyInResponse(): void {},
      handleCopyData(): void {},
    };
    client.query(query as unknown as Submittable);
  });
}
