import * as fc from 'fast-check';
import type { Client } from 'pg';
import type { Admitted, Settlement } from '../../server/billing/lane/ledger.ts';
import { entryPrice } from '../../server/core/price.ts';
import { readArchivedEntries } from './archives.ts';
import { check } from './checker.ts';
import { isLocked, type SessionCache } from './database.ts';
import type { Bill, Disturbance, History, OrderRecord, RequestRecord } from './history.ts';
import { bank, createWorld, leaseMs, type SimulatedProcess, startMs, type World } from './world.ts';

/** What happens in a run: steps of clients, banks, operators and of bad luck, one after the other. */
export type Step = { after: number } & (
  | {
      do: 'ask';
      account: number;
      key: number;
      on: number;
      times: number;
      bytes: number;
      maxTokens: number;
      stream: boolean;
      lasts: number;
      /** Hundredths of what the request allows: what the vendor says that it read and wrote. */
      reads: number;
      says: number;
      end: 'settle' | 'twice' | 'release';
      extends: boolean;
    }
  | { do: 'kill'; on: number; when: 'now' | 'torn' | 'answered'; backAfter: number }
  /** The network of its machine goes first: settlements wait on its disk. */
  | { do: 'power'; on: number; blindMs: number; backAfter: number }
  | { do: 'pause' | 'cut' | 'fill'; on: number; ms: number }
  | { do: 'disturb'; on: number; ms: number; percent: number }
  | { do: 'clock'; on: number; byMs: number }
  | { do: 'lose'; on: number }
  | { do: 'crash'; ms: number }
  | { do: 'fail_over'; lostMs: number; ms: number }
  | { do: 'warp'; hours: number }
  /** When nothing else runs, so that nothing of an earlier month is still open. */
  | { do: 'months'; days: number }
  | ({ do: 'archive'; restores: boolean } & Interrupted)
  | ({ do: 'erase'; account: number } & Interrupted)
  | { do: 'order'; account: number; on: number; parts: number; messages: number; shuffled: boolean; short: boolean }
  | { do: 'redeem'; code: number }
  | { do: 'grant'; account: number; cents: number; endsInMs: number | null }
  | { do: 'price' | 'delete_key' | 'suspend' | 'activate'; account: number; key: number; on: number }
);

/** Work of several steps, and what happens between two of them. */
interface Interrupted {
  on: number;
  /** Messages, answers and changes of the disk until then; null: nothing happens. */
  steps: number | null;
  by: 'kill' | 'power' | 'cut' | 'crash' | 'fail_over';
}

export interface Scenario {
  schedule: number;
  steps: Step[];
}

const on = fc.nat(2);
const account = fc.constantFrom(0, 0, 0, 1, 1, 2, 2, 3, 4, 4, 4);
const key = fc.nat(1);
const after = fc.oneof(
  { weight: 10, arbitrary: fc.nat(40) },
  { weight: 3, arbitrary: fc.nat(800) },
  { weight: 1, arbitrary: fc.nat(6_000) },
);
const ms = fc.oneof(fc.integer({ min: 50, max: 1_500 }), fc.integer({ min: 1_500, max: 25_000 }));

const ask = fc.record({
  after,
  do: fc.constant('ask' as const),
  account,
  key,
  on,
  times: fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 1, max: 6 }) },
    { weight: 2, arbitrary: fc.integer({ min: 6, max: 80 }) },
  ),
  bytes: fc.integer({ min: 30, max: 3_000 }),
  maxTokens: fc.integer({ min: 16, max: 400 }),
  stream: fc.boolean(),
  lasts: fc.oneof(fc.nat(200), fc.nat(3_000)),
  reads: fc.integer({ min: 10, max: 110 }),
  says: fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 0, max: 110 }) },
    { weight: 1, arbitrary: fc.integer({ min: 110, max: 600 }) },
  ),
  end: fc.constantFrom(
    'settle' as const,
    'settle' as const,
    'settle' as const,
    'settle' as const,
    'twice' as const,
    'release' as const,
  ),
  extends: fc.boolean(),
});
const trouble: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    after,
    do: fc.constant('kill' as const),
    on,
    when: fc.constantFrom('now' as const, 'torn' as const, 'answered' as const, 'answered' as const),
    backAfter: fc.nat(15_000),
  }),
  fc.record({
    after,
    do: fc.constant('power' as const),
    on,
    blindMs: fc.oneof(fc.constant(0), fc.nat(6_000)),
    backAfter: fc.nat(15_000),
  }),
  fc.record({ after, do: fc.constantFrom('pause' as const, 'cut' as const, 'fill' as const), on, ms }),
  fc.record({ after, do: fc.constant('disturb' as const), on, ms, percent: fc.integer({ min: 2, max: 30 }) }),
  fc.record({ after, do: fc.constant('disturb' as const), on, ms, percent: fc.integer({ min: 2, max: 30 }) }),
  fc.record({ after, do: fc.constant('clock' as const), on, byMs: fc.integer({ min: -7_200_000, max: 7_200_000 }) }),
  fc.record({ after, do: fc.constant('crash' as const), ms: fc.nat(3_000) }),
  fc.record({
    after,
    do: fc.constant('fail_over' as const),
    lostMs: fc.oneof(fc.nat(40), fc.nat(1_500)),
    ms: fc.nat(3_000),
  }),
  fc.record({ after, do: fc.constant('lose' as const), on: fc.nat(1) }),
  fc.record({ after, do: fc.constant('warp' as const), hours: fc.integer({ min: 1, max: 30 }) }),
  fc.record({ after, do: fc.constant('warp' as const), hours: fc.integer({ min: 19, max: 30 }) }),
);
const money: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    after,
    do: fc.constant('order' as const),
    account,
    on,
    parts: fc.integer({ min: 1, max: 3 }),
    messages: fc.integer({ min: 1, max: 4 }),
    shuffled: fc.boolean(),
    short: fc.boolean(),
  }),
  fc.record({ after, do: fc.constant('redeem' as const), code: fc.nat(3) }),
  fc.record({
    after,
    do: fc.constant('grant' as const),
    account,
    cents: fc.integer({ min: 1, max: 30 }),
    endsInMs: fc.oneof(fc.constant(null), fc.integer({ min: 100, max: 20_000 })),
  }),
);
const control: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    after,
    do: fc.constantFrom(
      'price' as const,
      'price' as const,
      'delete_key' as const,
      'suspend' as const,
      'suspend' as const,
      'activate' as const,
    ),
    account: fc.constantFrom(0, 0, 2, 3, 4),
    key,
    on,
  }),
);

