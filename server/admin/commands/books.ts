/** The commands for the books: what vendors say they billed, and the close of a month. */

import { readFile, writeFile } from 'node:fs/promises';
import { formatUsd } from '../../core/money.ts';
import type { ClosedMonth } from '../../plans/month-close.ts';
import { commandLine } from '../../shared/audit.ts';
import { csvLine } from '../../shared/csv.ts';
import { type Command, CommandError } from './command.ts';

const defaultZone = 'Asia/Ho_Chi_Minh';
const day = /^\d{4}-\d{2}-\d{2}$/;
const monthName = /^\d{4}-(0[1-9]|1[0-2])$/;

export const booksCommands: readonly Command[] = [
  {
    name: 'books import',
    usage: 'FILE --upstream U',
    summary: 'take in the CSV of a vendor’s usage page (OpenAI, Anthropic, or the generic columns)',
    options: { upstream: 'text' },
    words: 1,
    async run({ pool }, given) {
      const { importVendorUsage } = await import('../../billing/vendor-usage.ts');
      const { VendorFileError } = await import('../../billing/vendor-csv.ts');
      const upstream = given.required('upstream');
      const { rowCount } = await pool.query('SELECT FROM upstream WHERE id = $1', [upstream]);
      if (rowCount === 0) throw new CommandError('not_found', `There is no upstream "${upstream}".`);
      const text = await readFile(given.words[0] ?? '', 'utf8');
      try {
        const imported = await importVendorUsage(pool, { upstream, text, actor: commandLine });
        if (imported === null) throw new CommandError('empty', 'The file has no usage.');
        return { json: { ...imported } };
      } catch (error) {
        if (error instanceof VendorFileError) throw new CommandError('bad_file', error.message);
        throw error;
      }
    },
  },
  {
    name: 'books compare',
    usage: '--from D --to D [--upstream U] [--all]',
    summary: 'what vendors say they billed beside the ledger, by day and model; without --all only what differs',
    options: { from: 'text', to: 'text', upstream: 'text', all: 'flag' },
    async run({ pool }, given) {
      const { compareVendorUsage, maxComparedDays } = await import('../../billing/vendor-usage.ts');
      const [from, to] = [given.required('from'), given.required('to')];
      if (!day.test(from) || !day.test(to)) throw new CommandError('usage', '--from and --to are days: 2026-10-31');
      const days = (Date.parse(to) - Date.parse(from)) / 86_400_000;
      if (!(days >= 0 && days < maxComparedDays))
        throw new CommandError('usage', `--to follows --from, by at most ${maxComparedDays} days`);
      const compared = await compareVendorUsage(pool, { from, to, upstream: given.text('upstream') ?? null });
      const rows = given.flag('all') ? compared : compared.filter(({ differs }) => differs);
      return {
        json: { compared: compared.length, differs: compared.filter(({ differs }) => differs).length, rows },
        text:
          rows.length === 0
            ? `${compared.length} days and models compared: none differs.`
            : rows
                .map(({ day: of, upstream, model, vendor, ledger, estimated }) => {
                  const side = (s: typeof vendor): string =>
                    s === null ? 'nothing' : `${s.input}+${s.cacheHit}+${s.cacheWrite} in, ${s.output} out`;
                  return `${of}  ${upstream}  ${model}  vendor ${side(vendor)}; ledger ${side(ledger)}${estimated > 0n ? `, ${estimated} estimated` : ''}`;
                })
                .join('\n'),
      };
    },
  },
  {
    name: 'books close',
    usage: `MONTH [--time-zone ${defaultZone}]`,
    summary: 'freeze the figures of a month that is over, e.g. 2026-10; what becomes known later counts in the next',
    options: { 'time-zone': 'text' },
    words: 1,
    async run({ pool }, given) {
      const { closeMonth } = await import('../../plans/month-close.ts');
      const month = given.words[0] ?? '';
      if (!monthName.test(month)) throw new CommandError('usage', 'MONTH is a month: 2026-10');
      const outcome = await closeMonth(pool, {
        month,
        timeZone: given.text('time-zone') ?? defaultZone,
        actor: commandLine,
      });
      if (outcome.kind === 'not_over') throw new CommandError('not_over', `${month} is not over yet.`);
      if (outcome.kind === 'out_of_order')
        throw new CommandError('out_of_order', `Months are closed one after the other; the next is ${outcome.next}.`);
      if (outcome.kind === 'closed_before')
        throw new CommandError('closed_before', `${month} was closed on ${outcome.month.closedAt.toISOString()}.`);
      return { json: present(outcome.month) };
    },
  },
  {
    name: 'books list',
    usage: '[--out FILE]',
    summary: 'the closed months; as CSV for an accountant with --out',
    options: { out: 'text' },
    async run({ pool }, given) {
      const { listClosedMonths } = await import('../../plans/month-close.ts');
      const months = (await listClosedMonths(pool)).map(present);
      const out = given.text('out');
      if (out !== undefined) {
        const lines = months.map((month) => csvLine(Object.values(month)));
        await writeFile(out, csvLine(Object.keys(months[0] ?? { month: '' })) + lines.join(''));
      }
      return { json: { months } };
    },
  },
];

/** Amounts in USD and whole VND, as texts. */
function present(month: ClosedMonth): Record<string, string> {
  return {
    month: month.month,
    timeZone: month.timeZone,
    revenueVnd: String(month.revenueVnd),
    usedUsd: formatUsd(month.charged),
    usedOfPurchasesUsd: formatUsd(month.chargedPaid),
    unusedUsd: formatUsd(month.unused),
    expiredUsd: formatUsd(month.expired),
    trialCostUsd: formatUsd(month.trialCost),
    shortfallUsd: formatUsd(month.shortfall),
    upstreamCostUsd: formatUsd(month.upstreamCost),
    usedWithUnknownCostUsd: formatUsd(month.unknownCharged),
    marginUsd: formatUsd(month.margin),
    closedBy: month.closedBy,
    closedAt: month.closedAt.toISOString(),
  };
}
