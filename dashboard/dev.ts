import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createServer } from 'vite';

// For development: the server, started again when its sources change, and the dashboard, whose modules are replaced in
// the open page. Ends with Ctrl-C, after the server has stopped its database.

const root = join(import.meta.dirname, '..');
const server = spawn(process.execPath, ['--watch-path=server', '--watch-preserve-output', 'server/main.ts'], {
  cwd: root,
  stdio: 'inherit',
});
const page = await createServer({ configFile: join(import.meta.dirname, 'vite.config.ts') });
await page.listen();
page.printUrls();

// The terminal sends SIGINT to the whole group; a signal to this process alone is handed on.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => server.kill('SIGTERM'));
server.on('exit', (code) => {
  void page.close().finally(() => process.exit(code ?? 0));
});
