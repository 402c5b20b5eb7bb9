/** Install scripts of the client programs that the tests try see nothing of the caller's secrets. */

import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { installerEnvironment } from '../clients/install.ts';

it('install scripts get the home, the path, settings of npm, proxies and authorities, and nothing else', () => {
  const needed = {
    HOME: '/home/somebody',
    npm_config_registry: 'https://registry.example/',
    NPM_CONFIG_CACHE: '/cache',
    HTTPS_PROXY: 'http://proxy.example:3128',
    http_proxy: 'http://proxy.example:3128',
    no_proxy: 'localhost',
    NODE_EXTRA_CA_CERTS: '/etc/ca.pem',
  };
  const secrets = {
    ANTHROPIC_API_KEY: 'sk-1',
    DATABASE_URL: 'postgresql://u:p@host/db',
    SECRET_KEY: 'k',
    GITHUB_TOKEN: 't',
    npm_lifecycle_script: 'node',
    MY_PATH: '/x',
    HOMEBREW_TOKEN: 't',
    NODE_OPTIONS: '--require /x.js',
  };
  expect(installerEnvironment({ ...needed, ...secrets, PATH: '/usr/bin' })).toEqual({
    ...needed,
    PATH: `${dirname(process.execPath)}:/usr/bin`,
  });
});
