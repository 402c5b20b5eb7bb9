/** Measures the memory of idle streams. */

import type { ChildProcess } from 'node:child_process';
import { addCustomers } from './database.ts';
import { type holdStreams, runLoad } from './load.ts';
import { startGateway, startNodeUpstream, startProxy, stop, usageOf } from './subjects.ts';

const streams = 2_000;

/** What an idle stream takes: of the idle proxy's too, because two sockets and their parsers are most of it. */
export async function measureIdle(hold: typeof holdStreams): Promise<string[]> {
  const { url } = await startNodeUpstream(['--idle']);
  const proxy = await startProxy(url);
  const notes = [await holdIdle('idle proxy', proxy.child, proxy.url, 'x', hold)];
  await stop(proxy.child);
  const gateway = await startGateway(url);
  const { secrets } = await addCustomers(gateway.dataDir, 1);
  notes.push(await holdIdle('steyg', gateway.child, gateway.url, secrets[0] ?? '', hold));
  await stop(gateway.child);
  return notes;
}

async function holdIdle(
  subject: string,
  child: ChildProcess,
  url: string,
  key: string,
  hold: typeof holdStreams,
): Promise<string> {
  const pid = child.pid ?? 0;
  const body = (stream: boolean): string =>
    JSON.stringify({ model: 'bench', max_tokens: 1_000, stream, messages: [{ role: 'user', content: 'ping' }] });
  const load = { url, path: '/api/v1/chat/completions', headers: { authorization: `Bearer ${key}` }, body: body(true) };
  // A process that has worked has its pools filled, its code compiled and its young generation grown: none of that is
  // what a stream needs.
  await runLoad({ ...load, body: body(false), connections: 64, durationMs: 2_000 });
  const warm = await hold({ ...load, streams: 200 });
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const before = usageOf([pid]).residentMb;
  const held = await hold({ ...load, streams });
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const kilobytes = ((usageOf([pid]).residentMb - before) * 1_024) / held.open;
  held.release();
  warm.release();
  const note = `idle streams: ${subject} ${held.open} open, ${held.lost} lost, ${kilobytes.toFixed(1)} KB each`;
  process.stderr.write(`${note}\n`);
  return note;
}
