import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { createServer } from 'vite';
import { useEmbeddedPostgres } from './database/embedded.ts';
import { loadConfig } from './runtime/config.ts';
import { createLog } from './runtime/log.ts';

// For development: the server, started again when its sources change, and the dashboard, whose modules are replaced in
// the open page. Ends with Ctrl-C, after the server has stopped.

const root = join(import.meta.dirname, '..');
const { dataDir, databaseUrl } = loadConfig(process.env);
// This process uses the database, too, so that it stays while the server is started again.
const database =
  databaseUrl === null ? await useEmbeddedPostgres({ dataDir: resolve(root, dataDir), log: createLog('warn') }) : null;
const server = spawn(process.execPath, ['--watch-path=server', '--watch-preserve-output', 'server/main.ts'], {
  cwd: root,
  stdio: 'inherit',
  env: {
    // A reload waits for nobody, and compiles what was edited alone.
    DRAIN_MS: '500',
    DRAIN_IDLE_MS: '0',
    NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compile'),
    ...process.env,
  },
});
const page = await createServer({ configFile: join(root, 'dashboard/vite.config.ts') });
await page.listen();
page.printUrls();

// The terminal sends SIGINT to the whole group; a signal to this process alone is handed on.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => server.kill('SIGTERM'));
const [code] = (await once(server, 'exit')) as [number | null];
await page.close();
await database?.release();
process.exit(code ?? 0);
