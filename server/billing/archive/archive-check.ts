import { cost, fromStoredLines, type StoredRunLine } from '../../core/price.ts';
import { ArchiveDamaged, type ArchiveManifest, readManifest, readTable } from './archive-files.ts';

/**
 * Reads an archive back and proves it: checksums, and the invariants of single requests (each once, its cost from its own
 * row, its charge equal to its postings, less than the cost only when nothing was left). Adds up what is carried forward.
 */

/** A row of `archived_sum` or `archived_charge` without the month, as text by column. */
export type SumRow = Readonly<Record<string, string>>;

export interface CheckedArchive {
  manifest: ArchiveManifest;
  /** SHA-256 of the manifest. */
  sha256: Buffer;
  /** Rows of `archived_sum` and `archived_charge` by their keys. */
  sums: ReadonlyMap<string, SumRow>;
  charges: ReadonlyMap<string, SumRow>;
}

const pools = ['input', 'cache_hit', 'cache_write_5m', 'cache_write_1h', 'output'] as const;
export const sumKeys = ['account_id', 'hour', 'model', 'key_id', 'outcome', ...pools.map((pool) => `price_${pool}`)];
export const sumAmounts = ['requests', ...pools, 'units_cost', 'cost', 'charged', 'upstream_cost'];
export const chargeKeys = ['account_id', 'grant_id'];
export const chargeAmounts = ['postings', 'amount'];

/** The key of a row, by the texts of its columns. */
export const keyOf = (row: SumRow, columns: readonly string[]): string =>
  columns.map((column) => row[column]).join('\u0000');

type Row = Record<string, string | null>;

const text = (row: Row, column: string): string => {
  const value = row[column];
  if (value === null || value === undefined) throw new ArchiveDamaged(`a row has no ${column}`);
  return value;
};
const whole = (row: Row, column: string): bigint => {
  const value = text(row, column);
  if (!/^\d{1,19}$/.test(value)) throw new ArchiveDamaged(`${column} is not a whole number`);
  return BigInt(value);
};

/** Throws `ArchiveDamaged` with the first thing that is wrong. */
export async function checkArchive(folder: string): Promise<CheckedArchive> {
  const { manifest, sha256 } = await readManifest(folder);
  const sums = new Map<string, { keys: SumRow; amounts: Record<string, bigint> }>();
  const charges = new Map<string, Charge>();
  const postings = readPostings(readTable(folder, manifest.tables.posting), charges);
  let paid = await postings.next();
  let previous = '';
  for await (const row of readTable(folder, manifest.tables.ledger_entry)) {
    const place = `${text(row, 'account_id')}/${text(row, 'request_id')}`;
    if (place <= previous) throw new ArchiveDamaged(`request ${place} is there twice, or not in its order`);
    previous = place;
    const entry = checkEntry(row, place);
    const { charged } = entry;
    let posted = 0n;
    if (paid.done !== true && paid.value.place < place) throw unpaired(paid.value.place);
    if (paid.done !== true && paid.value.place === place) {
      posted = paid.value.amount;
      paid = await postings.next();
    }
    if (posted !== charged)
      throw new ArchiveDamaged(`request ${place} was charged ${charged}, and ${posted} was posted`);
    addTo(sums, row, { month: manifest.month, ...entry });
  }
  if (paid.done !== true) throw unpaired(paid.value.place);
  return {
    manifest,
    sha256,
    sums: new Map([...sums].map(([key, { keys, amounts }]) => [key, { ...keys, ...texts(amounts) }])),
    charges: new Map([...charges].map(([key, { keys, ...amounts }]) => [key, { ...keys, ...texts(amounts) }])),
  };
}

interface Paid {
  /** Account and request. */
  place: string;
  amount: bigint;
}

interface Charge {
  keys: SumRow;
  postings: bigint;
  amount: bigint;
}

const texts = (amounts: Record<string, bigint>): SumRow =>
  Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, String(amount)]));

