/**
 * Reads the CSV files that vendors offer on their usage pages. Columns by public sources: OpenAI's `completions_usage_*.csv`
 * carries the fields of its usage API (developers.openai.com/api/reference, organization usage: `input_tokens` includes
 * `input_cached_tokens`), grouped by model; Anthropic's console exports `usage_date_utc`, `model_version` and one column for
 * each kind of token. Any other vendor's figures fit the generic form.
 */
export type VendorFormat = 'openai' | 'anthropic' | 'generic';

/** Figures of a day and a model, as one side has them; null: that side does not say. */
export interface UsageSide {
  requests: bigint | null;
  /** Without what was read from or written to a cache. */
  input: bigint;
  cacheHit: bigint;
  cacheWrite: bigint;
  output: bigint;
  /** Pico-USD. */
  cost: bigint | null;
}

/** What a vendor says of one day (UTC) and one of its models. */
export interface VendorDay extends UsageSide {
  /** `2026-10-31`. */
  day: string;
  /** The vendor's name. */
  model: string;
}

/** A file that cannot be read as a whole is not read at all. */
export class VendorFileError extends Error {
  override name = 'VendorFileError';
}

const genericColumns = ['day', 'model', 'requests', 'input', 'cache_hit', 'cache_write', 'output', 'cost_usd'] as const;

/** The rows of a CSV file (RFC 4180), with or without a byte order mark. */
export function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const cell = /"((?:[^"]|"")*)"|([^",\r\n]*)/y;
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  while (at < text.length) {
    cell.lastIndex = at;
    const [whole = '', quoted, plain = ''] = cell.exec(text) ?? [];
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    at += whole.length;
    const next = text[at];
    if (next === ',') at += 1;
    if (next === ',' && at < text.length) continue;
    if (next !== undefined && next !== ',' && next !== '\r' && next !== '\n')
      throw new VendorFileError(`Line ${rows.length + 1} is not CSV.`);
    if (next === ',') row.push('');
    rows.push(row);
    row = [];
    if (text.startsWith('\r\n', at)) at += 2;
    else if (next !== undefined && next !== ',') at += 1;
  }
  return rows.filter((each) => each.length > 1 || each[0] !== '');
}

function formatOf(header: readonly string[]): VendorFormat {
  if (header.includes('usage_date_utc') && header.includes('model_version')) return 'anthropic';
  if (header.includes('start_time') && header.includes('input_tokens')) return 'openai';
  if (header.includes('day') && header.includes('model') && header.includes('input')) return 'generic';
  const generic = genericColumns.join(',');
  throw new VendorFileError(
    `The first line names no columns of OpenAI's or Anthropic's usage files, grouped by model, nor of the generic form: ${generic}`,
  );
}

/** One line, by the names of its columns. */
class Line {
  readonly number: number;
  private readonly cells: ReadonlyMap<string, string>;

  constructor(number: number, header: readonly string[], cells: readonly string[]) {
    if (cells.length !== header.length)
      throw new VendorFileError(`Line ${number} has ${cells.length} cells instead of ${header.length}.`);
    this.number = number;
    this.cells = new Map(header.map((name, index) => [name, (cells[index] ?? '').trim()]));
  }

  text(name: string): string {
    return this.cells.get(name) ?? '';
  }

  /** A count, below zero where a vendor corrects what it billed; an empty or absent cell is zero. */
  count(...names: string[]): bigint {
    return names.reduce((sum, name) => sum + this.one(name), 0n);
  }

  optional(name: string): bigint | null {
    return this.text(name) === '' ? null : this.one(name);
  }

  private one(name: string): bigint {
    const text = this.text(name);
    if (text === '') return 0n;
    const whole = /^(-?\d{1,18})(?:\.0+)?$/.exec(text)?.[1];
    if (whole === undefined) throw new VendorFileError(`Line ${this.number}: ${name} is no count.`);
    return BigInt(whole);
  }

