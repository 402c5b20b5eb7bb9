import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { migrate } from '../../server/database/migrate.ts';
import { ensureDatabase } from '../../server/database/postgres/postmaster.ts';
import { createPostgres } from '../support/postgres.ts';
import type { SourceChange } from './sandbox.ts';

/**
 * Single lines of the money path, changed for the worse. A simulation that does not notice one is not worth its time:
 * `npm run mutants` puts each into a process of its own, and says which seed broke a promise, and how soon.
 */
export type Mutant = { name: string } & (SourceChange | { sql: string });

const batch = 'billing/lane/batch.ts';
const statements = 'billing/lane/statements.ts';
const budget = 'billing/rules/budget.ts';
const escrow = 'billing/escrow/escrow.ts';

export const mutants: readonly Mutant[] = [
  // Locks and one-time things.
  {
    name: 'the order is not locked while its payments are added up',
    file: 'plans/bank/transfers.ts',
    from: 'WHERE memo = ANY ($1) ORDER BY id FOR UPDATE',
    to: 'WHERE memo = ANY ($1) ORDER BY id',
  },
  {
    name: 'the code is not locked while it is redeemed',
    file: 'plans/codes.ts',
    from: 'WHERE c.hash = $1 FOR UPDATE OF c',
    to: 'WHERE c.hash = $1',
  },
  { name: 'a code is never used up', file: 'plans/codes.ts', from: 'c.used < b.uses AND', to: 'true AND' },
  {
    name: 'a transfer that is known already is counted again',
    file: 'plans/payment-decision.ts',
    from: 'const sum = order.receivedVnd + amountVnd;',
    to: 'const sum = order.receivedVnd + amountVnd + amountVnd;',
  },
  {
    name: 'a payment to the cent is not enough',
    file: 'plans/payment-decision.ts',
    from: 'return sum >= order.priceVnd',
    to: 'return sum > order.priceVnd',
  },
  // What is still true.
  {
    name: 'the witness is asked once',
    file: 'billing/escrow/escrow-truths.ts',
    from: 'last = await witness.ask();',
    to: 'last ??= await witness.ask();',
  },
  {
    name: 'money of an ended grant is promised',
    file: escrow,
    from: 'return endsAtMs !== null && endsAtMs <= nowMs;',
    to: 'return false;',
  },
  { name: 'changes of keys do not move the number of changes', sql: 'ALTER TABLE api_key DISABLE TRIGGER USER' },
  { name: 'changes of accounts do not move the number of changes', sql: 'ALTER TABLE account DISABLE TRIGGER USER' },
  { name: 'new prices do not move the number of changes', sql: 'ALTER TABLE price DISABLE TRIGGER USER' },
  {
    name: 'a deleted key is valid for the lane',
    file: statements,
    from: 'deleted_at IS NULL AND coalesce(expires_at > now(), true)',
    to: 'coalesce(expires_at > now(), true)',
  },
  {
    name: 'a suspended account is active for the lane',
    file: statements,
    from: "status = 'active' AS active",
    to: 'true AS active',
  },
  {
    name: 'the oldest price counts',
    file: statements,
    from: 'ORDER BY valid_from DESC, created_at DESC',
    to: 'ORDER BY valid_from, created_at',
  },
  {
    name: 'a grant that has ended still gives',
    file: statements,
    from: 'coalesce(expires_at <= ${moment}, false) AS ended',
    to: 'false AS ended',
  },
  // Signs and sums.
  {
    name: 'a release adds to what is held',
    file: budget,
    from: 'held: grant.held - amount',
    to: 'held: grant.held + amount',
  },
  {
    name: 'what is held is free as well',
    file: budget,
    from: 'return grant.amount - grant.spent - grant.held - grant.expired;',
    to: 'return grant.amount - grant.spent - grant.expired;',
  },
  {
    name: 'a charge beyond its hold is taken twice',
    file: budget,
    from: 'take(afterHold, owed - sum(own, (part) => part.amount))',
    to: 'take(afterHold, owed)',
  },
  { name: 'every grant expires', file: budget, from: 'grants.filter((grant) => grant.ended).map(', to: 'grants.map(' },
  {
    name: 'a settled hold stays in the sum of its key',
    file: batch,
    from: '(spend) => addHeld(spend, -amountOf(held))',
    to: '(spend) => addHeld(spend, amountOf(held))',
  },
  {
    name: 'what is held does not count in a limit',
    file: 'billing/rules/spend-limit.ts',
    from: 'const left = limit - charged - held;',
    to: 'const left = limit - charged;',
  },
  // A statement that forgets them is corrected by the trigger, and the trigger moves no sums that a statement has moved.
  { name: 'the sums of a new day are not begun', sql: 'ALTER TABLE key_spend DISABLE TRIGGER count_charged' },
  {
    name: 'yesterday counts today',
    file: statements,
    from: 'CASE WHEN day >= (now() AT TIME ZONE time_zone)::date THEN day_charged ELSE 0 END',
    to: 'day_charged',
  },
  { name: 'an extension is not written into its hold', file: batch, from: 'book.changeHold(hold, parts);', to: '' },
  // Money in advance.
  {
    name: 'money in advance is promised again and again',
    file: escrow,
    from: 'amount: part.amount - amount });',
    to: 'amount: part.amount });',
  },
  { name: 'a settled promise is idle in full', file: escrow, from: 'minus(parts, charged)', to: 'parts' },
  {
    name: 'a promise that is released is lost',
    file: 'billing/escrow/escrows.ts',
    from: 'promises.delete(requestId);\n      giveBack(registry, promised);',
    to: 'promises.delete(requestId);',
  },
  {
    name: 'the last of several promised charges counts',
    file: 'billing/escrow/promised-charges.ts',
    from: 'sums.charged += charged;',
    to: 'sums.charged = charged;',
  },
  {
    name: 'a trimmed escrow gives nothing back',
    file: batch,
    from: 'book.move(accountId, budget.release(book.grants(accountId), given));',
    to: '',
  },
  // The spool, and what is tried again.
  {
    name: 'a line is acknowledged before it is written',
    file: 'billing/spool/spool.ts',
    from: 'segments.write(turn.map(({ receipt }) => receipt));',
    to: '',
  },
  {
    name: 'lines that wait for the database are not forced to disk',
    file: 'billing/spool/spool-segments.ts',
    from: 'void force();',
    to: '',
  },
  {
    name: 'the names of the files of the spool are not forced',
    file: 'billing/spool/spool-segments.ts',
    from: 'await forceNames();',
    to: '',
  },
  {
    name: 'the lines of a dead process are read and not settled',
    file: 'billing/spool/spool.ts',
    from: 'await replay(settlement);',
    to: '',
  },
  {
    name: 'nobody looks for the spools of the dead',
    file: 'billing/upkeep/sweep.ts',
    from: 'await adoptSpools();',
    to: '',
  },
  {
    name: 'the settlements of a failed batch are forgotten',
    file: 'billing/lane/group-commit.ts',
    from: 'queues.putBack(batch.filter((waiting) => !turnAway(waiting)));',
    to: 'batch.filter((waiting) => !turnAway(waiting));',
  },
  {
    name: 'the holds of the dead are kept',
    file: 'billing/upkeep/sweep.ts',
    from: 'await releaseDeadHolds(client, began);',
    to: '',
  },
  // What leaves the ledger, and who leaves.
  {
    name: 'a month that comes back keeps its sums in the books',
    file: 'billing/archive/archive.ts',
    from: "for (const table of ['archived_sum', 'archived_charge', 'archived_month'])",
    to: 'for (const table of [])',
  },
  {
    name: 'the name of an archive is not forced before its month leaves',
    file: 'billing/archive/archive.ts',
    from: "for (const path of [directory, join(resolve(directory), '..')]) await syncDirectory(path);",
    to: '',
  },
  {
    name: 'the budget of an erased account stays',
    file: 'accounts/erasure.ts',
    from: 'await endGrants(client, accountId);',
    to: '',
  },
  // A standby that becomes the primary.
  {
    name: 'a number of changes that a lost primary has counted is believed',
    file: statements,
    from: 'ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END',
    to: "ELSE '' END",
  },
  {
    name: 'what is held for requests that are over stays held',
    file: 'billing/lane/ledger.ts',
    from: 'strays.giveBack()',
    to: 'Promise.resolve()',
  },
];

