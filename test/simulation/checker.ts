import type { Bill, Disturbance, History, RequestRecord } from './history.ts';

/**
 * Judges a history. It knows what was promised to people, and nothing of how it is kept: no holds, no escrows, no tables.
 * Every sentence that it returns is a broken promise.
 */
export interface CheckerFacts {
  startMs: number;
  /** How long a process may be away before what it has promised may be promised to others. */
  leaseMs: number;
  /** More than any request of the run needs. */
  mostNeeded: bigint;
}

/** How long after a disturbance a refusal may still come from it. */
const aftermathMs = 20_000;

type Period = 'day' | 'week' | 'month';

/** Which day, week or month of UTC a moment is in. The weeks of the run begin on a Monday, at its first day. */
function periodOf(atMs: number, period: Period, { startMs }: Pick<CheckerFacts, 'startMs'>): number {
  const day = Math.floor(atMs / 86_400_000);
  if (period === 'day') return day;
  if (period === 'week') return Math.floor((day - Math.floor(startMs / 86_400_000)) / 7);
  const date = new Date(atMs);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

export function check(history: History, facts: CheckerFacts): string[] {
  const broken: string[] = [];
  for (const bill of history.bills) {
    broken.push(...exactlyOnce(history, bill, facts), ...conserved(history, bill), ...capped(bill));
    broken.push(...limited(history, bill, facts), ...expired(history, bill), ...archived(bill));
  }
  broken.push(...kept(history, facts), ...erased(history));
  for (const { at, problem } of history.archives)
    if (problem !== null) broken.push(`months could not be archived or restored at ${at}: ${problem}`);
  broken.push(...redeemed(history), ...probed(history, facts));
  broken.push(...covered(history, facts), ...told(history), ...justified(history, facts), ...revoked(history));
  return broken;
}

/** Whether what was confirmed at a moment may be gone: the standby that became the primary may not have heard of it. */
function wasLost({ disturbances }: History, since: number | null, until: number | null = since): boolean {
  return disturbances.some(
    ({ kind, from, to }) =>
      kind === 'failover' && (since ?? Number.POSITIVE_INFINITY) <= to && (until ?? Number.POSITIVE_INFINITY) >= from,
  );
}

/** How long a line may wait until the disk of a running process keeps it, whatever happens to the machine. */
const forcedMs = 2_000;
/** What the disk itself takes, and a timer that is late. */
const forcingMs = 100;

/** Whether the machine lost its power before its disk had to keep a request's line. */
function wasUnforced(
  { disturbances }: History,
  { process, writtenAt, settled }: RequestRecord,
  { leaseMs }: CheckerFacts,
): boolean {
  if (writtenAt === null || settled !== null) return false;
  const own = disturbances.filter((each) => each.process === process);
  /** Until when its process ran, and how long nothing in it did. */
  const power = own.filter(({ kind, from }) => kind === 'power' && from >= writtenAt);
  return power.some(({ from: lostAt }) => {
    const end = Math.min(
      lostAt,
      ...own.filter(({ kind, from }) => kind === 'kill' && from >= writtenAt).map(({ from }) => from),
    );
    const still = own
      .filter(({ kind }) => kind === 'pause')
      .map(({ from, to }) => Math.max(0, Math.min(to, end) - Math.max(from, writtenAt)));
    const passed = disturbances
      .filter(({ kind, from }) => kind === 'warp' && from >= writtenAt && from <= end)
      .map(({ from, to }) => to - from - leaseMs);
    return end - writtenAt - [...still, ...passed].reduce((total, ms) => total + ms, 0) < forcedMs + forcingMs;
  });
}

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);

