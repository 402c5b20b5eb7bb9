/** Addresses of databases with one host and with several. */

import { expect, it } from 'vitest';
import { connecting, hostsOf } from '../../server/database/address.ts';
import { loadConfig } from '../../server/runtime/config.ts';

const several = 'postgresql://steyg:p%40ss@one:5432,[::1]:5433,three/steyg?target_session_attrs=read-write';

it('an address of several hosts is one address for each, with the same user, database and options', () => {
  expect(hostsOf(several)).toEqual([
    'postgresql://steyg:p%40ss@one:5432/steyg?target_session_attrs=read-write',
    'postgresql://steyg:p%40ss@[::1]:5433/steyg?target_session_attrs=read-write',
    'postgresql://steyg:p%40ss@three/steyg?target_session_attrs=read-write',
  ]);
});

it.each([
  'postgresql://steyg@localhost/steyg',
  'postgresql:///steyg?host=/var/run/postgresql,',
  'postgres://a:b,c@one/d',
])('an address of one host stays as it is: %s', (url) => {
  expect(hostsOf(url)).toEqual([url]);
  expect(connecting(url)).toEqual({ connectionString: url });
});

it('a connection to several hosts that are all away fails like one to a database that is away', async () => {
  const { stream } = connecting('postgresql://steyg@127.0.0.1:1,127.0.0.1:2/steyg');
  const socket = stream?.();
  const failed = new Promise((resolve) => socket?.once('error', resolve));
  socket?.connect(1, '127.0.0.1');
  expect(await failed).toMatchObject({ code: 'ECONNREFUSED', message: 'no host of the database takes writes' });
});

it('the configuration takes several hosts, and names an address in which one is wrong', () => {
  expect(loadConfig({ DATABASE_URL: several }).databaseUrl).toBe(several);
  expect(() => loadConfig({ DATABASE_URL: 'postgresql://steyg@one,t wo:x/steyg' })).toThrow('DATABASE_URL');
  expect(() => loadConfig({ DATABASE_DIRECT_URL: several })).toThrow('DATABASE_URL is required beside it');
});