const interrupted = {
  on,
  steps: fc.oneof(fc.constant(null), fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 160 })),
  by: fc.constantFrom('kill' as const, 'power' as const, 'cut' as const, 'crash' as const, 'fail_over' as const),
};
const calm = { on, steps: fc.constant(null), by: fc.constant('kill' as const) };
const archiving = (how: typeof interrupted | typeof calm): fc.Arbitrary<Step> =>
  fc.record({ after, do: fc.constant('archive' as const), restores: fc.boolean(), ...how });
const erasing = (how: typeof interrupted | typeof calm): fc.Arbitrary<Step> =>
  fc.record({ after, do: fc.constant('erase' as const), account: fc.constantFrom(1, 2, 3, 4), ...how });
const months: fc.Arbitrary<Step> = fc.record({
  after,
  do: fc.constant('months' as const),
  days: fc.integer({ min: 53, max: 100 }),
});

/** Calm runs, in which every refusal needs a reason, and stormy ones. */
export const scenario: fc.Arbitrary<Scenario> = fc.record({
  schedule: fc.nat(),
  steps: fc.oneof(
    { weight: 2, arbitrary: steps({ ask: 12, trouble: 0, money: 2, control: 2 }) },
    { weight: 2, arbitrary: steps({ ask: 12, trouble: 4, money: 2, control: 1 }) },
    { weight: 2, arbitrary: steps({ ask: 12, trouble: 2, money: 3, control: 1 }) },
    // Months pass in the middle, and are archived beside the requests of later ones.
    {
      weight: 1,
      arbitrary: fc
        .tuple(
          steps({ ask: 12, trouble: 1, money: 2, control: 1 }, { minLength: 12, maxLength: 25 }),
          months,
          fc.oneof(
            steps({ ask: 12, trouble: 0, money: 1, control: 1, archive: 3 }, { minLength: 12, maxLength: 30 }),
            steps({ ask: 12, trouble: 3, money: 1, control: 1, archive: 4 }, { minLength: 12, maxLength: 30 }),
          ),
        )
        .map(([before, passing, behind]) => [...before, passing, ...behind]),
    },
  ),
});

function steps(
  weights: { ask: number; trouble: number; money: number; control: number; archive?: number },
  length = { minLength: 25, maxLength: 60 },
): fc.Arbitrary<Step[]> {
  const how = weights.trouble === 0 ? calm : interrupted;
  const step = fc.oneof(
    // Who is erased early spends nothing, and meets no limit.
    { weight: weights.archive === undefined ? 0 : 2, arbitrary: erasing(how) },
    { weight: 3 * (weights.archive ?? 0), arbitrary: archiving(how) },
    { weight: 3 * weights.ask, arbitrary: ask },
    { weight: 3 * weights.trouble, arbitrary: trouble },
    { weight: 3 * weights.money, arbitrary: money },
    { weight: 3 * weights.control, arbitrary: control },
  );
  return fc.array(step, { ...length, size: 'max' });
}

export interface RunResult {
  broken: string[];
  history: History;
  requests: number;
  /** What it took. */
  events: number;
  messages: number;
  simulatedMs: number;
  errors: string[];
}