/** Every request whose client has its last bytes is charged once, no other one is, and at its cost. */
function exactlyOnce(history: History, { account, entries }: Bill, facts: CheckerFacts): string[] {
  const { requests } = history;
  const broken: string[] = [];
  const byRequest = Map.groupBy(entries, ({ requestId }) => requestId);
  for (const [requestId, own] of byRequest) {
    if (own.length > 1) broken.push(`${requestId} has ${own.length} entries`);
    const request = requests.find(({ id }) => id === requestId);
    if (request === undefined || request.account !== account) broken.push(`${requestId} was never asked for`);
    else if (request.cost === null) broken.push(`${requestId} is charged, and did not come to its end`);
    else if (own[0]?.cost !== request.cost) broken.push(`${requestId} costs ${own[0]?.cost}, and not ${request.cost}`);
  }
  for (const request of requests)
    if (
      request.account === account &&
      request.writtenAt !== null &&
      !request.isLineInDoubt &&
      !byRequest.has(request.id) &&
      !wasLost(history, request.writtenAt, request.settled?.at ?? null) &&
      !wasUnforced(history, request, facts)
    )
      broken.push(`${request.id} ended at ${request.writtenAt} and has no entry`);
  return broken;
}

/** What was given is there: charged, expired or free. Nothing is held when nothing runs. */
function conserved(history: History, { account, entries, grants, balance }: Bill): string[] {
  const broken: string[] = [];
  const say = (sentence: string): void => void broken.push(`account ${account}: ${sentence}`);
  const charged = sum(entries.map((entry) => entry.charged));
  const granted = sum(grants.map(({ amount }) => amount));
  if (balance.charged !== charged) say(`the balance says ${balance.charged} charged, the entries ${charged}`);
  if (balance.granted !== granted) say(`the balance says ${balance.granted} granted, the grants ${granted}`);
  if (balance.held !== 0n) say(`${balance.held} held although nothing runs`);
  if (balance.free + balance.held + balance.charged + balance.expired !== granted)
    say(`${granted} were granted, and ${JSON.stringify(balance, text)} is left`);
  if (balance.free < 0n) say(`free is ${balance.free}`);
  const sources = grants.map(({ sourceRef }) => sourceRef);
  if (new Set(sources).size !== sources.length) say(`a source gave twice: ${sources.join(' ')}`);

  const given = history.accounts[account]?.grants ?? [];
  // Who has an account erased leaves amounts behind, and no names of them.
  if (isEverErased(history, account)) {
    const found = grants.filter(({ kind }) => kind === 'adjustment').map(({ amount }) => amount);
    const sure = given.filter((own) => own.confirmedAt !== null && !wasLost(history, own.askedAt, own.confirmedAt));
    const lacking = without(
      sure.map(({ amount }) => amount),
      found,
    );
    if (lacking.length > 0) say(`erased, and its grants of ${lacking.join(' ')} are not there`);
    const more = without(
      found,
      given.map(({ amount }) => amount),
    );
    if (more.length > 0) say(`erased, and has grants of ${more.join(' ')} that nobody gave`);
  } else
    for (const own of given) {
      const found = grants.filter(({ sourceRef }) => sourceRef === own.id);
      if (own.confirmedAt !== null && found.length !== 1 && !wasLost(history, own.askedAt, own.confirmedAt))
        say(`the grant ${own.id} is there ${found.length} times`);
      if (found.some(({ amount }) => amount !== own.amount)) say(`the grant ${own.id} is not ${own.amount}`);
    }
  for (const order of history.orders.filter((each) => each.account === account)) {
    const found = grants.filter(({ sourceRef }) => sourceRef === `order:${order.orderId}`);
    const expected = order.paidVnd >= order.priceVnd ? [order.budget] : [];
    // What arrives for somebody who is gone waits for a person.
    const mayBeErased = history.erasures.some((each) => each.account === account && each.askedAt <= order.toldAt);
    const mayBeLost = (mayBeErased || wasLost(history, order.madeAt, order.toldAt)) && found.length === 0;
    if (found.map(({ amount }) => amount).join() !== expected.join() && !mayBeLost)
      say(
        `the order ${order.orderId} got ${order.paidVnd} of ${order.priceVnd} VND and gave ${found.map(({ amount }) => amount).join(' ') || 'nothing'}`,
      );
  }
  for (const code of history.codes) {
    const own = code.asked.filter((each) => each.account === account);
    const found = grants.filter(({ sourceRef }) => sourceRef === `code:${code.id}`);
    if (found.length > 0 && own.length === 0) say(`a code was redeemed that nobody redeemed here`);
    if (own.some((each) => each.confirmed && !wasLost(history, each.at, each.answeredAt)) && found.length !== 1)
      say(`a code was confirmed and gave ${found.length} times`);
    if (own.length > 0 && own.every(({ refused }) => refused) && found.length > 0) say('a code was refused and gave');
  }
  return broken;
}

