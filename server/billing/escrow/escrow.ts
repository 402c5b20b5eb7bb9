import type { PicoUsd } from '../../core/money.ts';
import type { Part } from '../rules/budget.ts';

/**
 * The rules of an escrow: one durable hold reserves money in advance for a key on one process, and the process promises
 * it to requests from memory (O'Neil, "The Escrow Transactional Method", 1986). Pure: no clock, no I/O. Promised and
 * idle money together never exceed the durable hold; `ESCROW.md` has the proof.
 */
export interface Escrow {
  /** Idle money, in the order of consumption. */
  readonly idle: readonly Part[];
  /** Money promised to requests whose settlement is not known to be committed, by grant. */
  readonly promised: readonly Part[];
  /** When each grant ends, in milliseconds of the database's clock; null: never. */
  readonly ends: ReadonlyMap<string, number | null>;
}

export const emptyEscrow: Escrow = { idle: [], promised: [], ends: new Map() };

/** A promise and the escrow after it. */
export interface Drawn {
  readonly escrow: Escrow;
  readonly parts: readonly Part[];
}

/**
 * Money that can be promised at a moment of the database's clock: parts of ended grants cannot be promised to new
 * requests.
 */
export function idleAt(escrow: Escrow, nowMs: number): PicoUsd {
  let idle = 0n;
  for (const part of escrow.idle) if (!hasEnded(escrow, part.grantId, nowMs)) idle += part.amount;
  return idle;
}

/** Promises `wanted`, or all idle money if that is less. */
export function draw(escrow: Escrow, wanted: PicoUsd, nowMs: number): Drawn {
  const idle: Part[] = [];
  const parts: Part[] = [];
  let left = wanted;
  for (const part of escrow.idle) {
    const amount = hasEnded(escrow, part.grantId, nowMs) ? 0n : least(part.amount, left);
    if (amount > 0n) parts.push({ grantId: part.grantId, amount });
    if (amount < part.amount) idle.push({ grantId: part.grantId, amount: part.amount - amount });
    left -= amount;
  }
  return { escrow: { ...escrow, idle, promised: plus(escrow.promised, parts) }, parts };
}

/** A request was never sent: its promise is idle again. */
export function giveBack(escrow: Escrow, parts: readonly Part[]): Escrow {
  return settle(escrow, parts, []);
}

/** The parts up to a sum, and the rest of them. */
export function split(parts: readonly Part[], keep: PicoUsd): { kept: readonly Part[]; given: readonly Part[] } {
  const kept: Part[] = [];
  let left = keep;
  for (const { grantId, amount } of parts) {
    const taken = least(amount, left);
    if (taken > 0n) kept.push({ grantId, amount: taken });
    left -= taken;
  }
  return { kept, given: minus(parts, kept) };
}

/** A settlement is committed: `charged` of its promise has left the durable hold, the rest is idle again. */
export function settle(escrow: Escrow, parts: readonly Part[], charged: readonly Part[]): Escrow {
  const idle = inOrder(plus(escrow.idle, minus(parts, charged)), escrow.ends);
  return { ...escrow, idle, promised: minus(escrow.promised, parts) };
}

/**
 * A promise has ended with an unknown rest in the durable hold: the settlement was committed before, or its answer was
 * lost. Nothing becomes idle; the hold's money beyond the promises is returned by the next call-in.
 */
export function forget(escrow: Escrow, parts: readonly Part[]): Escrow {
  return { ...escrow, promised: minus(escrow.promised, parts) };
}

/** A refill is committed: the durable hold has grown by these parts. */
export function refill(escrow: Escrow, parts: readonly Part[], ends: ReadonlyMap<string, number | null>): Escrow {
  return withEnds({ ...escrow, idle: plus(escrow.idle, parts) }, ends);
}

/** What has just become idle is promised to the request that it was asked for. */
export function promise(escrow: Escrow, parts: readonly Part[]): Escrow {
  return { ...escrow, idle: minus(escrow.idle, parts), promised: plus(escrow.promised, parts) };
}

