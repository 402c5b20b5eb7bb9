/** The commands that take whole months out of the ledger, and put them back. */

import { archiveMonth, firstKept, listArchivable, restoreMonth, verifyArchive } from '../../billing/archive/archive.ts';
import { commandLine } from '../../shared/audit.ts';
import { type Command, CommandError } from './command.ts';

const monthName = /^\d{4}-(0[1-9]|1[0-2])$/;

export const archiveCommands: readonly Command[] = [
  {
    name: 'ledger archive',
    usage: '[--before MONTH] [--to FOLDER] [--unclosed] [--dry-run]',
    summary:
      'write the months before MONTH (2026-01) as CSV with checksums, read them back, and only then take them out of the database; months that the books have not closed only with --unclosed',
    async run({ pool, config }, given) {
      const { keepMonths, directory } = config.ledgerArchive;
      const before = given.text('before') ?? (keepMonths === null ? given.required('before') : firstKept(keepMonths));
      if (!monthName.test(before)) throw new CommandError('usage', '--before is a month: 2026-01');
      const to = given.text('to') ?? directory;
      const months = await listArchivable(pool, before);
      if (given.flag('dry-run')) return { json: { before, months }, text: months.join('\n') || 'No month is due.' };
      if (to === null && months.length > 0)
        throw new CommandError('usage', '--to is missing: the folder of the archives, or LEDGER_ARCHIVE_DIR');
      const archived = [];
      const how = { directory: to ?? '', actor: commandLine, unclosed: given.flag('unclosed') };
      for (const month of months) archived.push(await understood(archiveMonth(pool, { month, ...how })));
      return {
        json: { before, archived },
        text:
          archived.map(({ month, entries, folder }) => `${month}: ${entries} requests in ${folder}`).join('\n') ||
          'No month is due.',
      };
    },
  },
  {
    name: 'ledger verify',
    usage: 'ARCHIVE',
    summary: 'read an archive back: checksums, every cost and charge, and the sums that the database has kept of it',
    async run({ pool }, given) {
      return { json: { ...(await understood(verifyArchive(pool, given.words[0] ?? ''))) } };
    },
  },
  {
    name: 'ledger restore',
    usage: 'ARCHIVE',
    summary: 'put the month of an archive back into the database; the archive stays',
    async run({ pool }, given) {
      const folder = given.words[0] ?? '';
      return { json: { ...(await understood(restoreMonth(pool, { folder, actor: commandLine }))) } };
    },
  },
];

async function understood<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const { name, message, code } = error as Error & { code?: string };
    if (name === 'ArchiveDamaged') throw new CommandError('archive_damaged', message);
    if (name === 'ArchiveRefused') throw new CommandError(code ?? 'refused', message);
    // PostgreSQL: a lock was not to be had in time.
    if (code === '55P03') throw new CommandError('busy', 'Something has locked the ledger. Try again later.');
    throw error;
  }
}
