import type { ProbeResult } from './probes/probe.ts';

/**
 * The rule that opens and closes incidents, pure, over a model's recent probes. One failed probe is no incident, and
 * one that succeeds is no recovery: networks fail briefly in both directions.
 */

/** Failed probes in a row, on one way to the model, that open an incident. */
const failuresToOpen = 3;
/** Successful probes in a row, on every way that failed, that end it. */
const successesToEnd = 2;

export type Impact = 'partial' | 'major';

/** One way to reach a model: `protocol/mode`. */
export type Way = string;

export interface OpenIncident {
  impact: Impact;
  affected: Way[];
}

export type IncidentDecision =
  | { kind: 'none' }
  | { kind: 'open'; startedAt: Date; impact: Impact; affected: Way[]; cause?: 'service' }
  /** It continues, perhaps worse or on more ways. */
  | { kind: 'update'; impact: Impact; affected: Way[] }
  | { kind: 'end'; endedAt: Date };

type Probe = Pick<ProbeResult, 'protocol' | 'mode' | 'startedAt' | 'outcome'> & {
  reason?: string | null;
  /** Who measured: each observer's probes are followed separately. Null: the service. */
  observer?: string | null;
};

/** What is found when the service itself cannot be reached, whatever the model does. */
const serviceReasons = ['no_connection', 'service_away'] as const;

/** An observer that has been silent for so long says nothing about the present, while another one does. */
const silentMs = 60 * 60_000;

/** Decides for one model. `probes` are its recent ones, in any order; those without data are skipped. */
export function decideIncident(probes: readonly Probe[], open: OpenIncident | null): IncidentDecision {
  const states = runsOf(probes).map(({ way, probes: results }) => ({
    way,
    ...follow(results, open?.affected.includes(way) === true),
  }));
  const failing = states.filter((state) => state.failing);

  if (failing.length === 0) {
    if (open === null || states.length === 0) return { kind: 'none' };
    const recoveries = states.filter(({ way }) => open.affected.includes(way)).map(({ since }) => since);
    return { kind: 'end', endedAt: latest(recoveries) ?? latest(states.map(({ since }) => since)) ?? new Date() };
  }

  const impact: Impact = failing.length === states.length ? 'major' : 'partial';
  const affected = [...new Set(failing.map(({ way }) => way))].sort();
  if (open === null) {
    const startedAt = earliest(failing.map(({ since }) => since));
    const isService = failing.every(({ reason }) => serviceReasons.some((each) => each === reason));
    return { kind: 'open', startedAt, impact, affected, ...(isService ? { cause: 'service' } : {}) };
  }
  return {
    kind: 'update',
    impact: open.impact === 'major' ? 'major' : impact,
    affected: [...new Set([...open.affected, ...affected])].sort(),
  };
}

/** The probes with data of each way and observer, the oldest first. */
function runsOf(probes: readonly Probe[]): { way: Way; probes: Probe[] }[] {
  const known = probes
    .filter(({ outcome }) => outcome !== 'no_data')
    .toSorted((a, b) => a.startedAt.getTime() - b.startedAt.getTime());
  const newest = known.at(-1)?.startedAt.getTime() ?? 0;
  const observers = Map.groupBy(known, ({ observer = null }) => observer);
  return [...observers.values()]
    .filter((its) => newest - (its.at(-1)?.startedAt.getTime() ?? 0) <= silentMs)
    .flatMap((its) =>
      [...Map.groupBy(its, ({ protocol, mode }): Way => `${protocol}/${mode}`)].map(([way, some]) => ({
        way,
        probes: some,
      })),
    );
}

/**
 * Follows one way from its oldest probe to its newest. `since` is when the present state began: the first probe of its
 * run. `reason` is that of the newest probe.
 */
function follow(
  results: readonly Probe[],
  failedBefore: boolean,
): { failing: boolean; since: Date; reason: string | null } {
  let failing = failedBefore;
  let since = results[0]?.startedAt ?? new Date(0);
  let run = 0;
  let runStart = since;
  let previous: Probe['outcome'] | null = null;
  for (const { outcome, startedAt } of results) {
    if (outcome !== previous) {
      run = 0;
      runStart = startedAt;
    }
    run += 1;
    previous = outcome;
    const turns = failing ? outcome === 'up' && run >= successesToEnd : outcome === 'down' && run >= failuresToOpen;
    if (!turns) continue;
    failing = !failing;
    since = runStart;
  }
  return { failing, since, reason: results.at(-1)?.reason ?? null };
}

function earliest(moments: Date[]): Date {
  return new Date(Math.min(...moments.map((moment) => moment.getTime())));
}

function latest(moments: Date[]): Date | null {
  return moments.length === 0 ? null : new Date(Math.max(...moments.map((moment) => moment.getTime())));
}
