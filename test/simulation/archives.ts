import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import type { Client } from 'pg';
import type { Disk } from './disk.ts';
import type { Bill } from './history.ts';
import { archiveFolder } from './world.ts';

/** Reads the archives of the machines, as somebody would who has only the files and knows nothing of the server. */

type ArchivedEntry = Bill['entries'][number] & { accountId: string };

/** The requests of all months that the database says are in an archive, from the archive that it says. */
export async function readArchivedEntries(own: Client, disks: readonly Disk[]): Promise<ArchivedEntry[]> {
  const { rows } = await own.query(
    `SELECT to_char(month, 'YYYY-MM') AS month, encode(manifest, 'hex') AS manifest FROM archived_month ORDER BY 1`,
  );
  return (rows as { month: string; manifest: string }[]).flatMap(({ month, manifest }) => {
    const folder = `${archiveFolder}/ledger-${month}`;
    const disk = disks.find((each) => {
      const bytes = bytesOf(each, `${folder}/manifest.json`);
      return bytes !== null && createHash('sha256').update(bytes).digest('hex') === manifest;
    });
    const zipped = disk === undefined ? null : bytesOf(disk, `${folder}/ledger_entry.csv.gz`);
    return zipped === null ? [] : entriesOf(gunzipSync(zipped).toString());
  });
}

function bytesOf(disk: Disk, path: string): Buffer | null {
  if (!disk.names().includes(path)) return null;
  const fd = disk.openSync(path, 'r');
  const bytes = Buffer.alloc(disk.fstatSync(fd).size);
  disk.readSync(fd, bytes, 0, bytes.length, 0);
  disk.closeSync(fd);
  return bytes;
}

function entriesOf(csv: string): ArchivedEntry[] {
  const [header = [], ...rows] = csv
    .trimEnd()
    .split('\n')
    .map((line) =>
      [...line.matchAll(/(?:"((?:[^"]|"")*)"|([^,]*))(?:,|$)/g)].map(([, quoted, plain]) => quoted ?? plain ?? ''),
    );
  return rows.map((cells) => {
    const cell = (name: string): string => cells[header.indexOf(name)] ?? '';
    return {
      accountId: cell('account_id'),
      requestId: cell('request_id'),
      keyId: cell('key_id'),
      cost: BigInt(cell('cost')),
      charged: BigInt(cell('charged')),
      atMs: Date.parse(cell('created_at').replace(' ', 'T').replace(/\+00$/, 'Z')),
      isArchived: true,
    };
  });
}
