import type { PicoUsd } from '../../core/money.ts';

/**
 * The rules of the budget: grants in, movements out. Pure: no clock, database or setting is read; the caller has locked
 * the grants and applies the movements.
 *
 * Lists of grants are in the order of consumption: soonest expiry first, grants without expiry last, so that the money that
 * would expire first is used first. Of those that end at the same moment, what was given before what was bought, since what
 * was bought can be refunded; then the older, then by id (`consumptionOrder` of `grants.ts`).
 */
export interface Grant {
  readonly id: string;
  /** A trial grant, which was not paid for. Makes no difference to the rules here. */
  readonly trial: boolean;
  readonly amount: PicoUsd;
  readonly spent: PicoUsd;
  readonly held: PicoUsd;
  readonly expired: PicoUsd;
  /** Its expiry has passed: only money that is already held can still be charged to it. */
  readonly ended: boolean;
  /**
   * While some of it was held, an answer that could not be stopped cost more than the account had. Makes no difference
   * to the rules here: `hold-size.ts` gives such an account no credit for another one.
   */
  readonly overdrawn: boolean;
}

/** The part of a hold that is reserved in one grant. */
export interface Part {
  readonly grantId: string;
  readonly amount: PicoUsd;
}

/**
 * One movement within a grant. `hold` reserves free money, `release` frees it, `charge` spends free money, `expire`
 * ends free money. A settlement first releases its own hold and then charges, so that four kinds are enough.
 */
export interface Movement {
  readonly kind: 'hold' | 'release' | 'charge' | 'expire';
  readonly grantId: string;
  readonly amount: PicoUsd;
  /** A charge of money that was held: it may come from a grant that has ended since. */
  readonly fromHold: boolean;
}

/** Free money of one grant, ended or not. Derived, never stored. */
function freeOf(grant: Grant): PicoUsd {
  return grant.amount - grant.spent - grant.held - grant.expired;
}

/** Free money: the free parts of the grants that have not ended. */
export function freeIn(grants: readonly Grant[]): PicoUsd {
  return sum(grants, (grant) => (grant.ended ? 0n : freeOf(grant)));
}

/**
 * Held money that running requests may free again. The held money of an ended grant is excluded: it expires when it is
 * freed.
 */
export function heldIn(grants: readonly Grant[]): PicoUsd {
  return sum(grants, (grant) => (grant.ended ? 0n : grant.held));
}

/** All that is held, in grants that have ended as well. */
export function allHeldIn(grants: readonly Grant[]): PicoUsd {
  return sum(grants, (grant) => grant.held);
}

/** A hold's parts and the movements that reserve them. */
export interface Placed {
  readonly amount: PicoUsd;
  readonly parts: readonly Part[];
  readonly movements: readonly Movement[];
}

/** Reserves `wanted`, or all free money if that is less. */
export function place(grants: readonly Grant[], wanted: PicoUsd): Placed {
  const parts = take(grants, wanted);
  return { amount: sum(parts, (part) => part.amount), parts, movements: moves('hold', parts) };
}

/** Adds `more` to a hold, or all free money if that is less. The result has the parts of the whole hold. */
export function extend(grants: readonly Grant[], held: readonly Part[], more: PicoUsd): Placed {
  const added = place(grants, more);
  return { ...added, parts: merge(held, added.parts) };
}

/** The effect of a settlement. */
export interface Charged {
  readonly charged: PicoUsd;
  readonly freeAfter: PicoUsd;
  readonly movements: readonly Movement[];
}

/**
 * Charges a cost. The request's own hold pays first, even from a grant that has ended since, because the hold pinned
 * it; then free money. The rest of the hold is freed, and expires if its grant has ended.
 *
 * `held` is empty when the hold was swept or never existed: then free money pays. When nothing is left, less than the
 * cost is charged and the difference is the operator's loss: a balance never becomes negative.
 */
