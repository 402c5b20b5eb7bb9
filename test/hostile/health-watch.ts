import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { setPriority } from 'node:os';

/**
 * A process of its own that asks for `/healthz` over a new connection every 20 ms, and reports the longest wait. It is
 * forked by `support.ts`, so that neither the attack nor its garbage collection delays the measurement.
 */

/** What a watch saw. Times are milliseconds. */
export interface HealthReport {
  /**
   * The longest wait for an answer, one that was still outstanding at the end included, without the time that the
   * server's main thread was ready to run and other programs had the processors. On an idle machine nothing is taken off.
   */
  worstDelayMs: number;
  /** The longest wait by the clock. */
  worstClockMs: number;
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

/** How long the main thread of a process has waited for a processor, in milliseconds; 0 where the system does not say. */
function queuedMs(pid: string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}

async function watch(url: string, pid: string): Promise<void> {
  try {
    setPriority(-10);
  } catch {
    // Only root may; the measurement is noisier without it.
  }
  const report: HealthReport = { worstDelayMs: 0, worstClockMs: 0, noiseMs: 0, samples: 0, failed: 0 };
  let outstanding: { since: number; queuedMs: number } | null = null;
  const note = (asked: { since: number; queuedMs: number }): void => {
    const clockMs = performance.now() - asked.since;
    report.worstClockMs = Math.max(report.worstClockMs, clockMs);
    report.worstDelayMs = Math.max(report.worstDelayMs, clockMs - (queuedMs(pid) - asked.queuedMs));
  };
  process.on('message', () => {
    if (outstanding !== null) note(outstanding);
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
    const asked = { since: start, queuedMs: queuedMs(pid) };
    outstanding = asked;
    const isHealthy = await ask(url);
    outstanding = null;
    note(asked);
    report.samples += 1;
    if (!isHealthy) report.failed += 1;
  }
}

await watch(process.argv[2] ?? '', process.argv[3] ?? '');
