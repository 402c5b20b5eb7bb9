/**
 * How often each model is probed, pure: as asked for, or as often as the budget of the month holds. A budget that is too
 * small slows the probes down; it does not end them in the middle of the month.
 */

export interface PacedModel {
  model: string;
  /** Minutes between two rounds of the model, as asked for; zero: it is not probed. */
  askedMinutes: number;
  /** Pico-USD that a round of the model costs its observers together. */
  roundCost: bigint;
  /** Pico-USD that the model's own budget has left this month; null: it has none of its own. */
  left: bigint | null;
}

/** A day: no budget that has anything left makes the pace slower. */
const slowestMinutes = 1_440;

/** Minutes between two rounds, by model; zero: not probed (by wish, or because nothing is left of the budget). */
export function planPaces(input: {
  models: readonly PacedModel[];
  /** Pico-USD that the budget of all models has left this month. */
  left: bigint;
  /** Minutes that it has to last. */
  minutesLeft: number;
}): Map<string, number> {
  const { models, left, minutesLeft } = input;
  const single = models.map((each) => ({ ...each, minutes: slowed(each, each.left, minutesLeft) }));
  const wanted = single.reduce((sum, { minutes, roundCost }) => sum + spending(roundCost, minutes, minutesLeft), 0);
  const factor = Math.max(1, wanted / Math.max(1, Number(left)));
  return new Map(
    single.map(({ model, minutes, roundCost }) => {
      if (minutes === 0 || roundCost === 0n || factor === 1) return [model, minutes];
      return [model, left <= 0n ? 0 : Math.min(slowestMinutes, Math.ceil(minutes * factor))];
    }),
  );
}

/** The pace of a model that its own budget holds. */
function slowed({ askedMinutes, roundCost }: PacedModel, left: bigint | null, minutesLeft: number): number {
  if (left === null || askedMinutes === 0 || roundCost === 0n) return askedMinutes;
  if (left <= 0n) return 0;
  return Math.min(slowestMinutes, Math.max(askedMinutes, Math.ceil((Number(roundCost) * minutesLeft) / Number(left))));
}

/** Pico-USD of the rounds of so many minutes. */
function spending(roundCost: bigint, everyMinutes: number, minutes: number): number {
  return everyMinutes === 0 ? 0 : (Number(roundCost) * minutes) / everyMinutes;
}

/** A month, for what is shown beside a pace: 30 days. */
const monthMinutes = 30 * 1_440;

/** Pico-USD that 30 days of rounds cost. */
export function monthlyCost(roundCost: bigint, everyMinutes: number): bigint {
  return everyMinutes === 0 ? 0n : (roundCost * BigInt(monthMinutes)) / BigInt(everyMinutes);
}
