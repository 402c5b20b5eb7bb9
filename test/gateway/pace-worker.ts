import { createInterface } from 'node:readline';
import { Pool } from 'pg';
import { createConcurrency } from '../../server/gateway/limits/concurrency.ts';
import { createRequestRates } from '../../server/gateway/limits/request-rate.ts';
import { createTokenRates } from '../../server/gateway/limits/token-rate.ts';

/**
 * A process that asks for what limits of pace allow, as fast as it can, until its input ends. Prints one line: how many
 * requests and tokens it was granted, and the most that ran at once here. `node pace-worker.ts URL PROCESS_ID PRINCIPAL_JSON`
 */
const [url = '', processId = '', principalJson = '{}'] = process.argv.slice(2);
const principal = JSON.parse(principalJson) as Parameters<ReturnType<typeof createTokenRates>['take']>[0];
const pool = new Pool({ connectionString: url, max: 3 });
const log = { warn: () => undefined };
const rates = createRequestRates({ pool, limits: { perKey: 1e9, perAccount: 1e9, trial: 1e9 }, log });
const tokens = createTokenRates({ pool, log });
const concurrency = createConcurrency({ pool, processId });

const state = { goesOn: true };
const lines = createInterface({ input: process.stdin }).on('close', () => {
  state.goesOn = false;
});
process.stdout.write('ready\n');
await new Promise((resolve) => lines.once('line', resolve));

const figures = { requests: 0, tokens: 0 };
const wanted = 37;

async function client(): Promise<void> {
  while (state.goesOn) {
    if ((await rates.take(principal)) === null) figures.requests += 1;
    const drawn = await tokens.take(principal, wanted);
    if (drawn?.kind === 'drawn') figures.tokens += wanted;
    const running = await concurrency.take(principal);
    if (running?.kind === 'running') {
      // The test adds up who runs at each moment, by the clock that all processes have.
      process.stdout.write(`+${process.hrtime.bigint()}\n`);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
      process.stdout.write(`-${process.hrtime.bigint()}\n`);
      running.give();
    }
  }
}

await Promise.all(Array.from({ length: 20 }, () => client()));
await Promise.all([rates.close(), tokens.close()]);
await pool.end();
process.stdout.write(`${JSON.stringify(figures)}\n`);
