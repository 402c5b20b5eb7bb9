/** The migrations make exactly what `schema.prisma` describes. */

import { readFileSync, rmSync } from 'node:fs';
import { expect, inject, it } from 'vitest';
import { diffSchema } from '../../prisma/diff.ts';
import { createDirectory } from '../support/directory.ts';

const schema = readFileSync(new URL('../../prisma/schema.prisma', import.meta.url), 'utf8');
const url = inject('postgresUrl');

it('finds that the migrations make what schema.prisma says', async () => {
  expect(await diffSchema({ url })).toBe('');
});

it('says what a changed schema lacks', async () => {
  const changed = schema
    .replace('/// Who pays:', 'model Extra {\n  id String @id\n  @@map("extra")\n}\n\n/// Who pays:')
    .replace(/(model Plan \{[^}]*?)\n {2}enabled +Boolean +@default\(true\)/, '$1');
  const script = await diffSchema({ url, schema: changed });
  expect(script).toContain('CREATE TABLE "extra"');
  expect(script).toContain('ALTER TABLE "plan" DROP COLUMN "enabled"');
  // The partitions are managed by the ledger alone.
  expect(script).not.toContain('ledger');
});

it('says what migrations that make too little lack', async () => {
  const migrations = createDirectory('steyg-migrations-');
  expect(await diffSchema({ url, migrations })).toContain('CREATE TABLE "ledger_entry"');
  rmSync(migrations, { recursive: true });
});
