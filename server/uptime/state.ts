/**
 * The one rule for the present state of a model and of the service. Page, JSON, feeds and GraphQL show what it says. Pure.
 */

export type State = 'up' | 'degraded' | 'down' | 'no_data';

/** How the requests of one account to a model ended in the last minutes. */
export interface AccountRequests {
  succeeded: number;
  failed: number;
}

/** What is known of a model at present. */
export interface Evidence {
  /** The newest probe of each way that is not too old. */
  ways: readonly { outcome: 'up' | 'down' | 'no_data' }[];
  /** Whether a recent probe has data at all, though the newest may have none. */
  measured: boolean;
  /** Impact of the open incident; null: none is open. */
  incident: 'partial' | 'major' | null;
  /** Of customers, one entry an account. */
  requests: readonly AccountRequests[];
}

/** So many failed probes at once need no repetition to be believed; fewer may be a network's moment. As many open an incident in a row. */
const failuresInAll = 3;
/** With fewer requests an account says nothing: one odd request of one customer is no outage. */
const fewestOfAccount = 3;
/** One account alone has to fail so often before it is believed, and then never makes a model down. */
const fewestOfOnlyAccount = 10;

/**
 * Up: every way that was measured answered, customers are served, and no incident is open. Down: every way failed, three
 * of them or repeatedly, or nearly all customers fail. What lies between, probes and customers that contradict each other included, is degraded.
 */
export function stateOf(evidence: Evidence): State {
  const probes = stateOfProbes(evidence);
  const requests = stateOfRequests(evidence.requests);
  if (requests === 'no_data') return probes;
  if (probes === 'no_data' || probes === requests) return requests;
  return 'degraded';
}

function stateOfProbes({ ways, measured, incident }: Evidence): State {
  const known = ways.filter(({ outcome }) => outcome !== 'no_data');
  const down = known.filter(({ outcome }) => outcome === 'down').length;
  if (known.length === 0) {
    if (!measured) return 'no_data';
    return incident === null ? 'up' : incident === 'major' ? 'down' : 'degraded';
  }
  if (down === known.length && (incident !== null || down >= failuresInAll)) return 'down';
  return down > 0 || incident !== null ? 'degraded' : 'up';
}

function stateOfRequests(accounts: readonly AccountRequests[]): State {
  const heard = accounts.filter(({ succeeded, failed }) => succeeded + failed >= fewestOfAccount);
  const failing = heard.filter(({ succeeded, failed }) => failed > succeeded);
  const [only] = heard;
  if (only === undefined) return 'no_data';
  if (heard.length === 1) {
    if (only.succeeded + only.failed < fewestOfOnlyAccount) return 'no_data';
    return failing.length === 0 ? 'up' : 'degraded';
  }
  const share = failing.length / heard.length;
  return share >= 0.9 ? 'down' : share >= 0.2 ? 'degraded' : 'up';
}

/** Whether customers fail, by more than the word of one account: what an agent found down is then so. */
export function severalFail(accounts: readonly AccountRequests[]): boolean {
  const failing = accounts.filter(
    ({ succeeded, failed }) => succeeded + failed >= fewestOfAccount && failed > succeeded,
  );
  return failing.length > 1 && ['down', 'degraded'].includes(stateOfRequests(accounts));
}

/** The service's state follows its models': down only when all with data are down. */
export function worstOf(models: readonly { state: State }[]): State {
  const measured = models.map(({ state }) => state).filter((state) => state !== 'no_data');
  if (measured.length === 0) return 'no_data';
  if (measured.every((state) => state === 'down')) return 'down';
  return measured.every((state) => state === 'up') ? 'up' : 'degraded';
}