  /** An amount in USD, in pico-USD; below zero: a credit. */
  usd(name: string): bigint | null {
    const text = this.text(name);
    if (text === '') return null;
    const [, sign, whole, fraction = ''] = /^(-?)(\d{1,6})(?:\.(\d{1,18}))?$/.exec(text) ?? [];
    if (whole === undefined) throw new VendorFileError(`Line ${this.number}: ${name} is no amount in USD.`);
    const amount = BigInt(whole + fraction.slice(0, 12).padEnd(12, '0'));
    return sign === '-' ? -amount : amount;
  }

  day(text: string): string {
    const day = /^\d{4}-\d{2}-\d{2}/.exec(text)?.[0];
    if (day === undefined || Number.isNaN(Date.parse(day)) || new Date(day).toISOString().slice(0, 10) !== day)
      throw new VendorFileError(`Line ${this.number} has no day such as 2026-10-31.`);
    return day;
  }
}

const readers: Record<VendorFormat, (line: Line) => VendorDay | null> = {
  anthropic: (line) => ({
    day: line.day(line.text('usage_date_utc')),
    model: line.text('model_version'),
    requests: null,
    input: line.count('usage_input_tokens_no_cache'),
    cacheHit: line.count('usage_input_tokens_cache_read'),
    cacheWrite: line.count(
      'usage_input_tokens_cache_write',
      'usage_input_tokens_cache_write_5m',
      'usage_input_tokens_cache_write_1h',
    ),
    output: line.count('usage_output_tokens'),
    cost: null,
  }),
  openai(line) {
    const cached = line.count('input_cached_tokens');
    const all = line.count('input_tokens');
    if (cached > all) throw new VendorFileError(`Line ${line.number}: more cached than input tokens.`);
    const output = line.count('output_tokens');
    // Hours in which nothing was used have a line without a model.
    if (line.text('model') === '' && all + output === 0n) return null;
    const start = line.text('start_time');
    return {
      // Seconds since 1970 have ten digits until the year 2286.
      day: line.day(/^\d{9,10}$/.test(start) ? new Date(Number(start) * 1_000).toISOString() : start),
      model: line.text('model'),
      requests: line.optional('num_model_requests'),
      input: all - cached,
      cacheHit: cached,
      cacheWrite: 0n,
      output,
      cost: null,
    };
  },
  generic: (line) => ({
    day: line.day(line.text('day')),
    model: line.text('model'),
    requests: line.optional('requests'),
    input: line.count('input'),
    cacheHit: line.count('cache_hit'),
    cacheWrite: line.count('cache_write'),
    output: line.count('output'),
    cost: line.usd('cost_usd'),
  }),
};

const sum = (a: bigint | null, b: bigint | null): bigint | null => (a === null || b === null ? null : a + b);

/** The days of a file. Lines of one day and model (keys, workspaces, minutes) are added up. Throws `VendorFileError`. */
export function readVendorFile(text: string): { format: VendorFormat; days: VendorDay[] } {
  const [header, ...rows] = readCsv(text);
  if (header === undefined) throw new VendorFileError('The file is empty.');
  const names = header.map((name) => name.trim());
  const format = formatOf(names);
  const days = new Map<string, VendorDay>();
  for (const [index, cells] of rows.entries()) {
    const line = new Line(index + 2, names, cells);
    const read = readers[format](line);
    if (read === null) continue;
    if (read.model === '')
      throw new VendorFileError(`Line ${line.number} names no model: the file has to be grouped by model.`);
    const key = `${read.day} ${read.model}`;
    const before = days.get(key);
    days.set(
      key,
      before === undefined
        ? read
        : {
            ...read,
            requests: sum(before.requests, read.requests),
            input: before.input + read.input,
            cacheHit: before.cacheHit + read.cacheHit,
            cacheWrite: before.cacheWrite + read.cacheWrite,
            output: before.output + read.output,
            cost: sum(before.cost, read.cost),
          },
    );
  }
  for (const { day, model, requests, input, cacheHit, cacheWrite, output } of days.values())
    if ([requests ?? 0n, input, cacheHit, cacheWrite, output].some((count) => count < 0n))
      throw new VendorFileError(`${day}, ${model}: more is taken back than the file has.`);
  return { format, days: [...days.values()] };
}
