/** Measures the memory of idle streams. */

import type { ChildProcess } from 'node:child_process';
import { addCustomers } from './database.ts';
import { inspect, inspectedAt } from './inspector.ts';
import { type holdStreams, runLoad } from './load.ts';
import { freePort, startGateway, startNodeUpstream, startProxy, stop, usageOf } from './subjects.ts';

const streams = 2_000;

/** What an idle stream takes: of the idle proxy's too, because two sockets and their parsers are most of it. */
export async function measureIdle(hold: typeof holdStreams): Promise<string[]> {
  const { url } = await startNodeUpstream(['--idle']);
  const ports = [await freePort(), await freePort()] as const;
  const proxy = await startProxy(url, inspectedAt(ports[0]));
  const notes = [await holdIdle({ ...proxy, port: ports[0], key: 'x' }, hold)];
  await stop(proxy.child);
  const gateway = await startGateway(url, inspectedAt(ports[1]));
  const { secrets } = await addCustomers(gateway.dataDir, 1);
  notes.push(await holdIdle({ ...gateway, name: 'steyg', port: ports[1], key: secrets[0] ?? '' }, hold));
  await stop(gateway.child);
  return notes;
}

interface Held {
  name: string;
  child: ChildProcess;
  url: string;
  key: string;
  /** Of its inspector. */
  port: number;
}

async function holdIdle({ name, child, url, key, port }: Held, hold: typeof holdStreams): Promise<string> {
  const pid = child.pid ?? 0;
  const body = (stream: boolean): string =>
    JSON.stringify({ model: 'bench', max_tokens: 1_000, stream, messages: [{ role: 'user', content: 'ping' }] });
  const load = { url, path: '/api/v1/chat/completions', headers: { authorization: `Bearer ${key}` }, body: body(true) };
  // A process that has worked has its pools filled, its code compiled and its young generation grown: none of that is
  // what a stream needs.
  await runLoad({ ...load, body: body(false), connections: 64, durationMs: 2_000 });
  const warm = await hold({ ...load, streams: 200 });
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const inspector = await inspect(port);
  const liveBefore = await inspector.liveBytes();
  const before = usageOf([pid]).residentMb;
  const held = await hold({ ...load, streams });
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const kilobytes = ((usageOf([pid]).residentMb - before) * 1_024) / held.open;
  const live = ((await inspector.liveBytes()) - liveBefore) / 1_024 / held.open;
  inspector.close();
  held.release();
  warm.release();
  const note = `idle streams: ${name} ${held.open} open, ${held.lost} lost, ${kilobytes.toFixed(1)} KB each resident, ${live.toFixed(1)} KB of objects and buffers`;
  process.stderr.write(`${note}\n`);
  return note;
}
