import { parseArgs } from 'node:util';
import { decide, type Facts, type Hold, type Operation, pairKey } from '../../server/billing/lane/batch.ts';
import type { Grant } from '../../server/billing/rules/budget.ts';
import type { AdmitAsk, Admitted, Refused } from '../../server/billing/types.ts';
import { entryPrice, unitPrices } from '../../server/core/price.ts';
import type { Protocol } from '../../server/core/protocol.ts';
import { promptBound } from '../../server/core/request.ts';
import type { ReportedUsage, TokenPools } from '../../server/core/tokens.ts';
import { type BoundSize, boundOf, tokenBounds } from '../../server/metering/bound.ts';
import { type Brake, createBrake } from '../../server/metering/brake.ts';
import { estimateInput } from '../../server/metering/estimate.ts';
import { createOutageAllowances } from '../../server/metering/outage-allowance.ts';

/**
 * What the bounds cost honest customers: ordinary agents' sessions against the rules that admit, hold, brake and settle, in
 * memory and in simulated time, with the seed's random numbers alone. Prints how many requests are refused, wait for others of
 * their account, or are stopped, by balance and kind. The lane's rules alone: no escrow, which exists where there is plenty of money.
 *
 * An agent sends its growing conversation again and again (2 to 400 kB, 4 bytes a token, nine tenths of it cached), with
 * `max_tokens: 32000` or none, nine of ten streamed, and tries again up to seven times where its budget is reserved.
 * One to four agents share an account, which is topped up to its balance whenever half of it is used.
 */
