import { createHash, type Hash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { z } from 'zod';
import { syncDirectory } from '../../shared/sync-directory.ts';

/**
 * The folder of an archived month: a gzipped CSV file of each table and a manifest with their checksums. It is written
 * beside its place and renamed when every byte is on disk, so a folder under its own name is whole.
 *
 * The CSV is that of PostgreSQL's COPY: a header, NULL is empty, an empty text is `""`; moments are in UTC.
 */

export type Cells = readonly (string | null)[];

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const tableFacts = z.object({
  file: z.string().regex(/^[a-z_]+\.csv\.gz$/),
  columns: z.array(z.string()),
  rows: z.number().int().nonnegative(),
  /** Of the file. */
  bytes: z.number().int().nonnegative(),
  /** Of the file, and of the CSV in it. */
  sha256,
  csvSha256: sha256,
});
export type TableFacts = z.infer<typeof tableFacts>;

const manifestShape = z.object({
  format: z.literal('steyg ledger archive'),
  version: z.literal(1),
  /** `2026-01`, UTC, by request ids. */
  month: z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/),
  createdAt: z.iso.datetime(),
  /** Whose ledger it was; archives of earlier versions do not say. */
  database: z.object({ cluster: z.string(), id: z.string(), name: z.string() }).optional(),
  tables: z.object({ ledger_entry: tableFacts, posting: tableFacts }),
});
export type ArchiveManifest = z.infer<typeof manifestShape>;
/** A database: the identifier of its PostgreSQL cluster, and its own id and name in it. */
export type DatabaseIdentity = NonNullable<ArchiveManifest['database']>;
export type ArchivedTable = keyof ArchiveManifest['tables'];

/** Thrown for an archive that is not what its manifest says, or breaks a rule of the ledger. */
export class ArchiveDamaged extends Error {
  override name = 'ArchiveDamaged';
}

const manifestFile = 'manifest.json';

export interface ArchiveWriter {
  /** Writes one table. `pages`: its rows, in their order. */
  table(name: ArchivedTable, columns: readonly string[], pages: AsyncIterable<readonly Cells[]>): Promise<void>;
}

