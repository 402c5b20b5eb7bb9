/** The container's health check: exits with 0 when the process on `PORT` answers `/healthz`, else with 1. */

const port = process.env['PORT'] ?? '8787';

const isAlive = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(4000) }).then(
  (response) => response.ok,
  () => false,
);
if (import.meta.main) process.exitCode = isAlive ? 0 : 1;
