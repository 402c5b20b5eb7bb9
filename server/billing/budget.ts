import type { PicoUsd } from '../core/money.ts';

/**
 * The rules of the budget: grants in, movements out. Nothing here reads a clock, a database or a setting; whoever calls
 * has locked the grants and applies what comes out.
 *
 * Lists of grants are in the order of consumption: soonest expiry first, those that never expire last, then by id. What
 * would be lost first is used first.
 */
export interface Grant {
  readonly id: string;
  /** It was given for trying the service out, not paid for. Makes no difference to any rule here. */
  readonly trial: boolean;
  readonly amount: PicoUsd;
  readonly spent: PicoUsd;
  readonly held: PicoUsd;
  readonly expired: PicoUsd;
  /** The moment it expires has passed: nothing can be taken from it any more, except what is held already. */
  readonly ended: boolean;
  /**
   * While some of it was held, an answer that could not be stopped cost more than the account had left. Makes no
   * difference to any rule here: `hold-size.ts` gives such an account no credit for another one.
   */
  readonly overdrawn: boolean;
}

/** How much of a hold came from which grant. */
export interface Part {
  readonly grantId: string;
  readonly amount: PicoUsd;
}

/**
 * One step of money within a grant. `hold` reserves what is free, `release` gives it back, `charge` spends what is free,
 * `expire` ends what is free. A settlement first releases its own hold and then charges, so that four steps are enough.
 */
export interface Movement {
  readonly kind: 'hold' | 'release' | 'charge' | 'expire';
  readonly grantId: string;
  readonly amount: PicoUsd;
  /** A charge that was reserved beforehand: it may come from a grant that has ended since. */
  readonly fromHold: boolean;
}

/** What is free of one grant, ended or not. Derived, never stored. */
function freeOf(grant: Grant): PicoUsd {
  return grant.amount - grant.spent - grant.held - grant.expired;
}

/** What can be taken: the free parts of the grants that have not ended. */
export function freeIn(grants: readonly Grant[]): PicoUsd {
  return sum(grants, (grant) => (grant.ended ? 0n : freeOf(grant)));
}

/** What running requests may give back: what is held of an ended grant does not come back, it expires. */
export function heldIn(grants: readonly Grant[]): PicoUsd {
  return sum(grants, (grant) => (grant.ended ? 0n : grant.held));
}

/** What was placed: the parts of the hold and the movements that reserve them. */
export interface Placed {
  readonly amount: PicoUsd;
  readonly parts: readonly Part[];
  readonly movements: readonly Movement[];
}

/** Reserves `wanted`, or all that is free when there is less. */
export function place(grants: readonly Grant[], wanted: PicoUsd): Placed {
  const parts = take(grants, wanted);
  return { amount: sum(parts, (part) => part.amount), parts, movements: moves('hold', parts) };
}

/** Adds `more` to a hold, or all that is free when there is less. The result's parts are those of the whole hold. */
export function extend(grants: readonly Grant[], held: readonly Part[], more: PicoUsd): Placed {
  const added = place(grants, more);
  return { ...added, parts: merge(held, added.parts) };
}

/** What a settlement does. */
export interface Charged {
  readonly charged: PicoUsd;
  readonly freeAfter: PicoUsd;
  readonly movements: readonly Movement[];
}

/**
 * Charges a cost. The request's own hold pays first, even from a grant that has ended meanwhile, because the hold pinned
 * it; then what is free. What the cost does not need goes back, and what goes back to an ended grant expires.
 *
 * `held` is empty when the hold was swept or never was: then free funds pay. When nothing is left, less than the cost is
 * charged and the difference is the operator's loss: a balance never becomes negative.
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

/** Gives a hold back: nothing was used. */
export function release(grants: readonly Grant[], held: readonly Part[]): readonly Movement[] {
  const released = moves('release', held);
  return [...released, ...expire(apply(grants, released))];
}

/** Ends what is free of the grants that have ended. What is held of them waits for its request. */
export function expire(grants: readonly Grant[]): readonly Movement[] {
  const parts = grants.filter((grant) => grant.ended).map((grant) => ({ grantId: grant.id, amount: freeOf(grant) }));
  return moves('expire', parts);
}

/**
 * The grants after the movements. Throws when a movement takes what is not there: that is a fault of the program, and
 * the database's CHECKs would refuse it too.
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

/** Up to `wanted` from what is free, in the order of consumption. */
function take(grants: readonly Grant[], wanted: PicoUsd): Part[] {
  const free = grants.filter((grant) => !grant.ended).map((grant) => ({ grantId: grant.id, amount: freeOf(grant) }));
  return limit(free, wanted);
}

/** The first parts up to a sum. */
function limit(parts: readonly Part[], most: PicoUsd): Part[] {
  const taken: Part[] = [];
  let left = most;
  for (const part of parts) {
    const amount = part.amount < left ? part.amount : left;
    if (amount > 0n) taken.push({ grantId: part.grantId, amount });
    left -= amount;
  }
  return taken;
}

/** The parts of a hold in the order of consumption, which extensions may have left. */
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