/** Writes an archive, whole or not at all. A folder of that name must not exist. */
export async function writeArchive(
  folder: string,
  { month, database }: { month: string; database: DatabaseIdentity },
  work: (writer: ArchiveWriter) => Promise<void>,
): Promise<void> {
  const unfinished = `${folder}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true, mode: 0o700 });
  const tables: Partial<Record<ArchivedTable, TableFacts>> = {};
  await work({
    async table(name, columns, pages) {
      tables[name] = await writeTable(unfinished, `${name}.csv.gz`, columns, pages);
    },
  });
  const manifest = manifestShape.parse({
    format: 'steyg ledger archive',
    version: 1,
    month,
    createdAt: new Date().toISOString(),
    database,
    tables,
  });
  const file = await open(join(unfinished, manifestFile), 'w', 0o600);
  try {
    await file.writeFile(`${JSON.stringify(manifest, null, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await syncDirectory(unfinished);
  await rename(unfinished, folder);
  await syncDirectory(join(folder, '..'));
}

async function writeTable(
  folder: string,
  file: string,
  columns: readonly string[],
  pages: AsyncIterable<readonly Cells[]>,
): Promise<TableFacts> {
  const [ofFile, ofCsv] = [createHash('sha256'), createHash('sha256')];
  let [rows, bytes] = [0, 0];
  async function* lines(): AsyncGenerator<Buffer> {
    yield Buffer.from(lineOf(columns));
    for await (const page of pages) {
      rows += page.length;
      yield Buffer.from(page.map(lineOf).join(''));
    }
  }
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  await pipeline(
    Readable.from(lines()),
    hashing(ofCsv),
    createGzip({ level: 6 }),
    hashing(ofFile),
    count,
    createWriteStream(join(folder, file), { flags: 'wx', mode: 0o600, flush: true }),
  );
  return { file, columns: [...columns], rows, bytes, sha256: ofFile.digest('hex'), csvSha256: ofCsv.digest('hex') };
}

function hashing(hash: Hash): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
}

function lineOf(cells: Cells): string {
  return `${cells.map(cellOf).join(',')}\n`;
}

function cellOf(text: string | null): string {
  if (text === null) return '';
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The manifest of an archive and its SHA-256, which stands for the whole archive. */
export async function readManifest(folder: string): Promise<{ manifest: ArchiveManifest; sha256: Buffer }> {
  const text = await readFile(join(folder, manifestFile)).catch((error: NodeJS.ErrnoException) => {
    throw new ArchiveDamaged(`${folder} has no readable ${manifestFile} (${error.code ?? error.name})`);
  });
  const parsed = manifestShape.safeParse(parseJson(text.toString()));
  if (!parsed.success) throw new ArchiveDamaged(`${manifestFile} is not one of an archive`);
  return { manifest: parsed.data, sha256: createHash('sha256').update(text).digest() };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The rows of a table as records by column. Throws `ArchiveDamaged` when the file is not the one of the manifest, at the
 * latest after the last row.
 */
export async function* readTable(folder: string, facts: TableFacts): AsyncGenerator<Record<string, string | null>> {
  const path = join(folder, facts.file);
  const { size } = await stat(path).catch(() => ({ size: -1 }));
  if (size !== facts.bytes) throw new ArchiveDamaged(`${facts.file} has ${size} bytes instead of ${facts.bytes}`);
  const [ofFile, ofCsv] = [createHash('sha256'), createHash('sha256')];
  const unzipped = createGunzip();
  const zipped = pipeline(createReadStream(path), hashing(ofFile), unzipped);
  zipped.catch(() => {});
  let rows = -1;
  try {
    for await (const cells of cellsOf(unzipped, ofCsv)) {
      rows += 1;
      if (rows === 0) {
        if (cells.join() !== facts.columns.join()) throw new ArchiveDamaged(`${facts.file} has other columns`);
        continue;
      }
      if (cells.length !== facts.columns.length)
        throw new ArchiveDamaged(`row ${rows} of ${facts.file} has ${cells.length} cells`);
      yield Object.fromEntries(facts.columns.map((name, index) => [name, cells[index] ?? null]));
    }
    await zipped;
  } catch (error) {
    if (error instanceof ArchiveDamaged) throw error;
    throw new ArchiveDamaged(`${facts.file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'damaged'})`);
  } finally {
    unzipped.destroy();
  }
  if (rows !== facts.rows) throw new ArchiveDamaged(`${facts.file} has ${rows} rows instead of ${facts.rows}`);
  if (ofFile.digest('hex') !== facts.sha256 || ofCsv.digest('hex') !== facts.csvSha256)
    throw new ArchiveDamaged(`${facts.file} does not have its checksum`);
}

/** The cells of every line. A quoted cell may contain line breaks. */
async function* cellsOf(chunks: AsyncIterable<Buffer>, hash: Hash): AsyncGenerator<Cells> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let [rest, open] = ['', false];
  for await (const chunk of chunks) {
    hash.update(chunk);
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    let line = '';
    for (const part of parts) {
      line = open ? `${line}\n${part}` : part;
      open = part.includes('"') && countQuotes(part) % 2 === 1 ? !open : open;
      if (!open) yield parseLine(line);
    }
    if (open) {
      rest = `${line}\n${rest}`;
      open = false;
    }
  }
  if (rest !== '') throw new ArchiveDamaged('the last line is not whole');
}

const countQuotes = (text: string): number => text.split('"').length - 1;

function parseLine(line: string): Cells {
  if (!line.includes('"')) return line.split(',').map((cell) => (cell === '' ? null : cell));
  const cells: (string | null)[] = [];
  const pattern = /(?:"((?:[^"]|"")*)"|([^,"]*))(,|$)/gy;
  for (;;) {
    const [, quoted, plain, end] = pattern.exec(line) ?? [];
    if (end === undefined) throw new ArchiveDamaged('a line is not CSV');
    cells.push(quoted === undefined ? (plain === '' ? null : (plain ?? null)) : quoted.replaceAll('""', '"'));
    if (end === '') return cells;
  }
}
