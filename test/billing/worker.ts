import { writeSync } from 'node:fs';
import type { Customer } from './support.ts';
import { ask, openLedger, settlement } from './support.ts';

/**
 * A process with a ledger under load, to be killed by a test. Prints the id of every request that it has finished: from
 * then on nothing may be lost. `node worker.ts URL DIRECTORY CUSTOMERS_JSON`
 */
const [url = '', directory = '', customers = '[]'] = process.argv.slice(2);
const accounts = JSON.parse(customers) as Customer[];
const { ledger } = await openLedger(url, { directory, holdLeaseMs: 60_000 });

async function client(index: number): Promise<void> {
  for (;;) {
    const asked = ask(accounts[index % accounts.length] as Customer);
    const admission = await ledger.admit(asked);
    if (admission.kind === 'refused') throw new Error(admission.reason);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
    const settled = ledger.settle(settlement(asked, admission));
    writeSync(1, `${asked.requestId}\n`);
    await settled;
  }
}

await Promise.all(Array.from({ length: 200 }, (_, index) => client(index)));