const { values: options } = parseArgs({
  options: {
    requests: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    // Agents of each account; left out: one to four.
    'at-once': { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});

const balances = ['0.05', '0.2', '1', '5', '20', '100'];
const kinds = ['stream, counted first', 'stream, counted last', 'unstreamed', 'with images'] as const;
type Kind = (typeof kinds)[number];

const model = { contextWindow: 200_000, maxOutputTokens: 64_000 };
const million = 1_000_000n;
const prices = unitPrices({
  input: 3n * million,
  cacheHit: 300_000n,
  cacheWrite5m: 3_750_000n,
  cacheWrite1h: 6n * million,
  output: 15n * million,
});
const entry = {
  allow: new Set<string>(),
  routes: [{ upstream: { protocol: 'messages' as Protocol, profile: 'anthropic' as const } }],
};

const bytesPerToken = 4;
const tokensPerSecond = 80;
const tickMs = 500;
/** Tries of one request, each after twice the time of the one before. */
const maxTries = 8;
const firstRetryMs = 1_000;

/** Numbers of [0, 1) that the seed alone decides (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Simulated time: what is due next runs next, and what it promised is done before. */
function createTime() {
  const due: { at: number; order: number; wake: () => void }[] = [];
  let now = 0;
  let order = 0;
  return {
    now: () => now,
    sleep: (ms: number) =>
      new Promise<void>((wake) => {
        order += 1;
        due.push({ at: now + ms, order, wake });
      }),
    async run(): Promise<void> {
      for (;;) {
        await new Promise(setImmediate);
        due.sort((one, other) => one.at - other.at || one.order - other.order);
        const next = due.shift();
        if (next === undefined) return;
        now = next.at;
        next.wake();
      }
    },
  };
}

/** One account behind the decisions that the database's transactions make. */
function openAccount(balance: bigint) {
  let grants: readonly Grant[] = [];
  let keySpend: Facts['keySpend'] = new Map();
  const holds = new Map<string, Hold>();
  let uncovered: string | null = null;
  let count = 0;
  const limits = { day: null, week: null, month: null, lifetime: null, burn: null };
  const key = {
    accountId: 'a',
    valid: true,
    expiresAtMs: null,
    accountActive: true,
    models: [],
    limits,
    timeZone: 'UTC',
  };
  const truth = { ...model, price: { id: 'p', ...prices }, priceUntilMs: null };

  const topUp = (): void => {
    const left = grants.reduce((sum, { amount, spent }) => sum + amount - spent, 0n);
    if (left * 2n > balance) return;
    count += 1;
    const amount = balance - left;
    grants = [
      ...grants,
      { id: `g${count}`, trial: false, amount, spent: 0n, held: 0n, expired: 0n, ended: false, overdrawn: false },
    ];
  };

  const run = (operation: Operation) => {
    const { results, changes } = decide([operation], {
      nowMs: 0,
      change: '0',
      grantEnds: new Map(),
      escrowed: new Set(),
      grants: new Map([['a', grants]]),
      keySpend,
      accountLimits: new Map(),
      sharedLimits: new Map(),
      holds,
      uncovered: uncovered === null ? new Map() : new Map([['a', uncovered]]),
      entries: new Map(),
      accounts: new Set(['a']),
      keys: new Map([['k', key]]),
      models: new Map([['model', truth]]),
    });
    const changed = new Map(changes.grants.map(({ grant }) => [grant.id, grant]));
    grants = grants.map((grant) => changed.get(grant.id) ?? grant).filter(({ spent, amount }) => spent < amount);
    keySpend = new Map(changes.keySpend.map(({ spend }) => [pairKey('a', 'k'), spend]));
    for (const { requestId } of changes.holdsEnded) {
      holds.delete(pairKey('a', requestId));
      if (uncovered === requestId) uncovered = null;
    }
    for (const placed of changes.holdsPlaced) {
      holds.set(pairKey('a', placed.requestId), { ...placed, heldAt: '', orphaned: false, limits });
      if (placed.uncovered) uncovered = placed.requestId;
    }
    for (const { requestId, parts, uncovered: isSo } of changes.holdsChanged) {
      const hold = holds.get(pairKey('a', requestId));
      if (hold !== undefined) holds.set(pairKey('a', requestId), { ...hold, parts, uncovered: isSo });
      if (isSo) uncovered = requestId;
      else if (uncovered === requestId) uncovered = null;
    }
    const [result] = results;
    if (result === undefined) throw new Error('no result');
    return result;
  };
  return { run, topUp };
}

type Account = ReturnType<typeof openAccount>;

/** What a request is, and what its vendor will report of it. */
interface Sent {
  kind: Kind;
  ask: AdmitAsk;
  size: BoundSize;
  estimatedInputTokens: number;
  countedFirst: boolean;
  usage: TokenPools;
}

function sent(id: string, kind: Kind, textBytes: number, outputTokens: number, random: () => number): Sent {
  const images = kind === 'with images' ? 1 + Math.floor(random() * 4) : 0;
  const countedFirst = kind === 'stream, counted first' || (kind === 'with images' && random() < 0.5);
  const stream = kind !== 'unstreamed';
  const maxTokens = random() < 0.5 ? 32_000 : null;
  const cacheWrite = countedFirst ? ('5m' as const) : ('none' as const);
  const facts = {
    textBytes,
    images,
    documents: 0,
    documentBytes: 0,
    answers: 1,
    maxTokens,
    cacheWrite,
    reasoning: 'unsaid' as const,
    tools: { declared: 15, described: 0 },
    gates: [],
    searchesTools: false,
    ...(images === 0 ? {} : { media: [{ kind: 'image' as const, count: images }] }),
  };
  const { size } = boundOf(facts, entry);
  const prompt = Math.ceil(textBytes / bytesPerToken) + images * 1_500;
  const cached = Math.floor(prompt * 0.9);
  const fresh = prompt - cached;
  const usage = {
    input: countedFirst ? 0 : fresh,
    cacheHit: cached,
    cacheWrite5m: countedFirst ? fresh : 0,
    cacheWrite1h: 0,
    output: Math.min(outputTokens, maxTokens ?? model.maxOutputTokens),
  };
  return {
    kind,
    ask: { requestId: id, accountId: 'a', keyId: 'k', model: 'model', stream, cacheWrite, ...size },
    size,
    estimatedInputTokens: estimateInput(facts, model.contextWindow),
    countedFirst,
    usage,
  };
}

interface Figures {
  requests: number;
  refused: number;
  waited: number;
  stopped: number;
  waitedMs: number;
}

const figures = new Map<string, Figures>();
function figuresOf(balance: string, kind: Kind): Figures {
  const name = `${balance} ${kind}`;
  const known = figures.get(name) ?? { requests: 0, refused: 0, waited: 0, stopped: 0, waitedMs: 0 };
  figures.set(name, known);
  return known;
}

type Time = ReturnType<typeof createTime>;

/** Sends until it is admitted. Null: it gave up, or no waiting helps. */
async function admit(account: Account, { ask }: Sent, time: Time, counts: Figures): Promise<Admitted | null> {
  const began = time.now();
  for (let tries = 1; ; tries += 1) {
    account.topUp();
    const answer = account.run({ kind: 'admit', ask }) as Admitted | Refused;
    if (answer.kind === 'admitted') {
      if (tries > 1) counts.waited += 1;
      counts.waitedMs += time.now() - began;
      return answer;
    }
    if (answer.reason !== 'reserved' || tries === maxTries) return null;
    await time.sleep(firstRetryMs * 2 ** (tries - 1));
  }
}

const nothingYet: ReportedUsage = {
  usage: null,
  clamped: false,
  partial: true,
  outputBytes: 0,
  outputPieces: 0,
  model: null,
};

/** Streams the answer under its brake; to what was used, and whether the brake cut it. */
async function stream(
  account: Account,
  { ask, size, estimatedInputTokens, countedFirst, usage }: Sent,
  admitted: Admitted,
  time: Time,
): Promise<{ output: number; stopped: boolean }> {
  const end = { output: 0, stopped: false };
  const ref = { accountId: 'a', requestId: ask.requestId };
  const brake: Brake = createBrake({
    held: admitted.amount,
    freeAfter: admitted.freeAfter,
    prices,
    promptBound: promptBound(ask, model.contextWindow),
    estimatedInputTokens,
    bounds: tokenBounds(size, model),
    contextBound: admitted.contextBound,
    contextRuns: 1,
    uncovered: admitted.uncovered,
    reasoning: null,
    allowance: createOutageAllowances().of('a'),
    extend: async (morePico) => {
      const result = account.run({ kind: 'extend', morePico, ...ref });
      return result.kind === 'extended' ? result.addedPico : 0n;
    },
    shrink: (keep) => void account.run({ kind: 'shrink', keep, ...ref }),
    uncover: async () => {
      const result = account.run({ kind: 'uncover', ...ref });
      return result.kind === 'uncovered' && result.isSo;
    },
    stop: () => {
      end.stopped = true;
    },
    resume: () => {},
  });
  const seen = { ...nothingYet, usage: countedFirst ? { ...usage, output: 1 } : null };
  while (end.output < usage.output && !end.stopped) {
    if (!brake.waiting) end.output = Math.min(usage.output, end.output + (tokensPerSecond * tickMs) / 1_000);
    seen.outputBytes = end.output * bytesPerToken;
    seen.outputPieces = Math.ceil(end.output / 2);
    brake.check(seen, time.now(), !brake.waiting);
    await time.sleep(tickMs);
  }
  brake.close();
  return end;
}

async function request(balance: string, account: Account, asked: Sent, time: Time, firstMs: number): Promise<void> {
  const counts = figuresOf(balance, asked.kind);
  counts.requests += 1;
  const admitted = await admit(account, asked, time, counts);
  if (admitted === null) {
    counts.refused += 1;
    return;
  }
  await time.sleep(firstMs);
  let { output } = asked.usage;
  if (asked.ask.stream) {
    const end = await stream(account, asked, admitted, time);
    output = end.output;
    if (end.stopped) counts.stopped += 1;
  } else await time.sleep((output / tokensPerSecond) * 1_000);
  const usage = { ...asked.usage, output };
  const { requestId, keyId, accountId, model: name } = asked.ask;
  const settlement = {
    requestId,
    keyId,
    accountId,
    model: name,
    upstream: 'vendor',
    protocol: 'messages' as const,
    stream: asked.ask.stream,
    usage,
    price: entryPrice(admitted.price, usage),
    upstreamCost: null,
    latencyMs: 0,
    timeToFirstByteMs: null,
    outcome: 'completed' as const,
    usageSource: 'reported' as const,
  };
  // As the ledger waits for what others hold.
  for (let waitedMs = 0; ; waitedMs += 1_000) {
    const { kind } = account.run({ kind: 'settle', final: waitedMs > 30_000, settlement });
    if (kind === 'settled') return;
    await time.sleep(1_000);
  }
}

/** One agent: a conversation that grows until it is done, then the next one. */
async function agent(
  balance: string,
  account: Account,
  name: string,
  requests: number,
  random: () => number,
  time: Time,
) {
  const vendorCountsFirst = random() < 0.5;
  let bytes = 0;
  for (let at = 0; at < requests; at += 1) {
    await time.sleep(500 + random() * 6_000);
    if (bytes === 0 || bytes > 400_000) bytes = 2_000 + random() ** 2 * 60_000;
    const drawn = random();
    const streamed: Kind = vendorCountsFirst ? 'stream, counted first' : 'stream, counted last';
    const kind: Kind = drawn < 0.1 ? 'unstreamed' : drawn < 0.15 ? 'with images' : streamed;
    // Mostly a call of a tool; now and then a whole file.
    const output = Math.ceil(40 + random() ** 3 * 1_500 + (random() < 0.03 ? random() * 8_000 : 0));
    const asked = sent(`${name}-${at}`, kind, Math.floor(bytes), output, random);
    await request(balance, account, asked, time, 700 + random() * 3_000 + bytes / 100);
    bytes += output * bytesPerToken + random() ** 2 * 24_000;
    if (random() < 0.03) bytes = 0;
  }
}

const perAgent = 50;
const random = randomOf(Number(options.seed));
const perBalance = Math.ceil(Number(options.requests) / balances.length);
for (const balance of balances) {
  const time = createTime();
  const agents: Promise<void>[] = [];
  let left = perBalance;
  for (let index = 0; left > 0; index += 1) {
    const account = openAccount(BigInt(Math.round(Number(balance) * 1_000_000)) * million);
    const atOnce = Number(options['at-once'] ?? 1 + (index % 4));
    for (let each = 0; each < atOnce && left > 0; each += 1) {
      const requests = Math.min(perAgent, left);
      left -= requests;
      const own = randomOf(Math.floor(random() * 2 ** 32));
      agents.push(agent(balance, account, `${index}-${each}`, requests, own, time));
    }
  }
  await Promise.all([time.run(), ...agents]);
}

const share = (part: number, of: number): string => (of === 0 ? '-' : `${((100 * part) / of).toFixed(2)} %`);
if (options.json) process.stdout.write(`${JSON.stringify(Object.fromEntries(figures))}\n`);
else {
  const lines = ['| USD | kind | requests | refused | waited | stopped | s waited |', '|---|---|---|---|---|---|---|'];
  for (const balance of balances)
    for (const kind of kinds) {
      const { requests, refused, waited, stopped, waitedMs } = figuresOf(balance, kind);
      const cells = [balance, kind, requests, ...[refused, waited, stopped].map((part) => share(part, requests))];
      lines.push(`| ${[...cells, (waitedMs / 1_000 / Math.max(1, waited)).toFixed(1)].join(' | ')} |`);
    }
  process.stdout.write(`${lines.join('\n')}\n`);
}
