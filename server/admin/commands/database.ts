/** The commands for the database. */

import { migrate, migrateStatus } from '../../database/migrate.ts';
import type { Command } from './command.ts';

export const databaseCommands: readonly Command[] = [
  {
    name: 'migrate',
    usage: '',
    summary: 'bring the database up to date',
    options: {},
    async run({ databaseUrl }) {
      const applied = await migrate({ url: databaseUrl });
      return { json: { applied }, text: applied.length === 0 ? 'Up to date.' : applied.join('\n') };
    },
  },
  {
    name: 'migrate status',
    usage: '',
    summary: 'compare the database with this version',
    options: {},
    async run({ databaseUrl }) {
      return { json: { ...(await migrateStatus({ url: databaseUrl })) } };
    },
  },
];
