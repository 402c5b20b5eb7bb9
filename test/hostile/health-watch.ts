import { request } from 'node:http';
import { setPriority } from 'node:os';

/**
 * A process of its own that asks for `/healthz` over a new connection every 20 ms, and reports the longest wait. It is
 * forked by `support.ts`, so that neither the attack nor its garbage collection delays the measurement.
 */

/** What a watch saw. Times are milliseconds. */
export interface HealthReport {
  /** The longest wait for an answer, one that was still outstanding at the end included. */
  worstDelayMs: number;
  /** How late this process itself was at most: what the machine, not the server, contributed. */
  noiseMs: number;
  samples: number;
  /** Requests that ended without status 200. */
  failed: number;
}

const intervalMs = 20;
const timeoutMs = 60_000;

function ask(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request(`${url}/healthz`, { agent: false, timeout: timeoutMs }, (response) => {
      response.resume();
      response.on('close', () => resolve(response.statusCode === 200));
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => resolve(false));
    asked.end();
  });
}

async function watch(url: string): Promise<void> {
  try {
    setPriority(-10);
  } catch {
    // Only root may; the measurement is noisier without it.
  }
  const report: HealthReport = { worstDelayMs: 0, noiseMs: 0, samples: 0, failed: 0 };
  let outstandingSince: number | null = null;
  process.on('message', () => {
    if (outstandingSince !== null)
      report.worstDelayMs = Math.max(report.worstDelayMs, performance.now() - outstandingSince);
    process.send?.(report, () => process.exit(0));
  });
  process.on('disconnect', () => process.exit(0));
  await ask(url);
  process.send?.('watching');
  for (;;) {
    const due = performance.now() + intervalMs;
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
    const start = performance.now();
    report.noiseMs = Math.max(report.noiseMs, start - due);
    outstandingSince = start;
    const isHealthy = await ask(url);
    outstandingSince = null;
    report.worstDelayMs = Math.max(report.worstDelayMs, performance.now() - start);
    report.samples += 1;
    if (!isHealthy) report.failed += 1;
  }
}

await watch(process.argv[2] ?? '');
