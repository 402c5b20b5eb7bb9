/** The commands for the database. */

import { Client } from 'pg';
import { connecting } from '../../database/address.ts';
import { type DistributionPlan, distribute, gather, planDistribution } from '../../database/distribution.ts';
import { migrate, migrateStatus } from '../../database/migrate.ts';
import type { Command } from './command.ts';

export const databaseCommands: readonly Command[] = [
  {
    name: 'migrate',
    usage: '',
    summary: 'bring the database up to date',
    async run({ databaseUrl }) {
      const applied = await migrate({ url: databaseUrl });
      return { json: { applied }, text: applied.length === 0 ? 'Up to date.' : applied.join('\n') };
    },
  },
  {
    name: 'migrate status',
    usage: '',
    summary: 'compare the database with this version',
    async run({ databaseUrl }) {
      return { json: { ...(await migrateStatus({ url: databaseUrl })) } };
    },
  },
  {
    name: 'distribute',
    usage: '[--dry-run | --back]',
    summary:
      'spread what grows with each request over the workers of a Citus, while the service is stopped; --back: bring it to the coordinator again',
    async run({ databaseUrl }, given) {
      const client = new Client({ ...connecting(databaseUrl), application_name: 'steyg distribute' });
      client.on('error', () => undefined);
      await client.connect();
      try {
        if (given.flag('dry-run')) {
          const plan = await planDistribution(client);
          return { json: { ...plan }, text: textOf(plan) };
        }
        if (given.flag('back')) {
          const gathered = await gather(client);
          return {
            json: { gathered },
            text: gathered.length === 0 ? 'Nothing is distributed.' : gathered.join('\n'),
          };
        }
        const distributed = await distribute(client);
        return {
          json: { distributed },
          text: distributed.length === 0 ? 'Everything is distributed already.' : distributed.join('\n'),
        };
      } finally {
        await client.end().catch(() => undefined);
      }
    },
  },
];

/** A line for each table that goes or that could, and what stands in the way. */
function textOf({ tables, inTheWay }: DistributionPlan): string {
  const lines = tables
    .filter(({ place, isThere }) => place === 'shards' || !isThere)
    .map(
      ({ table, place, isThere, rows, bytes, why }) =>
        `${table}: ${isThere ? 'is on' : 'goes to'} the ${place} (${rows} rows, ${Math.ceil(bytes / 1024)} kB): ${why}`,
    );
  const others = tables.length - lines.length;
  const way = inTheWay.length === 0 ? ['Nothing stands in the way.'] : ['In the way:', ...inTheWay];
  return [...lines, `${others} other tables stay on the coordinator (--json says why).`, '', ...way].join('\n');
}