const usd = 10n ** 12n;
const cent = usd / 100n;
/** When the only grant of the third account ends. */
const endsAt = 9_000;
/** What is set aside for the dearest request is less: 3,000 bytes are as many tokens at most, at 6 and 18 USD a million. */
const mostNeeded = 3n * cent;

/** Prices of a version, pico-USD a token. */
const pricesOf = (version: number) => ({
  input: BigInt(3 + version) * 1_000_000n,
  output: BigInt(15 + version) * 1_000_000n,
});

export async function runScenario(
  { schedule, steps: list }: Scenario,
  url: string,
  sessions: SessionCache,
): Promise<RunResult> {
  const world = await createWorld(schedule, url, sessions);
  const { scheduler, processes } = world;
  const { random } = scheduler;
  const history: History = {
    accounts: [],
    requests: [],
    changes: [],
    orders: [],
    codes: [],
    disturbances: [],
    erasures: [],
    archives: [],
    earlier: [],
    bills: [],
    probes: [],
  };
  const versions = new Map<string, ReturnType<typeof pricesOf>>();
  const ids = { next: 0 };
  const codes: string[] = [];
  /** Processes that are never started again. */
  const lost = new Set<number>();

  const disturbed = (kind: Disturbance['kind'], process: number | null, msLong: number): Disturbance => {
    const one = { kind, process, from: scheduler.now, to: scheduler.now + msLong };
    history.disturbances.push(one);
    return one;
  };
  const start = (process: SimulatedProcess): void => {
    if (lost.has(process.slot)) return;
    disturbed('start', process.slot, 3_000);
    process.start();
  };

  const down = (process: SimulatedProcess, backAfter: number, silently?: boolean): void => {
    if (process.life === 0) return;
    const one = disturbed('kill', process.slot, Number.POSITIVE_INFINITY);
    process.kill(silently);
    scheduler.at(backAfter, () => {
      one.to = scheduler.now + leaseMs;
      start(process);
    });
  };
  /** The machine of a process loses its power, and with it what nobody has forced to its disk. */
  const losePower = ({ disk }: SimulatedProcess, backAfter: number): void => {
    for (const process of processes.filter((each) => each.disk === disk)) {
      down(process, backAfter, true);
      disturbed('power', process.slot, 0);
    }
    disk.losePower(random);
  };
  const crash = async (ms: number): Promise<void> => {
    disturbed('crash', null, ms);
    world.database.awayUntil = scheduler.now + ms;
    await world.database.crash();
  };
  /** The standby hears nothing from now on. Returns what makes it the primary. */
  const failingOver = (ms: number): (() => Promise<void>) => {
    const one = disturbed('failover', null, Number.POSITIVE_INFINITY);
    let state: 'followed' | 'parted' | 'over' = 'followed';
    const part = async (): Promise<void> => {
      if (state !== 'followed') return;
      if (await world.database.partStandby()) state = 'parted';
      else scheduler.at(20, part);
    };
    scheduler.at(0, part);
    return async () => {
      const isParted = state === 'parted';
      state = 'over';
      if (!isParted) return;
      one.to = scheduler.now;
      disturbed('crash', null, ms);
      world.database.awayUntil = scheduler.now + ms;
      await world.database.failOver();
    };
  };

  /** Has something happen between two steps of the work that begins now. */
  const interrupt = (process: SimulatedProcess, { steps, by }: Interrupted): void => {
    if (steps === null || process.life === 0) return;
    switch (by) {
      case 'kill':
        return process.atStep(steps, () => down(process, random.between(0, 8_000)));
      case 'power':
        return process.atStep(steps, () => losePower(process, random.between(0, 8_000)));
      case 'cut':
        disturbed('loss', process.slot, 20_000);
        return process.atStep(steps, () => process.workPool?.breakAll(random.chance(0.3)));
      case 'crash':
        return process.atStep(steps, () => crash(random.between(0, 2_000)));
      case 'fail_over':
        return process.atStep(steps, failingOver(random.between(0, 2_000)));
    }
  };

  const carryOut = (step: Step): void => {
    const process = 'on' in step ? (processes[step.on] as SimulatedProcess) : null;
    switch (step.do) {
      case 'ask':
        for (let i = 0; i < step.times; i += 1) void request(step, process as SimulatedProcess);
        break;
      case 'kill': {
        if (process === null) break;
        const dies = (): void => down(process, step.backAfter);
        if (step.when === 'now') dies();
        else if (step.when === 'torn') process.disk.tear = dies;
        // A client has its last bytes: the ledger has nothing.
        else process.answered = () => void scheduler.at(0, dies);
        break;
      }
      case 'power':
        for (const other of processes)
          if (other.disk === process?.disk) {
            disturbed('cut', other.slot, step.blindMs);
            other.cut(step.blindMs);
          }
        scheduler.at(step.blindMs, () => losePower(process as SimulatedProcess, step.backAfter));
        break;
      case 'pause':
        disturbed('pause', step.on, step.ms);
        process?.pause(step.ms);
        break;
      case 'cut':
        disturbed('cut', step.on, step.ms);
        process?.cut(step.ms);
        break;
      case 'fill':
        // Processes of one machine share its disk.
        for (const other of processes) if (other.disk === process?.disk) disturbed('disk', other.slot, step.ms);
        if (process !== null) {
          process.disk.full = true;
          scheduler.at(step.ms, () => {
            process.disk.full = false;
          });
        }
        break;
      case 'disturb':
        disturbed('loss', step.on, step.ms);
        process?.disturb(step.ms, step.percent / 100);
        break;
      case 'clock':
        disturbed('clock', step.on, 0);
        process?.setClock(step.byMs);
        break;
      case 'crash':
        void scheduler.at(0, () => crash(step.ms));
        break;
      case 'fail_over':
        scheduler.at(step.lostMs, failingOver(step.ms));
        break;
      case 'archive':
        if (process === null) break;
        interrupt(process, step);
        void process.parts?.archive(step).catch(() => undefined);
        break;
      case 'erase':
        if (process === null) break;
        interrupt(process, step);
        void erase(step.account, process);
        break;
      case 'months':
        break;
      case 'lose':
        // Its machine has another process, which finds what it leaves behind: a line that nobody else will settle.
        if (process === null || process.life === 0 || lost.size > 0) break;
        process.answered = () =>
          void scheduler.at(0, () => {
            if (process.life === 0 || lost.size > 0) return;
            lost.add(process.slot);
            disturbed('kill', process.slot, leaseMs);
            process.kill();
          });
        break;
      case 'warp': {
        const one = disturbed('warp', null, 0);
        scheduler.warp(step.hours * 3_600_000);
        one.to = scheduler.now + leaseMs;
        break;
      }
      case 'order':
        void order(step, process as SimulatedProcess);
        break;
      case 'redeem':
        for (const index of history.accounts.keys()) void redeem(step.code, index);
        break;
      case 'grant':
        void give(step.account, BigInt(step.cents) * cent, step.endsInMs);
        break;
      case 'price':
      case 'delete_key':
      case 'suspend':
      case 'activate':
        train(step);
        scheduler.at(150, () => void (step.do === 'price' ? setPrice() : change(step)));
    }
  };

  /** A client that asks again and again, before and while an operator changes something. */
  const train = ({ account, key, on }: { account: number; key: number; on: number }): void => {
    const process = processes[on] as SimulatedProcess;
    const own = {
      after: 0,
      do: 'ask' as const,
      account,
      key,
      on,
      times: 1,
      bytes: 300,
      maxTokens: 50,
      stream: true,
      lasts: 10,
      reads: 50,
      says: 50,
      end: 'settle' as const,
      extends: false,
    };
    for (let i = 0; i < 45; i += 1) scheduler.at(i * 7, () => void request(own, process));
  };

  /** A UUIDv7 whose time is true and whose rest comes from the seed. */
  const requestId = (): string => {
    const time = (startMs + Math.floor(scheduler.now)).toString(16).padStart(12, '0');
    return `${time.slice(0, 8)}-${time.slice(8)}-7${world.uuid().slice(15)}`;
  };

  async function request(step: Step & { do: 'ask' }, process: SimulatedProcess): Promise<void> {
    const { parts, life, slot } = process;
    const record = history.accounts[step.account];
    if (parts === null || record === undefined) return;
    const own: RequestRecord = {
      id: requestId(),
      account: step.account,
      key: step.key,
      process: slot,
      askedAt: scheduler.now,
      answeredAt: null,
      answer: null,
      cost: null,
      writtenAt: null,
      isLineInDoubt: false,
      released: false,
      settled: null,
    };
    history.requests.push(own);
    const lives = (): boolean => process.life === life;
    const ref = { accountId: record.id, requestId: own.id };
    const keyId = record.keys[step.key]?.id ?? '';
    const { ledger, spool } = parts;
    const answer = await ledger.admit({
      ...ref,
      keyId,
      model: 'simulated',
      textBytes: step.bytes,
      mediaTokens: 0,
      cacheWrite: 'none',
      maxTokens: step.maxTokens,
      answers: 1,
      stream: step.stream,
      contextRuns: 1,
    });
    own.answeredAt = scheduler.now;
    if (answer.kind === 'refused') {
      own.answer = { kind: 'refused', reason: answer.reason };
      return;
    }
    own.answer = { kind: 'admitted', amount: answer.amount, priceId: answer.price.id };
    await scheduler.sleep((step.lasts * (0.5 + random.next())) / 2);
    if (!lives()) return;
    if (step.extends && step.stream) {
      const more = await ledger.extend(ref, pricesOf(0).output * 40n).catch(() => 0n);
      if (own.answer.kind === 'admitted') own.answer.amount += more;
      if (!lives()) return;
    }
    await scheduler.sleep((step.lasts * (0.5 + random.next())) / 2);
    if (!lives()) return;
    if (step.end === 'release') {
      own.released = true;
      await ledger.release(ref).catch(() => undefined);
      return;
    }
    const settlement = settlementOf(step, ref, keyId, answer);
    const { input, output } = settlement.usage;
    const prices = versions.get(answer.price.id) ?? pricesOf(0);
    own.cost = BigInt(input) * prices.input + BigInt(output) * prices.output;
    const settling = ledger.settle(settlement, () => {
      own.writtenAt = scheduler.now;
      own.isLineInDoubt = !spool.writable;
      const { answered } = process;
      process.answered = null;
      answered?.();
    });
    if (step.end === 'twice') void again(settlement);
    const settled = await settling.catch(() => null);
    if (settled !== null) own.settled = { at: scheduler.now, ...settled };
  }

  /** Another process finds the same line, and settles it as well. */
  async function again(settlement: Settlement): Promise<void> {
    await scheduler.sleep(random.between(0, 400));
    const other = processes[random.below(3)]?.parts;
    await other?.ledger.replay(settlement).catch(() => undefined);
  }

  async function order(step: Step & { do: 'order' }, process: SimulatedProcess): Promise<void> {
    const record = history.accounts[step.account];
    const made = await process.parts?.orders.create({ accountId: record?.id ?? '', planId: 'small' }).catch(() => null);
    if (made?.kind !== 'created') return;
    const own: OrderRecord = {
      account: step.account,
      orderId: made.order.id,
      budget: made.order.budget,
      priceVnd: made.order.priceVnd,
      paidVnd: 0n,
      madeAt: scheduler.now,
      toldAt: scheduler.now,
    };
    history.orders.push(own);
    const { memo } = made.order;
    const bookedAt = new Date(startMs + scheduler.now);
    // Parts of different amounts: equal ones are taken one after the other anyway.
    const shares = Array.from({ length: step.parts }, (_none, i) => BigInt(i + 1));
    const whole = shares.reduce((total, share) => total + share, 0n);
    let left = made.order.priceVnd;
    const movements = Array.from({ length: step.parts }, (_none, i) => {
      ids.next += 1;
      const amountVnd = i === step.parts - 1 ? left : (made.order.priceVnd * (shares[i] ?? 1n)) / whole;
      left -= amountVnd;
      return {
        provider: 'sepay',
        providerId: `p${ids.next}`,
        bankReference: `FT${ids.next}`,
        direction: 'in' as const,
        amountVnd,
        memo,
        bookedAt,
        accountNumbers: [bank.account],
      };
    });
    // Somebody pays less than the price, and never the rest.
    if (step.short) movements.shift();
    const messages = movements.flatMap((movement) => Array.from({ length: step.messages }, () => movement));
    if (step.shuffled) messages.sort(() => random.next() - 0.5);
    for (const movement of movements) own.paidVnd += movement.amountVnd;
    const spread = random.chance(0.6) ? 5 : 3_000;
    await Promise.all(
      messages.map(async (movement) => {
        await scheduler.sleep(random.between(0, spread));
        // The bank tells it until it is taken, to whichever process.
        for (;;) {
          const to = processes[random.below(3)];
          const taken = await within(
            to?.parts?.transfers.receive(movement).then(
              () => true,
              () => false,
            ),
            5_000,
          );
          own.toldAt = scheduler.now;
          if (taken === true) return;
          await scheduler.sleep(random.between(200, 2_000));
        }
      }),
    );
  }

  /** An operator asks until there is an answer, each time the next process. */
  async function erase(account: number, first: SimulatedProcess): Promise<void> {
    const accountId = history.accounts[account]?.id ?? '';
    const own: History['erasures'][number] = { account, askedAt: scheduler.now, confirmedAt: null };
    history.erasures.push(own);
    for (let tries = 0; tries < 5 && own.confirmedAt === null; tries += 1) {
      const { erasure } = processes[(first.slot + tries) % processes.length]?.parts ?? {};
      const outcome = await within(
        erasure
          ?.erase({
            accountId,
            by: { kind: 'operator', actor: 'operator' },
            confirmation: `${accountId}@example.com`,
          })
          .catch(() => undefined),
        20_000,
      );
      // What was erased is unknown: an answer was lost.
      if (outcome !== undefined) own.confirmedAt = scheduler.now;
      else await scheduler.sleep(random.between(200, 2_000));
    }
  }

  /** Everybody has heard of the code, and uses it at once. */
  async function redeem(index: number, account: number): Promise<void> {
    const code = history.codes[index];
    const record = history.accounts[account];
    const own = processes[random.below(3)]?.parts;
    if (code === undefined || record === undefined || own == null) return;
    const asked: History['codes'][number]['asked'][number] = {
      account,
      at: scheduler.now,
      answeredAt: null,
      confirmed: false,
      refused: false,
    };
    code.asked.push(asked);
    await scheduler.sleep(random.between(0, 4));
    const answer = await own.codes
      .redeem({ code: codes[index] ?? '', accountId: record.id, actor: 'somebody', network: 'n' })
      .catch(() => null);
    asked.answeredAt = scheduler.now;
    asked.confirmed = answer?.kind === 'redeemed';
    asked.refused = answer?.kind === 'invalid_code';
  }

  /** Resolves with undefined when it takes longer: the process may be gone. */
  async function within<T>(promise: Promise<T> | undefined, limitMs: number): Promise<T | undefined> {
    return Promise.race([promise, scheduler.sleep(limitMs).then(() => undefined)]);
  }

  async function give(index: number, amount: bigint, endsInMs: number | null): Promise<void> {
    const record = history.accounts[index];
    if (record === undefined) return;
    ids.next += 1;
    const endsAtMs = endsInMs === null ? null : startMs + scheduler.now + endsInMs;
    const grant: (typeof record.grants)[number] = {
      id: `adjustment:${ids.next}`,
      amount,
      askedAt: scheduler.now,
      confirmedAt: null,
      endsAtMs,
    };
    record.grants.push(grant);
    const given = await world
      .addGrant(world.operator as never, {
        accountId: record.id,
        kind: 'adjustment',
        amount,
        expiresAt: endsAtMs === null ? null : new Date(endsAtMs),
        sourceRef: grant.id,
      })
      .catch(() => null);
    if (given !== null) grant.confirmedAt = scheduler.now;
  }

  async function setPrice(): Promise<void> {
    const priceId = world.uuid();
    const prices = pricesOf(versions.size % 4);
    versions.set(priceId, prices);
    const own: History['changes'][number] = {
      kind: 'price',
      account: null,
      key: null,
      priceId,
      askedAt: scheduler.now,
      confirmedAt: null,
    };
    history.changes.push(own);
    await world.operator
      .query(
        `INSERT INTO price (id, model_id, input, cache_hit, output, valid_from, created_at) VALUES ($1, 'simulated', $2, 1000000, $3, now(), clock_timestamp())`,
        [priceId, prices.input, prices.output],
      )
      .then(confirm(own), () => undefined);
  }

  async function change(step: Step & { do: 'price' | 'delete_key' | 'suspend' | 'activate' }): Promise<void> {
    const record = history.accounts[step.account];
    if (record === undefined) return;
    const own: History['changes'][number] = {
      kind: step.do,
      account: step.account,
      key: step.do === 'delete_key' ? step.key : null,
      askedAt: scheduler.now,
      confirmedAt: null,
    };
    history.changes.push(own);
    const [text, values] =
      step.do === 'delete_key'
        ? ['UPDATE api_key SET deleted_at = now() WHERE id = $1 AND deleted_at IS NULL', [record.keys[step.key]?.id]]
        : ['UPDATE account SET status = $2 WHERE id = $1', [record.id, step.do === 'suspend' ? 'suspended' : 'active']];
    await world.operator.query(text, values).then(confirm(own), () => undefined);
  }

  /** A change whose answer was lost is not confirmed: it may have happened, or not. */
  function confirm(own: History['changes'][number]): () => void {
    return () => {
      own.confirmedAt = scheduler.now;
    };
  }

  /** Each key asks alone, and its request is not sent. */
  async function probe(): Promise<void> {
    for (const [account, { id, keys }] of history.accounts.entries())
      for (const [key, { id: keyId }] of keys.entries()) {
        const ledger = processes.find(({ parts }) => parts !== null)?.parts?.ledger;
        if (ledger === undefined) return;
        const ref = { accountId: id, requestId: requestId() };
        const own: History['probes'][number] = { account, key, at: scheduler.now, answer: null };
        history.probes.push(own);
        const asked = { keyId, model: 'simulated', textBytes: 300, mediaTokens: 0, maxTokens: 50 };
        void (async () => {
          const answer = await ledger.admit({
            ...ref,
            ...asked,
            cacheWrite: 'none',
            answers: 1,
            stream: true,
            contextRuns: 1,
          });
          own.answer = answer.kind === 'refused' ? answer.reason : 'admitted';
          if (answer.kind === 'admitted') await ledger.release(ref);
        })().catch(() => undefined);
        await scheduler.run(scheduler.now + 400);
      }
  }

  /** Bills as they are now, unless an archive is being made. */
  async function note(): Promise<void> {
    const now = await bills(world, history).catch((error: unknown) => {
      if (isLocked(error)) return null;
      throw error;
    });
    if (now !== null) history.earlier.push({ at: scheduler.now, bills: now });
  }

  async function pass(days: number): Promise<void> {
    await heal(world, start);
    const one = disturbed('warp', null, 0);
    scheduler.warp(days * 86_400_000);
    one.to = scheduler.now + leaseMs;
    await scheduler.run(scheduler.now + 3 * leaseMs);
  }

  /** What is in the ledger leaves it, and comes back: bills stay what they were. */
  async function archiveAll(): Promise<void> {
    await pass(100);
    for (const restores of [false, true]) {
      history.earlier.push({ at: scheduler.now, bills: history.bills });
      const process = processes.find(({ parts }) => parts !== null);
      const own: History['archives'][number] = { at: scheduler.now, problem: 'it does not end' };
      history.archives.push(own);
      void (async () => {
        try {
          await process?.parts?.archive({ restores });
          own.problem = null;
        } catch (error) {
          own.problem = (error as Error).message;
        }
      })();
      await scheduler.run(scheduler.now + 60_000);
      // What has left is on a disk, whatever happens to its machine now.
      if (process !== undefined && random.chance(0.5)) {
        losePower(process, 1_000);
        await scheduler.run(scheduler.now + 3 * leaseMs);
      }
      history.bills = await bills(world, history);
    }
  }

  try {
    await prepare(world.database.own, world, history, versions, codes);
    for (const process of processes) start(process);
    // What has an end is used until then, and asked for behind it.
    scheduler.at(endsAt - 170, () => train({ account: 2, key: 0, on: random.below(3) }));
    await scheduler.run(1_500);
    for (const step of list) {
      await scheduler.run(scheduler.now + step.after);
      if (step.do === 'archive') await note();
      if (step.do === 'months') await pass(step.days);
      carryOut(step);
    }
    await heal(world, start);
    history.bills.push(...(await bills(world, history)));
    await probe();
    // The next day, week or month.
    scheduler.warp(([1, 7, 31][random.below(3)] ?? 1) * 86_400_000);
    await scheduler.run(scheduler.now + 3 * leaseMs);
    await probe();
    if (list.some((step) => step.do === 'months') || random.chance(0.1)) await archiveAll();
    // Whose work was over before.
    history.disturbances = history.disturbances.filter(
      ({ kind, to }) => kind !== 'failover' || to !== Number.POSITIVE_INFINITY,
    );
    const broken = check(history, { startMs, leaseMs, mostNeeded });
    return {
      broken,
      history,
      requests: history.requests.length,
      errors: world.errors,
      events: scheduler.events,
      messages: world.database.messages,
      simulatedMs: scheduler.now,
    };
  } finally {
    await world.close();
  }
}

