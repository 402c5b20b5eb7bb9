import { addCustomers } from './database.ts';
import { inspect, inspectedAt } from './inspector.ts';
import { runLoad } from './load.ts';
import {
  freePort,
  type Gateway,
  type Subject,
  startGateway,
  startProxy,
  startUpstream,
  stop,
  subjectOf,
} from './subjects.ts';

/** What one small request allocates, of the idle proxy too. Other load on the machine changes nothing of it. */
export async function measureAllocations(body: string, seconds: number): Promise<string[]> {
  const upstream = await startUpstream();
  const ports = [await freePort(), await freePort()] as const;
  const proxy = await startProxy(upstream.url, inspectedAt(ports[0]));
  const notes = [await measure(proxy, ports[0], body, seconds)];
  await stop(proxy.child);
  const gateway: Gateway = await startGateway(upstream.url, inspectedAt(ports[1]));
  const { secrets } = await addCustomers(gateway.dataDir, 1);
  notes.push(await measure(subjectOf(gateway, secrets[0] ?? ''), ports[1], body, seconds));
  await stop(gateway.child);
  return notes;
}

async function measure(
  { name, url, path, headers }: Subject,
  port: number,
  body: string,
  seconds: number,
): Promise<string> {
  const load = { url, path, headers, body, connections: 16, durationMs: seconds * 1_000 };
  // What the compiler allocates is none of a request's.
  await runLoad(load);
  await runLoad(load);
  const inspector = await inspect(port);
  let requests = 0;
  const bytes = await inspector.allocatedBytes(async () => {
    ({ requests } = await runLoad(load));
  });
  inspector.close();
  const note = `allocations: ${name.padEnd(10)} ${(bytes / Math.max(1, requests) / 1_024).toFixed(1)} KB a small request (${requests} requests)`;
  process.stderr.write(`${note}\n`);
  return note;
}
