import type { PicoUsd } from '../core/money.ts';
import type { Part } from './budget.ts';

/**
 * The rules of an escrow: money that one durable hold reserves in advance for a key on one process, and that the process
 * promises to requests from memory (O'Neil, "The Escrow Transactional Method", 1986). Values in, values out: no clock, no
 * I/O. What has been promised and what is idle is together never more than the durable hold; see the proof in
 * `ESCROW.md`.
 */
export interface Escrow {
  /** What can be promised, in the order of consumption. */
  readonly idle: readonly Part[];
  /** What is promised to requests whose settlement is not known to be committed, by grant. */
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

/** What can be promised at a moment of the database's clock: parts of grants that have ended serve nobody new. */
export function idleAt(escrow: Escrow, nowMs: number): PicoUsd {
  let idle = 0n;
  for (const part of escrow.idle) if (!hasEnded(escrow, part.grantId, nowMs)) idle += part.amount;
  return idle;
}

/** Promises `wanted`, or all that is idle when there is less. */
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

/** A settlement is committed: `charged` of its promise has left the durable hold, the rest is idle again. */
export function settle(escrow: Escrow, parts: readonly Part[], charged: readonly Part[]): Escrow {
  const idle = inOrder(plus(escrow.idle, minus(parts, charged)), escrow.ends);
  return { ...escrow, idle, promised: minus(escrow.promised, parts) };
}

/**
 * A promise has ended and what it left in the durable hold is not known: a settlement that was committed before, an answer
 * that was lost. Nothing becomes idle; what the hold has beyond the promises goes back with the next call-in.
 */
export function forget(escrow: Escrow, parts: readonly Part[]): Escrow {
  return { ...escrow, promised: minus(escrow.promised, parts) };
}

/** A refill is committed: the durable hold has grown by these parts. */
export function refill(escrow: Escrow, parts: readonly Part[], ends: ReadonlyMap<string, number | null>): Escrow {
  const known = new Map([...escrow.ends, ...ends]);
  return { ...escrow, ends: known, idle: inOrder(plus(escrow.idle, parts), known) };
}

/** The ends of grants as they were read again. */
export function withEnds(escrow: Escrow, ends: ReadonlyMap<string, number | null>): Escrow {
  const known = new Map([...escrow.ends, ...ends]);
  return { ...escrow, ends: known, idle: inOrder(escrow.idle, known) };
}

/** Takes the idle money out of use, all of it or that of grants that have ended. What is promised stays. */
export function callIn(escrow: Escrow, endedAtMs: number | null): Escrow {
  const idle = endedAtMs === null ? [] : escrow.idle.filter((part) => !hasEnded(escrow, part.grantId, endedAtMs));
  return { ...escrow, idle };
}

/** What the durable hold must keep: everything that is idle or promised, by grant. */
export function outstanding(escrow: Escrow): readonly Part[] {
  return plus(escrow.idle, escrow.promised);
}

/** What decides how much is held in advance. All in pico-USD. */
export interface AdvanceAsk {
  /** What the account could still hold. */
  free: PicoUsd;
  /** What the key's limit leaves; null without a limit. */
  room: PicoUsd | null;
  /** What one request of this key needs. */
  need: PicoUsd;
  /** What the last seconds used, less what is idle already. */
  wanted: PicoUsd;
}

/** Below so many times the need of a request every hold is exact. */
const lowFactor = 16n;
/** The share of what is free that one escrow may take at a time. */
const shareOfFree = 8n;

/** How much to hold in advance: nothing near the end of the money, so that refusals there are what they are without escrows. */
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

/** What is left of the parts. Throws when something is taken that is not there: that is a fault of the program. */
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

/** What both have of each grant. */
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

/** Soonest end first, those that never end last, then by id: the order of consumption of `budget.ts`. */
function inOrder(parts: readonly Part[], ends: ReadonlyMap<string, number | null>): readonly Part[] {
  if (parts.length < 2) return parts;
  const endOf = ({ grantId }: Part): number => ends.get(grantId) ?? Number.POSITIVE_INFINITY;
  return [...parts].sort((a, b) => {
    const [first, second] = [endOf(a), endOf(b)];
    if (first !== second) return first < second ? -1 : 1;
    return a.grantId < b.grantId ? -1 : 1;
  });
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