function settlementOf(
  step: Step & { do: 'ask' },
  ref: { accountId: string; requestId: string },
  keyId: string,
  answer: Admitted,
): Settlement {
  const usage = {
    input: Math.ceil((step.bytes / 3) * (step.reads / 100)),
    cacheHit: 0,
    cacheWrite5m: 0,
    cacheWrite1h: 0,
    output: Math.ceil(step.maxTokens * (step.says / 100)),
  };
  return {
    ...ref,
    keyId,
    model: 'simulated',
    upstream: 'simulator',
    protocol: 'messages',
    stream: step.stream,
    usage,
    price: entryPrice(answer.price, usage),
    upstreamCost: null,
    latencyMs: 1,
    timeToFirstByteMs: null,
    outcome: 'completed',
    usageSource: 'reported',
  };
}

/** Everything runs again and is left alone, until nothing is left to do. */
async function heal(world: World, start: (process: SimulatedProcess) => void): Promise<void> {
  const { scheduler, processes, database } = world;
  database.awayUntil = 0;
  for (const process of processes) {
    process.disk.full = false;
    process.disk.tear = null;
    process.answered = null;
    process.atStep(Number.POSITIVE_INFINITY, () => undefined);
  }
  await scheduler.run(scheduler.now + 15_000);
  for (const process of processes) if (process.life === 0) start(process);
  for (let round = 0; round < 12; round += 1) {
    await scheduler.run(scheduler.now + 1.2 * leaseMs);
    const { rows } = await database.own.query('SELECT (SELECT count(*) FROM hold)::int AS holds');
    const lines = processes.reduce((total, { parts }) => total + (parts?.spool.depth ?? 0), 0);
    const files = processes.flatMap(({ disk, parts }) =>
      parts === null ? [] : disk.names().filter((name) => name.endsWith('.ndjson')),
    ).length;
    if (rows[0].holds === 0 && lines === 0 && files <= processes.length * 2 && round > 1) return;
  }
}

