import { addCustomers } from './database.ts';
import { drivePaced, type Paced } from './paced.ts';
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

interface Measured extends Paced {
  /** Microseconds of processor time by pieces. */
  each: number;
}

/** Measured in turns, so that what else the machine does meets all of them alike; the median of the turns stands. */
export async function measurePaced(body: string, seconds: number): Promise<string[]> {
  const upstream = await startNodeUpstream(['--pieces', String(pieces), '--interval-ms', String(intervalMs)]);
  const proxy = await startProxy(upstream.url);
  const gateway = await startGateway(upstream.url);
  const { secrets } = await addCustomers(gateway.dataDir, 1);
  const native = subjectOf(gateway, secrets[0] ?? '');
  const translated = { ...native, name: 'messages>chat', path: '/api/v1/messages' };
  const subjects = [proxy, native, translated];

  const measure = async ({ url, path, headers, pids }: Subject, count = streams): Promise<Measured> => {
    const before = usageOf(pids()).cpuSeconds;
    const paced = await drivePaced({ url, path, headers, body, seconds, streams: count });
    const used = usageOf(pids()).cpuSeconds - before;
    return { ...paced, each: (used * 1e6) / Math.max(1, paced.pieces) };
  };

  const turns = new Map<Subject, Measured[]>(subjects.map((subject) => [subject, []]));
  for (const subject of subjects) await measure(subject);
  for (let turn = 0; turn < 3; turn += 1)
    for (const [subject, measured] of turns) measured.push(await measure(subject));

  const notes: string[] = [];
  const note = (text: string): void => {
    notes.push(text);
    process.stderr.write(`${text}\n`);
  };
  const of = (subject: Subject, figure: (measured: Measured) => number): number =>
    median((turns.get(subject) ?? []).map(figure));
  for (const subject of subjects) {
    const added = (figure: (measured: Measured) => number): number => of(subject, figure) - of(proxy, figure);
    note(
      `paced streams: ${subject.name.padEnd(14)} ${of(subject, ({ each }) => each).toFixed(1)} µs of CPU a delta (own ${added(({ each }) => each).toFixed(1)}); ` +
        `first byte added p50 ${added(({ firstByteP50 }) => firstByteP50).toFixed(2)} p99 ${added(({ firstByteP99 }) => firstByteP99).toFixed(2)} ms; ` +
        `gap added p99 ${added(({ gapP99 }) => gapP99).toFixed(2)} ms; errors ${of(subject, ({ errors }) => errors)}`,
    );
  }
  for (const subject of [proxy, native]) {
    let sustained = 0;
    for (const count of steps) {
      const { gapP99, errors } = await measure(subject, count);
      if (errors > 0 || gapP99 > intervalMs + lateMs) break;
      sustained = count;
    }
    note(`paced streams: ${subject.name.padEnd(14)} sustains ${sustained} at once`);
  }
  for (const child of [proxy.child, gateway.child]) await stop(child);
  return notes;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}