function addTo(
  sums: Map<string, { keys: SumRow; amounts: Record<string, bigint> }>,
  row: Row,
  { month, cost: costs, charged, unitsCost }: { month: string; cost: bigint; charged: bigint; unitsCost: bigint },
): void {
  const keys = sumKeysOf(row, month);
  const key = keyOf(keys, sumKeys);
  const { amounts } = sums.get(key) ?? { amounts: Object.fromEntries(sumAmounts.map((name) => [name, 0n])) };
  const upstreamCost = row['upstream_cost'] === null ? 0n : whole(row, 'upstream_cost');
  const added = { requests: 1n, units_cost: unitsCost, cost: costs, charged, upstream_cost: upstreamCost };
  for (const pool of pools) amounts[pool] = (amounts[pool] ?? 0n) + whole(row, pool);
  for (const [name, amount] of Object.entries(added)) amounts[name] = (amounts[name] ?? 0n) + amount;
  sums.set(key, { keys, amounts });
}

const unpaired = (place: string): ArchiveDamaged => new ArchiveDamaged(`request ${place} has a posting and no entry`);

/** Sums the postings of each request, in the order of the entries, and adds them to those of their grant. */
async function* readPostings(rows: AsyncIterable<Row>, charges: Map<string, Charge>): AsyncGenerator<Paid> {
  let [place, amount] = ['', 0n];
  for await (const row of rows) {
    const next = `${text(row, 'account_id')}/${text(row, 'request_id')}`;
    if (next < place) throw new ArchiveDamaged('postings are not in their order');
    if (next !== place) {
      if (place !== '') yield { place, amount };
      [place, amount] = [next, 0n];
    }
    const posted = whole(row, 'amount');
    amount += posted;
    const keys = { account_id: text(row, 'account_id'), grant_id: text(row, 'grant_id') };
    const key = keyOf(keys, chargeKeys);
    const charge = charges.get(key) ?? { keys, postings: 0n, amount: 0n };
    charge.postings += 1n;
    charge.amount += posted;
    charges.set(key, charge);
  }
  if (place !== '') yield { place, amount };
}

function checkEntry(row: Row, place: string): { cost: bigint; charged: bigint; unitsCost: bigint } {
  const [stated, charged] = [whole(row, 'cost'), whole(row, 'charged')];
  // Sums keep both in one column: neither follows from the sums of tokens.
  const unitsCost = unitsCostOf(row['units'] ?? null) + linesCostOf(row['lines'] ?? null);
  const recomputed = pools.reduce((sum, pool) => sum + whole(row, pool) * whole(row, `price_${pool}`), unitsCost);
  if (stated !== recomputed)
    throw new ArchiveDamaged(`request ${place} cost ${stated}, and its row makes ${recomputed}`);
  if (charged > stated || (charged < stated && whole(row, 'free_after') !== 0n))
    throw new ArchiveDamaged(`request ${place} was charged ${charged} of ${stated}`);
  return { cost: stated, charged, unitsCost };
}

function unitsCostOf(units: string | null): bigint {
  if (units === null) return 0n;
  try {
    return (JSON.parse(units) as { count: number; price: number }[]).reduce(
      (sum, { count, price }) => sum + BigInt(count) * BigInt(price),
      0n,
    );
  } catch {
    throw new ArchiveDamaged('the units of a row cannot be read');
  }
}

function linesCostOf(lines: string | null): bigint {
  if (lines === null) return 0n;
  try {
    return fromStoredLines(JSON.parse(lines) as StoredRunLine[]).reduce(
      (sum, { usage, price }) => sum + cost(usage, price),
      0n,
    );
  } catch {
    throw new ArchiveDamaged("the other models' runs of a row cannot be read");
  }
}

function sumKeysOf(row: Row, month: string): Record<string, string> {
  const at = text(row, 'created_at');
  const hour = at.startsWith(month) ? `${month}-01 00:00:00+00` : `${at.slice(0, 13)}:00:00+00`;
  return Object.fromEntries(sumKeys.map((column) => [column, column === 'hour' ? hour : text(row, column)]));
}