async function bills(world: World, history: History): Promise<Bill[]> {
  const { own } = world.database;
  const archived = await readArchivedEntries(
    own,
    world.processes.map(({ disk }) => disk),
  );
  return Promise.all(
    history.accounts.map(async ({ id }, account): Promise<Bill> => {
      const [entries, grants, sums, months] = await Promise.all([
        own.query(
          `SELECT request_id::text AS "requestId", key_id::text AS "keyId", cost, charged, extract(epoch FROM created_at)::float8 * 1000 AS "atMs" FROM ledger_entry WHERE account_id = $1 ORDER BY request_id`,
          [id],
        ),
        own.query(
          `SELECT amount, source_ref AS "sourceRef", kind FROM "grant" WHERE account_id = $1 ORDER BY source_ref`,
          [id],
        ),
        own.query(
          `SELECT coalesce(sum(amount), 0)::bigint AS granted, coalesce(sum(spent), 0)::bigint AS charged, coalesce(sum(held), 0)::bigint AS held,
                  coalesce(sum(expired), 0)::bigint AS expired, coalesce(sum(amount - spent - held - expired), 0)::bigint AS free FROM "grant" WHERE account_id = $1`,
          [id],
        ),
        own.query(
          `SELECT coalesce(sum(requests), 0)::bigint AS requests, coalesce(sum(cost), 0)::bigint AS cost, coalesce(sum(charged), 0)::bigint AS charged
           FROM archived_sum WHERE account_id = $1`,
          [id],
        ),
      ]);
      const listed: Bill['entries'] = [
        ...archived.filter((entry) => entry.accountId === id),
        ...entries.rows.map((entry) => ({ ...entry, isArchived: false })),
      ];
      return { account, entries: listed, grants: grants.rows, balance: sums.rows[0], archived: months.rows[0] };
    }),
  );
}