/** How one fared: the seed that killed it, or null. */
interface Fate {
  seed: number | null;
  runs: number;
  seconds: number;
  sentence: string;
}

async function tryMutant(index: number, seconds: string, url: string): Promise<Fate> {
  const began = performance.now();
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      '--disable-warning=DeprecationWarning',
      fileURLToPath(new URL('run.ts', import.meta.url)),
      '--mutant',
      String(index),
      '--url',
      url,
      '--seed',
      '1',
      '--runs',
      '1000',
      '--seconds',
      seconds,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  await once(child, 'close');
  const killed = /seed (\d+) breaks:\n {2}(.*)/.exec(output);
  const told = /(\d+) runs, .* in ([\d.]+) s/.exec(output);
  return {
    seed: killed === null ? null : Number(killed[1]),
    runs: Number(told?.[1] ?? 0),
    seconds: told === null ? (performance.now() - began) / 1_000 : Number(told[2]),
    sentence: (killed?.[2] ?? output.trim().split('\n').at(-1) ?? '').replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '…'),
  };
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '120' },
      only: { type: 'string' },
      /** How many at a time. */
      parallel: { type: 'string', default: String(availableParallelism()) },
    },
  });
  const postgres = await createPostgres();
  await ensureDatabase(postgres.url('postgres'), 'simulation');
  await migrate({ url: postgres.url('simulation') });
  const client = new Client({ connectionString: postgres.url('postgres') });
  await client.connect();
  let alive = 0;
  say('| change | file | killed by seed | after | what the checker said |\n|---|---|---|---|---|');
  const wanted = [...mutants.entries()].filter(
    ([index]) => values.only === undefined || values.only.split(',').includes(String(index)),
  );
  /** One copy at a time. */
  let copying: Promise<unknown> = Promise.resolve();
  const tryAll = async (): Promise<void> => {
    for (let next = wanted.shift(); next !== undefined; next = wanted.shift()) {
      const [index, mutant] = next;
      const copied = copying.then(() =>
        client.query(`CREATE DATABASE mutant_${index} TEMPLATE simulation STRATEGY file_copy`),
      );
      copying = copied.catch(() => undefined);
      await copied;
      const fate = await tryMutant(index, values.seconds, postgres.url(`mutant_${index}`));
      if (fate.seed === null) alive += 1;
      const place = 'file' in mutant ? `\`${mutant.file}\`` : 'the database';
      say(
        `| ${mutant.name} | ${place} | ${fate.seed ?? 'none'} | ${fate.runs} runs, ${fate.seconds.toFixed(1)} s | ${fate.sentence.slice(0, 110)} |`,
      );
    }
  };
  await Promise.all(Array.from({ length: Number(values.parallel) }, tryAll));
  await client.end();
  await postgres.remove();
  say(`${alive} of ${mutants.length} live`);
  process.exit(alive === 0 ? 0 : 1);
}
