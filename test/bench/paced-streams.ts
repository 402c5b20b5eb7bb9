import { addCustomers } from './database.ts';
import { drivePaced, type Paced, type PacedLoad } from './paced.ts';
import { type Subject, startGateway, startNodeUpstream, startProxy, stop, subjectOf, usageOf } from './subjects.ts';

/**
 * Streams as people have them: 64 deltas, 20 ms apart, on many connections. What a delta costs is the gateway's processor time by all
 * that arrived, its requests included; its own is what it needs beyond the idle proxy in the same run.
 */

const pieces = 64;
const intervalMs = 20;
const streams = 128;
/** How many at once are tried, until one step is not sustained. */
const steps = [128, 256, 512, 1_024, 2_048];
/** Streams are sustained while a delta in a hundred is at most so much later than its time, and none is lost. */
const lateMs = 20;
/** Streams that begin when they do, and not all in one moment. */
const spread = 512;
/**
 * The cases of a public board (https://github.com/GetBusbar/benchmarking, "What it measures", read 2026-11-28): what is added to the first
 * delta, and to the time between two, of one stream alone; and streams of which none waits for ten times the interval. Short streams
 * have more beginnings in the same time.
 */
const boardPieces = 3;
const boardStallMs = 10 * intervalMs;

interface Measured extends Paced {
  /** Microseconds of processor time by pieces. */
  each: number;
}

async function measure(
  { url, path, headers, pids }: Subject,
  load: Pick<PacedLoad, 'body' | 'seconds' | 'streams' | 'withinMs'>,
): Promise<Measured> {
  const before = usageOf(pids()).cpuSeconds;
  const paced = await drivePaced({ url, path, headers, ...load });
  const used = usageOf(pids()).cpuSeconds - before;
  return { ...paced, each: (used * 1e6) / Math.max(1, paced.pieces) };
}

type Note = (text: string) => void;

/** What a subject adds to the proxy's times. */
function added(measured: readonly Measured[], proxy: readonly Measured[]): string {
  const of = (figure: (one: Measured) => number): string =>
    (median(measured.map(figure)) - median(proxy.map(figure))).toFixed(2);
  return (
    `first byte added p50 ${of(({ firstByteP50 }) => firstByteP50)} p99 ${of(({ firstByteP99 }) => firstByteP99)} ms; ` +
    `gap added p50 ${of(({ gapP50 }) => gapP50)} p99 ${of(({ gapP99 }) => gapP99)} ms; ` +
    `errors ${median(measured.map(({ errors }) => errors))}`
  );
}

/** Measured in turns, so that what else the machine does meets all of them alike; the median of the turns stands. */
export async function measurePaced(body: string, seconds: number): Promise<string[]> {
  const notes: string[] = [];
  const note: Note = (text) => {
    notes.push(`paced streams: ${text}`);
    process.stderr.write(`paced streams: ${text}\n`);
  };
  await withSubjects(pieces, async ([proxy, native, translated]) => {
    const turns = new Map<Subject, Measured[]>([proxy, native, translated].map((subject) => [subject, []]));
    for (const subject of turns.keys()) await measure(subject, { body, seconds, streams });
    for (let turn = 0; turn < 3; turn += 1)
      for (const [subject, measured] of turns) measured.push(await measure(subject, { body, seconds, streams }));
    const floor = turns.get(proxy) ?? [];
    const eachOf = (measured: readonly Measured[]): number => median(measured.map(({ each }) => each));
    for (const [{ name }, measured] of turns) {
      const own = (eachOf(measured) - eachOf(floor)).toFixed(1);
      note(
        `${name.padEnd(14)} ${eachOf(measured).toFixed(1)} µs of CPU a delta (own ${own}); all begin at once: ${added(measured, floor)}`,
      );
    }
    const load = { body, seconds, streams: spread, withinMs: pieces * intervalMs };
    const [apart, own] = [await measure(proxy, load), await measure(native, load)];
    note(`${native.name.padEnd(14)} ${spread} that begin one after the other: ${added([own], [apart])}`);
    for (const subject of [proxy, native]) await sustain(subject, { body, seconds }, note);
  });
  await withSubjects(boardPieces, async ([proxy, native, translated]) => {
    const load = { body, seconds: seconds * 2, streams: 1 };
    for (const subject of [proxy, native, translated]) await measure(subject, load);
    const alone = await measure(proxy, load);
    for (const subject of [native, translated])
      note(`${subject.name.padEnd(14)} one alone, as the board: ${added([await measure(subject, load)], [alone])}`);
  });
  return notes;
}

/** The proxy, the gateway, and the gateway as translator, behind one upstream. */
async function withSubjects(
  pieces: number,
  work: (subjects: readonly [Subject, Subject, Subject]) => Promise<void>,
): Promise<void> {
  const upstream = await startNodeUpstream(['--pieces', String(pieces), '--interval-ms', String(intervalMs)]);
  const proxy = await startProxy(upstream.url);
  const gateway = await startGateway(upstream.url);
  const { secrets } = await addCustomers(gateway.dataDir, 1);
  const native = subjectOf(gateway, secrets[0] ?? '');
  await work([proxy, native, { ...native, name: 'messages>chat', path: '/api/v1/messages' }]);
  for (const child of [proxy.child, gateway.child]) await stop(child);
}

/** How many streams a subject sustains, by our measure and by the board's. */
async function sustain(subject: Subject, load: Pick<PacedLoad, 'body' | 'seconds'>, note: Note): Promise<void> {
  const sustained = { ours: 0, board: 0 };
  for (const count of steps) {
    const { gapP99, gapMax, errors } = await measure(subject, {
      ...load,
      streams: count,
      withinMs: pieces * intervalMs,
    });
    const isOurs = errors === 0 && gapP99 <= intervalMs + lateMs;
    const isBoards = errors === 0 && gapMax <= boardStallMs;
    if (isOurs) sustained.ours = count;
    if (isBoards) sustained.board = count;
    if (!isOurs && !isBoards) break;
  }
  note(
    `${subject.name.padEnd(14)} sustains ${sustained.ours} at once; ${sustained.board} of which none waits for ${boardStallMs} ms, as the board`,
  );
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}