/** Of the first amounts those that are not among the second. */
function without(amounts: readonly bigint[], others: readonly bigint[]): bigint[] {
  const left = [...others];
  return amounts.filter((amount) => {
    const at = left.indexOf(amount);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
}

const isEverErased = ({ erasures }: History, account: number): boolean =>
  erasures.some((each) => each.account === account);

/** Of an account that is erased nothing can be used: nobody is admitted from then on, and what is left of its money ends. */
function erased(history: History): string[] {
  const { erasures, requests, probes, bills } = history;
  return erasures.flatMap(({ account, askedAt, confirmedAt }) => {
    if (confirmedAt === null || wasLost(history, askedAt, confirmedAt)) return [];
    const late = requests.filter(
      (each) => each.account === account && each.askedAt > confirmedAt && each.answer?.kind === 'admitted',
    );
    const free = bills.find((each) => each.account === account)?.balance.free ?? 0n;
    return [
      ...late.map(({ id }) => `${id} was admitted for an account that is erased`),
      ...probes
        .filter((each) => each.account === account && each.answer === 'admitted')
        .map(({ at }) => `account ${account} is erased, and was admitted at ${at}`),
      ...(free === 0n ? [] : [`account ${account} is erased, and ${free} are free`]),
    ];
  });
}

/** What left the ledger is in the sums of the books, and in no other. */
function archived({ account, entries, archived: sums }: Bill): string[] {
  const gone = entries.filter(({ isArchived }) => isArchived);
  const expectedSums = {
    requests: BigInt(gone.length),
    cost: sum(gone.map(({ cost }) => cost)),
    charged: sum(gone.map(({ charged }) => charged)),
  };
  return (['requests', 'cost', 'charged'] as const).flatMap((name) =>
    sums[name] === expectedSums[name]
      ? []
      : [
          `account ${account}: ${name} of archived months are ${sums[name]}, and their archives say ${expectedSums[name]}`,
        ],
  );
}

/** What a bill has said once, every later one says. */
function kept(history: History, { startMs }: CheckerFacts): string[] {
  return history.earlier.flatMap(({ at, bills }) =>
    bills.flatMap(({ account, entries }) => {
      const now = new Map(
        history.bills.find((each) => each.account === account)?.entries.map((entry) => [entry.requestId, entry]),
      );
      return entries.flatMap(({ requestId, keyId, cost, charged, atMs }) => {
        const same = now.get(requestId);
        if (same?.keyId === keyId && same.cost === cost && same.charged === charged && same.atMs === atMs) return [];
        // Its time is that of the transaction's begin.
        if (wasLost(history, atMs - startMs, Math.min(at, atMs - startMs + 5_000))) return [];
        return [
          `${requestId}: the bill of ${at} says ${charged} of ${cost}, and the last one ${same?.charged} of ${same?.cost}`,
        ];
      });
    }),
  );
}

/** Only what had an end can be gone without being used. */
function expired(history: History, { account, balance, grants }: Bill): string[] {
  const { accounts } = history;
  const ending = sum(
    (accounts[account]?.grants ?? []).filter(({ endsAtMs }) => endsAtMs !== null).map(({ amount }) => amount),
  );
  const ended = new Set(
    (accounts[account]?.grants ?? []).filter(({ endsAtMs }) => endsAtMs !== null).map(({ id }) => id),
  );
  const endless = sum(grants.filter(({ sourceRef }) => !ended.has(sourceRef)).map(({ amount }) => amount));
  return [
    ...(balance.expired > ending && !isEverErased(history, account)
      ? [`account ${account}: ${balance.expired} expired of ${ending} that had an end`]
      : []),
    // A run ends long after the last of its grants.
    ...(balance.free > endless ? [`account ${account}: ${balance.free} free, and only ${endless} has no end`] : []),
  ];
}

/** When nothing else runs, who has money is admitted, and who has used a limit up is not, until the next day or week. */
function probed(history: History, { startMs, mostNeeded }: CheckerFacts): string[] {
  const { accounts, bills, changes, probes } = history;
  return probes.flatMap(({ account, key, at, answer }) => {
    const record = accounts[account];
    const bill = bills.find((each) => each.account === account);
    const isInDoubt = changes.some(
      (each) =>
        each.account === account && (each.kind === 'suspend' || (each.kind === 'delete_key' && each.key === key)),
    );
    if (record === undefined || bill === undefined || isInDoubt || isEverErased(history, account)) return [];
    const name = `key ${key} of account ${account}, asking alone at ${at},`;
    const chargedIn = (period: Period, keyId: string | null): bigint =>
      sum(
        bill.entries
          .filter(
            (entry) =>
              (keyId === null || entry.keyId === keyId) &&
              periodOf(entry.atMs, period, { startMs }) === periodOf(startMs + at, period, { startMs }),
          )
          .map((entry) => entry.charged),
      );
    const limits = [
      { limit: record.keys[key]?.limitDay ?? null, charged: chargedIn('day', record.keys[key]?.id ?? null) },
      { limit: record.limitWeek, charged: chargedIn('week', null) },
      { limit: record.limitMonth, charged: chargedIn('month', null) },
    ];
    if (limits.some(({ limit, charged }) => limit !== null && charged >= limit))
      return answer === 'admitted' ? [`${name} was admitted beyond a limit`] : [];
    const isRoomy = limits.every(({ limit, charged }) => limit === null || charged + mostNeeded <= limit);
    if (bill.balance.free < mostNeeded || !isRoomy) return [];
    return answer === 'admitted' ? [] : [`${name} was answered ${answer}, and ${bill.balance.free} are free`];
  });
}

/** A code gives no more often than it was made for. */
function redeemed({ codes, bills }: History): string[] {
  return codes.flatMap(({ id, uses }) => {
    const given = bills.flatMap(({ grants }) => grants.filter(({ sourceRef }) => sourceRef === `code:${id}`)).length;
    return given > uses ? [`a code for ${uses} accounts gave to ${given}`] : [];
  });
}

/** A customer never pays more than was granted, and never more than a request costs. */
function capped({ account, entries, grants }: Bill): string[] {
  const charged = sum(entries.map((entry) => entry.charged));
  const granted = sum(grants.map(({ amount }) => amount));
  return [
    ...(charged > granted ? [`account ${account}: charged ${charged} of ${granted}`] : []),
    ...entries.flatMap(({ requestId, cost, charged: own }) =>
      own > cost || own < 0n ? [`${requestId} costs ${cost} and is charged ${own}`] : [],
    ),
  ];
}

/** A limit is exceeded by no more than what its requests cost beyond what was set aside for them. */
function limited(history: History, { account, entries }: Bill, facts: CheckerFacts): string[] {
  const record = history.accounts[account];
  if (record === undefined) return [];
  const requestOf = new Map(history.requests.map((request) => [request.id, request]));
  const excess = (list: Bill['entries']): bigint =>
    sum(
      list.map(({ requestId, charged }) => {
        const request = requestOf.get(requestId);
        if (request?.answer?.kind !== 'admitted' || wasDisturbed(history, request, facts)) return charged;
        return charged > request.answer.amount ? charged - request.answer.amount : 0n;
      }),
    );
  const broken: string[] = [];
  const judge = (list: Bill['entries'], limit: bigint, period: Period, name: string): void => {
    const periods = Map.groupBy(list, ({ atMs }) => periodOf(atMs, period, facts));
    for (const own of periods.values()) {
      const charged = sum(own.map((entry) => entry.charged));
      if (charged > limit + excess(own))
        broken.push(`${name}: ${charged} of ${limit}, and ${excess(own)} beyond what was set aside`);
    }
  };
  for (const [index, { id, limitDay }] of record.keys.entries())
    if (limitDay !== null)
      judge(
        entries.filter(({ keyId }) => keyId === id),
        limitDay,
        'day',
        `key ${index} of account ${account} in a day`,
      );
  if (record.limitWeek !== null) judge(entries, record.limitWeek, 'week', `account ${account} in a week`);
  if (record.limitMonth !== null) judge(entries, record.limitMonth, 'month', `account ${account} in a month`);
  return broken;
}

function overlaps({ from, to }: Disturbance, since: number, until: number): boolean {
  return from <= until && to >= since;
}

/** Whether the process that ran a request was away so long that others may have got what was set aside. */
function wasDisturbed({ disturbances }: History, request: RequestRecord, { leaseMs }: CheckerFacts): boolean {
  const until = request.settled?.at ?? Number.POSITIVE_INFINITY;
  return disturbances.some(
    (each) =>
      (each.process === null || each.process === request.process) &&
      (each.kind === 'kill' ||
        each.kind === 'warp' ||
        each.kind === 'failover' ||
        each.to - each.from >= leaseMs / 2) &&
      overlaps(each, request.askedAt, until),
  );
}

/** What was set aside pays: a request within it is charged in full. A charge is less only when nothing was left. */
function covered(history: History, facts: CheckerFacts): string[] {
  return history.requests.flatMap((request) => {
    const { settled, answer, id } = request;
    if (settled === null || answer?.kind !== 'admitted') return [];
    const broken: string[] = [];
    if (settled.charged < settled.cost && settled.freeAfter !== 0n)
      broken.push(`${id} costs ${settled.cost}, is charged ${settled.charged}, and ${settled.freeAfter} were free`);
    if (settled.cost <= answer.amount && settled.charged < settled.cost && !wasDisturbed(history, request, facts))
      broken.push(`${id} costs ${settled.cost} of ${answer.amount} set aside, and is charged ${settled.charged}`);
    return broken;
  });
}

/** What a client was told of a charge is what the books say. */
function told(history: History): string[] {
  const { requests, bills } = history;
  const entries = new Map(bills.flatMap((bill) => bill.entries.map((entry) => [entry.requestId, entry])));
  return requests.flatMap(({ id, settled }) => {
    const entry = entries.get(id);
    if (settled === null || entry === undefined || wasLost(history, settled.at)) return [];
    return entry.charged === settled.charged && entry.cost === settled.cost
      ? []
      : [`${id}: told ${settled.charged} of ${settled.cost}, and written down ${entry.charged} of ${entry.cost}`];
  });
}

/** Nobody is refused without a reason, and nobody is admitted without money. */
function justified(history: History, { mostNeeded, leaseMs, startMs }: CheckerFacts): string[] {
  const { accounts, requests, changes, disturbances, erasures, orders, codes } = history;
  /** Money of an account that surely could be used at a moment: all that its requests may have taken is taken off. */
  const surelyFree = (account: number, since: number, until: number): bigint => {
    const given = sum(
      (accounts[account]?.grants ?? [])
        .filter(
          ({ confirmedAt, endsAtMs }) =>
            confirmedAt !== null &&
            confirmedAt <= since &&
            !wasLost(history, confirmedAt) &&
            (endsAtMs === null || endsAtMs > startMs + until + 1_000),
        )
        .map(({ amount }) => amount),
    );
    const taken = sum(
      requests
        .filter((each) => each.account === account && each.askedAt <= until && each.answer?.kind !== 'refused')
        .map(({ answer, cost }) => most(answer?.kind === 'admitted' ? answer.amount : mostNeeded, cost ?? 0n)),
    );
    return given - taken;
  };
  /** All money that an account may have had until a moment. */
  const everGiven = (account: number, until: number): boolean =>
    (accounts[account]?.grants ?? []).some(
      ({ askedAt, endsAtMs }) => askedAt <= until && (endsAtMs === null || endsAtMs > startMs + until - 5),
    ) ||
    orders.some((order) => order.account === account && order.madeAt <= until) ||
    codes.some((code) => code.asked.some((each) => each.account === account && each.at <= until && !each.refused));

  return requests.flatMap((request) => {
    const { answer, askedAt, answeredAt, account, key, id } = request;
    if (answer === null || answeredAt === null) return [];
    const record = accounts[account];
    const before = (kinds: readonly string[]): boolean =>
      changes.some(
        (each) =>
          kinds.includes(each.kind) &&
          each.askedAt <= answeredAt &&
          (each.account === null || (each.account === account && (each.key === null || each.key === key))),
      );
    if (answer.kind === 'admitted')
      return everGiven(account, askedAt)
        ? []
        : [`${id} was admitted at ${askedAt} although all that was given had ended`];
    const unjustified = (): string[] => [`${id} was refused at ${answeredAt} as ${answer.reason}, without a reason`];
    // Who is gone is refused, whatever the reason is called.
    if (
      answer.reason !== 'unavailable' &&
      erasures.some((each) => each.account === account && each.askedAt <= answeredAt)
    )
      return [];
    const recently = disturbances.some(({ from, to }) => from <= answeredAt && to >= askedAt - aftermathMs);
    switch (answer.reason) {
      case 'unavailable':
        return recently ? [] : unjustified();
      case 'key_invalid':
        return before(['delete_key']) ? [] : unjustified();
      case 'suspended':
        return before(['suspend']) ? [] : unjustified();
      case 'key_limit':
      case 'account_limit': {
        const limits: [bigint | null | undefined, Period][] =
          answer.reason === 'key_limit'
            ? [[record?.keys[key]?.limitDay, 'day']]
            : [
                [record?.limitWeek, 'week'],
                [record?.limitMonth, 'month'],
              ];
        const isNear = ([limit, period]: (typeof limits)[number]): boolean => {
          if (limit === null || limit === undefined) return false;
          const of = requests.filter(
            (each) =>
              each.account === account &&
              (answer.reason === 'account_limit' || each.key === key) &&
              each.askedAt <= answeredAt &&
              each.answer?.kind !== 'refused' &&
              periodOf(startMs + (each.settled?.at ?? answeredAt), period, { startMs }) >=
                periodOf(startMs + askedAt, period, { startMs }),
          );
          const taken = sum(
            of.map((each) => most(each.answer?.kind === 'admitted' ? each.answer.amount : mostNeeded, each.cost ?? 0n)),
          );
          return taken + mostNeeded >= limit;
        };
        return limits.some(isNear) ? [] : unjustified();
      }
      case 'reserved': {
        const others = requests.some(
          (each) =>
            each.account === account &&
            each.id !== id &&
            each.askedAt <= answeredAt &&
            each.answer?.kind !== 'refused' &&
            (each.settled === null || each.settled.at >= askedAt - leaseMs - 5_000),
        );
        return others || recently ? [] : unjustified();
      }
      default:
        return surelyFree(account, askedAt, answeredAt) >= mostNeeded ? unjustified() : [];
    }
  });
}

const most = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** What was taken back is refused from the very next request on, and a new price counts from it on. */
function revoked(history: History): string[] {
  const { requests, changes } = history;
  return requests.flatMap(({ id, answer, askedAt, answeredAt, account, key }) => {
    if (answer?.kind !== 'admitted' || answeredAt === null) return [];
    const broken: string[] = [];
    const mayBeGone = (each: (typeof changes)[number]): boolean => wasLost(history, each.askedAt, each.confirmedAt);
    const confirmed = changes.filter(
      (each) => each.confirmedAt !== null && each.confirmedAt < askedAt && !mayBeGone(each),
    );
    if (confirmed.some((each) => each.kind === 'delete_key' && each.account === account && each.key === key))
      broken.push(`${id} was admitted with a deleted key`);
    const states = confirmed.filter(
      (each) => (each.kind === 'suspend' || each.kind === 'activate') && each.account === account,
    );
    const last = states.reduce<(typeof states)[number] | null>(
      (a, b) => (a === null || (b.confirmedAt ?? 0) >= (a.confirmedAt ?? 0) ? b : a),
      null,
    );
    const isChanging = changes.some(
      (each) =>
        each.kind === 'activate' &&
        each.account === account &&
        each.askedAt <= answeredAt &&
        (each.confirmedAt === null || mayBeGone(each) || each.confirmedAt >= (last?.confirmedAt ?? 0)) &&
        each !== last,
    );
    if (last?.kind === 'suspend' && !isChanging) broken.push(`${id} was admitted for a suspended account`);
    const prices = changes.filter(({ kind }) => kind === 'price');
    const latest = prices.filter((each) => confirmed.includes(each)).at(-1);
    const possible = prices.filter(
      (each) =>
        each === latest ||
        (each.askedAt <= answeredAt && (each.confirmedAt === null || each.confirmedAt >= askedAt || mayBeGone(each))),
    );
    if (latest !== undefined && !possible.some(({ priceId }) => priceId === answer.priceId))
      broken.push(`${id} was admitted at an old price`);
    return broken;
  });
}

function text(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
