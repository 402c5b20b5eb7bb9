import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSecret } from '../../server/keys/secret.ts';
import { uuidv7 } from '../../server/shared/uuid.ts';
import { type Customers, withDatabase } from './database.ts';
import { type Gateway, type Subject, subjectOf } from './subjects.ts';

/** What a dashboard asks for, at the ledger that the cases before have left behind. */
export const questions: Record<string, string> = {
  'graphql: me, budget and keys':
    '{ me { accounts { id name budget { free held charged grants { amount free expiresAt } } keys(first: 20) { edges { node { id name } } } } } }',
  'graphql: 50 ledger entries':
    '{ account { ledger(first: 50) { edges { node { requestId createdAt model cost charged } } pageInfo { hasNextPage endCursor } } } }',
  'graphql: 30 days by model': `{ account { usage(period: DAY, by: [MODEL], from: "${new Date(Date.now() - 30 * 86_400_000).toISOString()}") { edges { node { start model requests cost } } } } }`,
};

/** Questions a second: below what one account may ask, with its burst, over all cases (`graphql/guard/rates.ts`). */
export const questionsPerSecond = 15;

/** Asks each question with an access token of the first customer; `measure` gets the case's name, subject and body. */
export async function measureGraphql(
  place: Gateway,
  customers: Customers,
  measure: (name: string, subject: Subject, body: string) => Promise<void>,
): Promise<void> {
  const token = createSecret('token');
  const account = customers.accounts[0] ?? '';
  await withDatabase(place.dataDir, (client) =>
    client.query(
      `INSERT INTO access_token (id, account_id, name, hash, prefix, last4, scopes) VALUES ($1, $2, 'bench', $3, 'st', 'beef', '{read}')`,
      [uuidv7(), account, token.hash],
    ),
  );
  const subject = { ...subjectOf(place, token.secret), path: '/graphql' };
  for (const [name, query] of Object.entries(questions)) {
    const body = JSON.stringify({ query });
    const ask = async (): Promise<string> => {
      const headers = { ...subject.headers, 'content-type': 'application/json' };
      return (await fetch(`${place.url}/graphql`, { method: 'POST', headers, body })).text();
    };
    const { errors } = JSON.parse(await ask()) as { errors?: unknown };
    if (errors !== undefined) throw new Error(`${name}: ${JSON.stringify(errors)}`);
    const statements = await statementsOf(place.dataDir, ask);
    await measure(`${name} (${statements} statements)`, subject, body);
  }
}

/** How many statements of SQL one run of `ask` sends, by the server's own log; those of jobs are in no run of several. */
async function statementsOf(dataDir: string, ask: () => Promise<string>): Promise<number> {
  const setting = (value: string) =>
    withDatabase(dataDir, async (client) => {
      await client.query(`ALTER SYSTEM ${value}`);
      await client.query('SELECT pg_reload_conf()');
      await new Promise((resolve) => setTimeout(resolve, 300));
    });
  const logged = (): number =>
    readFileSync(join(dataDir, 'postgres.log'), 'utf8').match(/ (execute|statement)\b/g)?.length ?? 0;
  await setting("SET log_statement = 'all'");
  const counts: number[] = [];
  for (let i = 0; i < 5; i += 1) {
    const before = logged();
    await ask();
    counts.push(logged() - before);
  }
  await setting('RESET log_statement');
  return Math.min(...counts);
}