export function settle(grants: readonly Grant[], held: readonly Part[], owed: PicoUsd): Charged {
  const released = moves('release', held);
  const own = owedFrom(grants, held, owed);
  const fromHold = moves('charge', own, true);
  const afterHold = apply(grants, [...released, ...fromHold]);
  const more = take(afterHold, owed - sum(own, (part) => part.amount));
  const fromFree = moves('charge', more);
  const after = apply(afterHold, fromFree);
  return {
    charged: sum(own, (part) => part.amount) + sum(more, (part) => part.amount),
    freeAfter: freeIn(after),
    movements: [...released, ...fromHold, ...fromFree, ...expire(after)],
  };
}

/** The parts of a hold that a cost takes, in the order of consumption. */
export function owedFrom(grants: readonly Grant[], held: readonly Part[], owed: PicoUsd): readonly Part[] {
  return limit(inOrder(grants, held), owed);
}

/** Releases a whole hold: nothing was used. */
export function release(grants: readonly Grant[], held: readonly Part[]): readonly Movement[] {
  const released = moves('release', held);
  return [...released, ...expire(apply(grants, released))];
}

/** Expires the free money of ended grants. Their held money stays until its request ends. */
export function expire(grants: readonly Grant[]): readonly Movement[] {
  const parts = grants.filter((grant) => grant.ended).map((grant) => ({ grantId: grant.id, amount: freeOf(grant) }));
  return moves('expire', parts);
}

/**
 * The grants after the movements. Throws when a movement takes money that does not exist: a programming error, which
 * the database's CHECKs would refuse too.
 */
export function apply(grants: readonly Grant[], movements: readonly Movement[]): readonly Grant[] {
  if (movements.length === 0) return grants;
  const after = new Map(grants.map((grant) => [grant.id, grant]));
  for (const movement of movements) {
    const grant = after.get(movement.grantId);
    if (grant === undefined) throw new Error(`budget: ${movement.kind} on a grant that is not there`);
    const moved = steps[movement.kind](grant, movement.amount);
    if (moved.held < 0n || freeOf(moved) < 0n) throw new Error(`budget: ${movement.kind} of more than there is`);
    after.set(moved.id, moved);
  }
  return [...after.values()];
}

const steps: Record<Movement['kind'], (grant: Grant, amount: PicoUsd) => Grant> = {
  hold: (grant, amount) => ({ ...grant, held: grant.held + amount }),
  release: (grant, amount) => ({ ...grant, held: grant.held - amount }),
  charge: (grant, amount) => ({ ...grant, spent: grant.spent + amount }),
  expire: (grant, amount) => ({ ...grant, expired: grant.expired + amount }),
};

/** Takes up to `wanted` of the free money, in the order of consumption. */
function take(grants: readonly Grant[], wanted: PicoUsd): Part[] {
  const free = grants.filter((grant) => !grant.ended).map((grant) => ({ grantId: grant.id, amount: freeOf(grant) }));
  return limit(free, wanted);
}

/** The first parts up to a sum. */
function limit(parts: readonly Part[], max: PicoUsd): Part[] {
  const taken: Part[] = [];
  let left = max;
  for (const part of parts) {
    const amount = part.amount < left ? part.amount : left;
    if (amount > 0n) taken.push({ grantId: part.grantId, amount });
    left -= amount;
  }
  return taken;
}

/** The parts of a hold in the order of consumption, which extensions may have broken. */
function inOrder(grants: readonly Grant[], parts: readonly Part[]): Part[] {
  if (parts.length < 2) return [...parts];
  const byGrant = new Map(parts.map((part) => [part.grantId, part]));
  return grants.flatMap((grant) => byGrant.get(grant.id) ?? []);
}

function merge(parts: readonly Part[], added: readonly Part[]): Part[] {
  const amounts = new Map(parts.map((part) => [part.grantId, part.amount]));
  for (const part of added) amounts.set(part.grantId, (amounts.get(part.grantId) ?? 0n) + part.amount);
  return [...amounts].map(([grantId, amount]) => ({ grantId, amount }));
}

function moves(kind: Movement['kind'], parts: readonly Part[], fromHold = false): Movement[] {
  return parts
    .filter((part) => part.amount > 0n)
    .map((part) => ({ kind, grantId: part.grantId, amount: part.amount, fromHold }));
}

function sum<T>(items: readonly T[], amountOf: (item: T) => PicoUsd): PicoUsd {
  let total = 0n;
  for (const item of items) total += amountOf(item);
  return total;
}
