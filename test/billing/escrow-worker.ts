import { writeSync } from 'node:fs';
import type { AdmitAsk, Settlement } from '../../server/billing/lane/ledger.ts';
import type { Customer } from './support.ts';
import { ask, openLedger, settlement } from './support.ts';

/**
 * A process with escrows under load, to be killed or stopped by a test. Prints `admitted ID TIME` and `settled ID`, each
 * before anything else happens. `node escrow-worker.ts URL DIRECTORY CUSTOMERS_JSON LEASE_MS [ASK_JSON] [SETTLEMENT_JSON]`
 */
const [url = '', directory = '', customers = '[]', lease = '60000', like = '{}', ended = '{}'] = process.argv.slice(2);
const [askedFor, settledAs] = [JSON.parse(like) as Partial<AdmitAsk>, JSON.parse(ended) as Partial<Settlement>];
const accounts = JSON.parse(customers) as Customer[];
const { ledger } = await openLedger(url, { directory, holdLeaseMs: Number(lease) });

async function client(index: number): Promise<void> {
  for (;;) {
    const asked = ask(accounts[index % accounts.length] as Customer, askedFor);
    const admission = await ledger.admit(asked);
    if (admission.kind === 'refused') {
      await new Promise((resolve) => setTimeout(resolve, 10));
      continue;
    }
    writeSync(1, `admitted ${asked.requestId} ${Date.now()}\n`);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
    const settled = ledger.settle(settlement(asked, admission, settledAs));
    writeSync(1, `settled ${asked.requestId}\n`);
    await settled.catch(() => undefined);
  }
}

await Promise.all(Array.from({ length: 20 }, (_, index) => client(index)));
