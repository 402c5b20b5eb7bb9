import { expect } from 'vitest';
import type { AdmitAsk, Admitted, Refused } from '../../server/billing/lane/ledger.ts';
import { checkInvariants } from '../../server/billing/upkeep/invariants.ts';
import type { TestDatabase } from '../support/database.ts';
import {
  addCustomer,
  addPrice,
  admitted,
  ask,
  type Customer,
  openLedger,
  settlement,
  type TestLedger,
} from './support.ts';

/** What tests of the escrows share: their processes, and what the database holds for them. */

interface Change {
  name: string;
  make(customer: Customer): Promise<unknown>;
  undo(customer: Customer): Promise<unknown>;
  isSeen(answer: Admitted | Refused): boolean;
}

export const delay = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Support of escrow tests: processes of a service, busy keys, and changes that an admission has to see. */
export function escrowSupport(db: () => TestDatabase) {
  async function processes<T>(count: number, work: (ledgers: TestLedger[]) => Promise<T>): Promise<T> {
    const ledgers = await Promise.all(Array.from({ length: count }, () => openLedger(db().url)));
    try {
      return await work(ledgers);
    } finally {
      await Promise.all(ledgers.map((each) => each.close()));
    }
  }

  /** One request from admission to settlement. */
  async function pair({ ledger }: TestLedger, customer: Customer, more: Partial<AdmitAsk> = {}): Promise<void> {
    const asked = ask(customer, more);
    await ledger.settle(settlement(asked, await admitted(ledger, asked)));
  }

  /** Uses a key often enough that the process opens an escrow for it. */
  async function busy(process: TestLedger, customer: Customer, more: Partial<AdmitAsk> = {}): Promise<void> {
    // The key's facts are cached from the second request on, its use from the next ones.
    for (const requests of [1, 20, 1]) {
      await Promise.all(Array.from({ length: requests }, () => pair(process, customer, more)));
    }
  }

  async function escrowOf(customer: Customer, processId?: string): Promise<bigint> {
    const { rows } = await db().pool.query(
      `SELECT coalesce(sum(amount), 0)::bigint AS amount FROM hold
     WHERE account_id = $1 AND escrow AND ($2::uuid IS NULL OR process_id = $2)`,
      [customer.accountId, processId ?? null],
    );
    return rows[0].amount;
  }

  /** Keeps a key busy until it is stopped; refusals are allowed. */
  function load(process: TestLedger, customer: Customer, clients: number) {
    const state = { stopped: false, admitted: 0 };
    const client = async (): Promise<void> => {
      while (!state.stopped) {
        const asked = ask(customer);
        const answer = await process.ledger.admit(asked);
        if (answer.kind === 'admitted') {
          state.admitted += 1;
          await process.ledger.settle(settlement(asked, answer));
        } else await delay(1);
      }
    };
    const running = Array.from({ length: clients }, client);
    return {
      state,
      async stop() {
        state.stopped = true;
        await Promise.all(running);
      },
    };
  }

  async function sound(customer: Customer): Promise<void> {
    expect(await checkInvariants(db().pool, { accounts: [customer.accountId] })).toEqual([]);
  }

  const refusedFor =
    (reason: Refused['reason']) =>
    (answer: Admitted | Refused): boolean =>
      answer.kind === 'refused' && answer.reason === reason;

  const sql = (text: string) => (customer: Customer) =>
    db().pool.query(
      text,
      text.includes('$2') ? [customer.accountId, customer.keyId] : text.includes('$1') ? [customer.accountId] : [],
    );

  const price = { output: 15 };
  const changes: Change[] = [
    {
      name: 'key',
      make: sql('UPDATE api_key SET deleted_at = now() WHERE account_id = $1 AND id = $2'),
      undo: sql('UPDATE api_key SET deleted_at = NULL WHERE account_id = $1 AND id = $2'),
      isSeen: refusedFor('key_invalid'),
    },
    {
      name: 'account',
      make: sql(`UPDATE account SET status = 'suspended' WHERE id = $1`),
      undo: sql(`UPDATE account SET status = 'active' WHERE id = $1`),
      isSeen: refusedFor('suspended'),
    },
    {
      name: 'model',
      make: sql(`UPDATE model SET enabled = false WHERE id = 'big'`),
      undo: sql(`UPDATE model SET enabled = true WHERE id = 'big'`),
      isSeen: refusedFor('model'),
    },
    {
      name: 'models of the key',
      make: sql(`UPDATE api_key SET models = '{other}' WHERE account_id = $1 AND id = $2`),
      undo: sql(`UPDATE api_key SET models = '{}' WHERE account_id = $1 AND id = $2`),
      isSeen: refusedFor('model_not_allowed'),
    },
    {
      name: 'limit',
      make: sql('UPDATE api_key SET limit_lifetime = 1 WHERE account_id = $1 AND id = $2'),
      undo: sql('UPDATE api_key SET limit_lifetime = NULL WHERE account_id = $1 AND id = $2'),
      isSeen: refusedFor('key_limit'),
    },
    {
      name: 'price',
      make: () => {
        price.output += 1;
        return addPrice(db().pool, { id: 'big', output: String(price.output) });
      },
      undo: () => Promise.resolve(),
      isSeen: (answer) => answer.kind === 'admitted' && answer.price.output === BigInt(price.output) * 1_000_000n,
    },
  ];

  /** Makes `times` changes, each of which the next request on each of two busy processes has to see. */
  async function changesCount(times: number): Promise<void> {
    await processes(2, async (ledgers) => {
      const customer = await addCustomer(db().pool, { budget: '100000' });
      const loads = ledgers.map((each) => load(each, customer, 4));
      let fromMemory = 0;
      for (let i = 0; i < times; i += 1) {
        const change = changes[i % changes.length]!;
        if ((await escrowOf(customer)) > 0n) fromMemory += 1;
        await change.make(customer);
        const answers = await Promise.all(
          ledgers.flatMap(({ ledger }) =>
            [0, 1, 2].map(async () => {
              const asked = ask(customer);
              const answer = await ledger.admit(asked);
              if (answer.kind === 'admitted') await ledger.release(asked);
              return answer;
            }),
          ),
        );
        expect(
          answers.filter((answer) => !change.isSeen(answer)),
          `${change.name}, ${i}`,
        ).toEqual([]);
        await change.undo(customer);
        await Promise.all(ledgers.map((each) => pair(each, customer)));
      }
      await Promise.all(loads.map((each) => each.stop()));
      // Otherwise the test would exercise the lane and not escrows.
      expect(fromMemory).toBeGreaterThan(times / 2);
      await sound(customer);
    });
  }

  return { processes, pair, busy, escrowOf, load, sound, changesCount };
}
