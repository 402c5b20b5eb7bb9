import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startApp, type TestApp, type TestAppOptions } from '../support/app.ts';
import { freePort } from '../support/free-port.ts';
import { siteSettings } from './people.ts';

/** The real service with its dashboard. */

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Builds the page if its sources changed, and starts the service at an address that it knows itself. */
export async function startService(options: TestAppOptions = {}): Promise<TestApp> {
  execFileSync(process.execPath, [join(root, 'dashboard/build.ts')], { stdio: ['ignore', 'inherit', 'inherit'] });
  const port = await freePort();
  return startApp({ ...options, env: { ...siteSettings(port), ...options.env } });
}
