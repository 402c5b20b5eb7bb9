/** A small service behind the supervisor: `WORKERS=n PORT=p node supervised.ts`. Each answer is the worker's process id. */

import cluster from 'node:cluster';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { pino } from 'pino';
import { listenForTheEnd } from '../../server/runtime/stopping.ts';
import { superviseWorkers, takeConnections, tell } from '../../server/runtime/workers.ts';

const log = pino({ level: 'silent' });
const stopping = listenForTheEnd({ log, limitMs: 10_000, isWorker: cluster.isWorker });
if (cluster.isWorker) {
  await once(process, 'message');
  const entrance = takeConnections(
    createServer({ headersTimeout: 1_000, connectionsCheckingInterval: 100 }, (_, response) => {
      response.end(String(process.pid));
    }),
  );
  tell('ready');
  await stopping.requested;
  await entrance.stop();
  process.exit(0);
}

// What the first worker says until then arrives at once, as it does in a supervisor that was busy.
const busyMs = Number(process.env['BUSY_MS'] ?? 0);
if (busyMs > 0) cluster.once('online', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, busyMs));
await superviseWorkers({
  count: Number(process.env['WORKERS']),
  host: '127.0.0.1',
  port: Number(process.env['PORT']),
  releasePort: undefined,
  boot: () => ({}),
  stopping,
  endLimitMs: 5_000,
  waitingLimits: { max: 50, timeoutMs: Number(process.env['WAITING_MS'] ?? 60_000) },
  log,
});
process.exit(0);
