import cluster, { type Worker } from 'node:cluster';
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client';

/**
 * Figures of all workers in one scrape. A scrape reaches one worker; it asks the supervisor, which asks the others. Each
 * figure keeps the label `worker`, so that sums over it are those of the whole and a lagging worker can be found.
 */

type Figures = MetricObjectWithValues<MetricValue<string>>[];

/** `ask`: a worker to its supervisor, answered with `all`. `give`: the supervisor to the others, answered with `given`. */
type FiguresMessage =
  | { figures: 'ask' | 'give'; id: number }
  | { figures: 'given'; id: number; own: Figures }
  | { figures: 'all'; id: number; others: Figures[] };

/** A worker that does not answer in this time is missing in a scrape, as one that has just died is. */
const givenTimeoutMs = 2_000;

let lastId = 0;

function isFigures(message: unknown): message is FiguresMessage {
  return typeof message === 'object' && message !== null && 'figures' in message;
}

/** Resolves with the first message that fits, or with null when the time is over. */
function awaitMessage<T extends FiguresMessage>(
  from: Pick<NodeJS.Process | Worker, 'on' | 'off'>,
  fits: (message: FiguresMessage) => message is T,
): Promise<T | null> {
  return new Promise((resolve) => {
    const end = (message: T | null): void => {
      clearTimeout(timer);
      (from as Worker).off('message', listener);
      resolve(message);
    };
    const listener = (message: unknown): void => {
      if (isFigures(message) && fits(message)) end(message);
    };
    const timer = setTimeout(() => end(null), givenTimeoutMs);
    (from as Worker).on('message', listener);
  });
}

/** In the supervisor: answers a worker that asks for the figures of the others. */
export function relayFigures(worker: Worker, living: ReadonlySet<Worker>): void {
  worker.on('message', (message: unknown) => {
    if (isFigures(message) && message.figures === 'ask') void answerAsking(worker, living, message.id);
  });
}

async function answerAsking(worker: Worker, living: ReadonlySet<Worker>, id: number): Promise<void> {
  const others = [...living].filter((each) => each !== worker && each.isConnected());
  const given = await Promise.all(others.map(askOther));
  const answer: FiguresMessage = { figures: 'all', id, others: given.filter((each) => each !== null) };
  worker.send(answer, undefined, {}, () => undefined);
}

async function askOther(worker: Worker): Promise<Figures | null> {
  lastId += 1;
  const id = lastId;
  type Given = Extract<FiguresMessage, { figures: 'given' }>;
  const answer = awaitMessage(worker, (each): each is Given => each.figures === 'given' && each.id === id);
  const question: FiguresMessage = { figures: 'give', id };
  worker.send(question, undefined, {}, () => undefined);
  return (await answer)?.own ?? null;
}

/** In a worker: gives its figures when the supervisor asks for them. Elsewhere it does nothing. */
export function giveFigures(registry: Registry): void {
  if (!cluster.isWorker) return;
  process.on('message', (message: unknown) => {
    if (isFigures(message) && message.figures === 'give') void giveOwn(registry, message.id);
  });
}

async function giveOwn(registry: Registry, id: number): Promise<void> {
  const answer: FiguresMessage = { figures: 'given', id, own: await ownFigures(registry) };
  process.send?.(answer, undefined, {}, () => undefined);
}

function ownFigures(registry: Registry): Promise<Figures> {
  return registry.getMetricsAsJSON();
}

/** The text of a scrape: the figures of this process, and of the other workers behind the same port. */
export async function printFigures(registry: Registry): Promise<string> {
  if (!cluster.isWorker || !process.connected) return registry.metrics();
  lastId += 1;
  const id = lastId;
  type All = Extract<FiguresMessage, { figures: 'all' }>;
  const answer = awaitMessage(process, (each): each is All => each.figures === 'all' && each.id === id);
  const question: FiguresMessage = { figures: 'ask', id };
  process.send?.(question, undefined, {}, () => undefined);
  const [own, all] = await Promise.all([ownFigures(registry), answer]);
  return AggregatorRegistry.aggregate([own, ...(all?.others ?? [])]).metrics();
}
