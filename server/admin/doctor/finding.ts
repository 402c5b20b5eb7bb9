/** What one examination of the host found, and what an operator can do about it. */

export interface HostFinding {
  /** What was examined, e.g. `disk`. */
  subject: string;
  /** `bad`: the service will not work as promised. `doubtful`: it works, and somebody should look at it. */
  state: 'good' | 'doubtful' | 'bad' | 'skipped';
  /** What is there, with units. */
  found: string;
  advice?: string;
}

/** A finding by whether each demand holds; the first that does not decides. */
export function findingOf(
  subject: string,
  found: string,
  ...demands: readonly (readonly [isMet: boolean, otherwise: 'bad' | 'doubtful', advice: string])[]
): HostFinding {
  const broken =
    demands.find(([isMet, otherwise]) => !isMet && otherwise === 'bad') ?? demands.find(([isMet]) => !isMet);
  if (broken === undefined) return { subject, state: 'good', found };
  return { subject, state: broken[1], found, advice: broken[2] };
}