/** Replaces the grants' ends by newly read ones, which are in the order of consumption. `ends` may have those of other accounts as well: they are not kept. */
export function withEnds(escrow: Escrow, ends: ReadonlyMap<string, number | null>): Escrow {
  const own = new Set([...escrow.idle, ...escrow.promised].map(({ grantId }) => grantId));
  const known = new Map<string, number | null>();
  // In their order, which decides among grants that end at the same moment. Most escrows have money of one grant.
  if (own.size > 1) for (const [grantId, end] of ends) if (own.has(grantId)) known.set(grantId, end);
  for (const grantId of own) {
    if (!known.has(grantId)) known.set(grantId, (ends.has(grantId) ? ends : escrow.ends).get(grantId) ?? null);
  }
  return { ...escrow, ends: known, idle: inOrder(escrow.idle, known) };
}

/** Removes the idle money, all of it or that of ended grants. Promises stay. */
export function callIn(escrow: Escrow, endedAtMs: number | null): Escrow {
  if (escrow.idle.length === 0) return escrow;
  const idle = endedAtMs === null ? [] : escrow.idle.filter((part) => !hasEnded(escrow, part.grantId, endedAtMs));
  return { ...escrow, idle };
}

/** The parts that the durable hold must keep: idle and promised money, by grant. */
export function outstanding(escrow: Escrow): readonly Part[] {
  return plus(escrow.idle, escrow.promised);
}

/** Inputs of the size of an advance. All in pico-USD. */
export interface AdvanceAsk {
  /** Free money of the account. */
  free: PicoUsd;
  /** Room of the key's limit; null without a limit. */
  room: PicoUsd | null;
  /** Need of one request of this key. */
  need: PicoUsd;
  /** Use of the last seconds, less the idle money. */
  wanted: PicoUsd;
}

/** Below this multiple of a request's need every hold is exact. */
const lowFactor = 16n;
/** One escrow takes at most 1/8 of the free money at a time. */
const shareOfFree = 8n;

/** The amount to hold in advance: zero near the end of the money, so that refusals are the same as without escrows. */
export function advance({ free, room, need, wanted }: AdvanceAsk): PicoUsd {
  const available = room === null ? free : least(free, room);
  if (wanted <= 0n || available < need * lowFactor) return 0n;
  return least(wanted, available / shareOfFree);
}

export function sumOf(parts: readonly Part[]): PicoUsd {
  let sum = 0n;
  for (const part of parts) sum += part.amount;
  return sum;
}

/** The parts by grant, added up. */
export function plus(parts: readonly Part[], added: readonly Part[]): readonly Part[] {
  if (added.length === 0) return parts;
  if (parts.length === 0) return added;
  const sum = [...parts];
  for (const part of added) {
    const index = sum.findIndex(({ grantId }) => grantId === part.grantId);
    const known = sum[index];
    if (known === undefined) sum.push(part);
    else sum[index] = { grantId: part.grantId, amount: known.amount + part.amount };
  }
  return sum;
}

/** The parts less `taken`. Throws when a part would become negative: a programming error. */
export function minus(parts: readonly Part[], taken: readonly Part[]): readonly Part[] {
  if (taken.length === 0) return parts;
  const left = [...parts];
  for (const { grantId, amount } of taken) {
    const index = left.findIndex((part) => part.grantId === grantId);
    const known = left[index];
    if (known === undefined || known.amount < amount) throw new Error('escrow: more was taken than there is');
    left[index] = { grantId, amount: known.amount - amount };
  }
  return left.filter((part) => part.amount > 0n);
}

/** The minimum of both, by grant. */
export function common(parts: readonly Part[], others: readonly Part[]): readonly Part[] {
  const shared = parts.map(({ grantId, amount }) => ({
    grantId,
    amount: least(amount, others.find((other) => other.grantId === grantId)?.amount ?? 0n),
  }));
  return shared.filter((part) => part.amount > 0n);
}

function hasEnded(escrow: Escrow, grantId: string, nowMs: number): boolean {
  const endsAtMs = escrow.ends.get(grantId) ?? null;
  return endsAtMs !== null && endsAtMs <= nowMs;
}

/** Soonest end first, those that never end last, then as `ends` has them: the order of consumption of `budget.ts`. */
function inOrder(parts: readonly Part[], ends: ReadonlyMap<string, number | null>): readonly Part[] {
  if (parts.length < 2) return parts;
  const endOf = ({ grantId }: Part): number => ends.get(grantId) ?? Number.POSITIVE_INFINITY;
  const places = [...ends.keys()];
  return [...parts].sort((a, b) => {
    const [first, second] = [endOf(a), endOf(b)];
    if (first !== second) return first < second ? -1 : 1;
    return places.indexOf(a.grantId) - places.indexOf(b.grantId);
  });
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