/** The accounts of a run, in a database that has nothing else. */
async function prepare(
  own: Client,
  world: World,
  history: History,
  versions: Map<string, ReturnType<typeof pricesOf>>,
  codes: string[],
): Promise<void> {
  await own.query('SELECT simulation_reset()');
  await own.query(
    `INSERT INTO model (id, display_name, family, context_window, max_output_tokens) VALUES ('simulated', 'simulated', 'simulated', 4000, 400)`,
  );
  const priceId = world.uuid();
  versions.set(priceId, pricesOf(0));
  history.changes.push({ kind: 'price', account: null, key: null, priceId, askedAt: -1, confirmedAt: -1 });
  await own.query(
    `INSERT INTO price (id, model_id, input, cache_hit, output, valid_from) VALUES ($1, 'simulated', $2, 1000000, $3, '2020-01-01')`,
    [priceId, pricesOf(0).input, pricesOf(0).output],
  );
  await own.query(
    `INSERT INTO plan (id, name, price_vnd, budget, enabled) VALUES ('small', 'Small', 100000, $1, true)`,
    [5n * cent],
  );
  const budgets = [1_000n * usd, 5n * cent, usd, 20n * usd, 40n * cent];
  for (const [index, budget] of budgets.entries()) {
    const id = world.uuid();
    const limitWeek = index === 3 ? 12n * cent : null;
    const limitMonth = index === 4 ? 25n * cent : null;
    const keys = [0, 1].map((number) => ({
      id: world.uuid(),
      limitDay: index === 0 && number === 1 ? 8n * cent : null,
    }));
    const grants = [{ amount: budget, ends: index === 2 ? startMs + endsAt : null }];
    history.accounts.push({ id, keys, limitWeek, limitMonth, grants: [] });
    await own.query(`INSERT INTO account (id, name, email) VALUES ($1, 'simulated', $2)`, [id, `${id}@example.com`]);
    if (limitWeek !== null || limitMonth !== null)
      await own.query('INSERT INTO account_limit (account_id, limit_week, limit_month) VALUES ($1, $2, $3)', [
        id,
        limitWeek,
        limitMonth,
      ]);
    for (const key of keys)
      await own.query(
        `INSERT INTO api_key (id, account_id, name, hash, prefix, last4, limit_day) VALUES ($1, $2, 'k', $3, 'sk-steyg-simu', 'last', $4)`,
        [key.id, id, Buffer.from(key.id.replaceAll('-', '').repeat(2), 'hex'), key.limitDay],
      );
    for (const { amount, ends } of grants) {
      const sourceRef = `adjustment:${world.uuid()}`;
      history.accounts[index]?.grants.push({ id: sourceRef, amount, askedAt: -1, confirmedAt: -1, endsAtMs: ends });
      await world.addGrant(own, {
        accountId: id,
        kind: 'adjustment',
        amount,
        expiresAt: ends === null ? null : new Date(ends),
        sourceRef,
      });
    }
  }
  const batch = world.uuid();
  await own.query(
    `INSERT INTO code_batch (id, name, amount, count, uses, created_by) VALUES ($1, 'b', $2, 4, 2, 'test')`,
    [batch, 3n * cent],
  );
  for (let i = 0; i < 4; i += 1) {
    const letters = `${i}ABCDEFGHJKMNPQRSTVW`.slice(0, 20).padEnd(20, 'X');
    const code = letters.replace(/(.{5})(?=.)/g, '$1-');
    const id = world.uuid();
    codes.push(code);
    history.codes.push({ id, amount: 3n * cent, uses: 2, asked: [] });
    await own.query(
      `INSERT INTO redemption_code (id, batch_id, hash, last4) VALUES ($1, $2, sha256(convert_to($3, 'UTF8')), 'last')`,
      [id, batch, code],
    );
  }
}
