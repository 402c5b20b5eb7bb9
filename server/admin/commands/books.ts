/** The commands for the books: what vendors say they billed, and the close of a month. */

import { readFile, writeFile } from 'node:fs/promises';
import { maxComparedDays } from '../../books/bill-comparison.ts';
import { bookPapers, createBooks } from '../../books/books.ts';
import { journalRoles } from '../../books/journal.ts';
import { type ClosedMonth, closeMonth, listClosedMonths, verifyClosedMonths } from '../../books/month-close.ts';
import { monthsCsv, statementRows } from '../../books/month-statement.ts';
import { formatRate, setRate, setTaxes } from '../../books/rates.ts';
import type { UsageSide } from '../../books/vendor-csv.ts';
import { formatUsd } from '../../core/money.ts';
import { commandLine } from '../../shared/audit.ts';
import { type Command, CommandError } from './command.ts';

const defaultZone = 'Asia/Ho_Chi_Minh';
const day = /^\d{4}-\d{2}-\d{2}$/;
const monthName = /^\d{4}-(0[1-9]|1[0-2])$/;

/** A closed month with its amounts in USD and VND. */
function monthForPeople({ month, timeZone, statement, digest, closedBy, closedAt }: ClosedMonth): object {
  const groups = Map.groupBy(statement === null ? [] : statementRows(statement), ({ group }) => group);
  const lines = Object.fromEntries(
    [...groups].map(([group, rows]) => [group, Object.fromEntries(rows.map(({ line, amount }) => [line, amount]))]),
  );
  return { month, timeZone, ...lines, digest, closedBy, closedAt: closedAt.toISOString() };
}

/** One side of a comparison, with its cost in USD. */
function sideForPeople(side: UsageSide | null): (Omit<UsageSide, 'cost'> & { costUsd: string | null }) | null {
  if (side === null) return null;
  const { requests, input, cacheHit, cacheWrite, output, cost } = side;
  return { requests, input, cacheHit, cacheWrite, output, costUsd: cost === null ? null : formatUsd(cost) };
}

export const booksCommands: readonly Command[] = [
  {
    name: 'books import',
    usage: 'FILE --upstream U [--add] [--confirmed]',
    summary:
      'take in the CSV of a vendor’s usage page (OpenAI, Anthropic, or the generic columns) for its whole period; --add: only its own days and models',
    async run({ pool }, given) {
      const upstream = given.required('upstream');
      const text = await readFile(given.words[0] ?? '', 'utf8');
      const outcome = await createBooks({ pool }).importUsage({
        upstream,
        text,
        actor: commandLine,
        add: given.flag('add'),
        confirmed: given.flag('confirmed'),
      });
      if (outcome.kind === 'unknown_upstream')
        throw new CommandError('not_found', `There is no upstream "${upstream}".`);
      if (outcome.kind === 'empty') throw new CommandError('empty', 'The file has no usage.');
      if (outcome.kind === 'unreadable') throw new CommandError('bad_file', outcome.message);
      if (outcome.kind === 'known')
        throw new CommandError('known', `This file was imported before, as version ${outcome.version}.`);
      if (outcome.kind === 'would_remove')
        throw new CommandError(
          'would_remove',
          `Earlier files have what this one has not: ${outcome.removed.map(({ day: of, model }) => `${of} ${model}`).join(', ')}. Import it with --add to keep that, or with --confirmed.`,
        );
      const { replaced, ...imported } = outcome.imported;
      return {
        json: {
          ...imported,
          replaced: replaced.map(({ day: of, model, before, after }) => ({
            day: of,
            model,
            before: sideForPeople(before),
            after: sideForPeople(after),
          })),
        },
      };
    },
  },
  {
    name: 'books files',
    usage: '[--upstream U]',
    summary: 'the files of vendors that were imported, with their versions',
    async run({ pool }, given) {
      const upstream = given.text('upstream') ?? null;
      return { json: { files: await createBooks({ pool }).files({ upstream, limit: 1_000 }) } };
    },
  },
  {
    name: 'books undo-import',
    usage: 'FILE-ID',
    summary: 'take an imported file back: what counts is what the others say',
    async run({ pool }, given) {
      const undone = await createBooks({ pool }).undoImport({ fileId: given.words[0] ?? '', actor: commandLine });
      if (undone === null) throw new CommandError('not_found', 'There is no such file, or it was taken back before.');
      const { upstream, version, changed } = undone;
      return { json: { upstream, version, changed: changed.map(({ day: of, model }) => ({ day: of, model })) } };
    },
  },
  {
    name: 'books compare',
    usage: '--from D --to D [--upstream U] [--all] [--requests]',
    summary:
      'what vendors say they billed beside the ledger, by day and model, with totals and likely causes; without --all only what differs',
    async run({ pool }, given) {
      const [from, to] = [given.required('from'), given.required('to')];
      if (!day.test(from) || !day.test(to)) throw new CommandError('usage', '--from and --to are days: 2026-10-31');
      const days = (Date.parse(to) - Date.parse(from)) / 86_400_000;
      if (!(days >= 0 && days < maxComparedDays))
        throw new CommandError('usage', `--to follows --from, by at most ${maxComparedDays} days`);
      const books = createBooks({ pool });
      const compared = await books
        .compare({ from, to, upstream: given.text('upstream') ?? null })
        .catch((error: Error) => {
          throw error.name === 'MonthArchived' ? new CommandError('archived', error.message) : error;
        });
      const differing = compared.rows.filter(({ differs }) => differs);
      const rows = given.flag('all') ? compared.rows : differing;
      const told = await Promise.all(
        rows.map(async ({ vendor, ledger, ...row }) => ({
          ...row,
          vendor: sideForPeople(vendor),
          ledger: sideForPeople(ledger),
          ...(given.flag('requests')
            ? {
                requests: Object.fromEntries(
                  await Promise.all(
                    row.causes.map(async (cause) => [
                      cause,
                      (await books.requestsBehind({ ...row, cause })).map(({ requestId }) => requestId),
                    ]),
                  ),
                ),
              }
            : {}),
        })),
      );
      const totals = compared.totals.map(({ vendor, ledger, credits, ...total }) => ({
        ...total,
        vendor: sideForPeople(vendor),
        ledger: sideForPeople(ledger),
        creditsUsd: formatUsd(credits),
      }));
      return {
        json: { compared: compared.rows.length, differs: differing.length, totals, rows: told },
        text: [
          rows.length === 0 ? `${compared.rows.length} days and models compared: none differs.` : '',
          ...rows.map(({ day: of, upstream, model, vendor, ledger, estimated, causes }) => {
            const side = (s: typeof vendor): string =>
              s === null
                ? 'nothing'
                : `${s.input}+${s.cacheHit}+${s.cacheWrite} in, ${s.output} out${s.cost === null ? '' : `, ${formatUsd(s.cost)} USD`}`;
            return `${of}  ${upstream}  ${model}  vendor ${side(vendor)}; ledger ${side(ledger)}${estimated > 0n ? `, ${estimated} estimated` : ''}${causes.length > 0 ? `  (${causes.join(', ')})` : ''}`;
          }),
          ...totals.map(
            (total) =>
              `total  ${total.upstream}  vendor ${total.vendor?.costUsd ?? 'no cost'} USD, credits ${total.creditsUsd} USD; ledger ${total.ledger?.costUsd ?? 'no cost'} USD${total.differs ? '  differs' : ''}`,
          ),
        ]
          .filter((line) => line !== '')
          .join('\n'),
      };
    },
  },
  {
    name: 'books close',
    usage: `MONTH [--time-zone ${defaultZone}]`,
    summary: 'freeze the figures of a month that is over, e.g. 2026-10; what becomes known later counts in the next',
    async run({ pool }, given) {
      const month = given.words[0] ?? '';
      if (!monthName.test(month)) throw new CommandError('usage', 'MONTH is a month: 2026-10');
      const outcome = await closeMonth(pool, {
        month,
        timeZone: given.text('time-zone') ?? defaultZone,
        actor: commandLine,
      });
      if (outcome.kind === 'bad_zone')
        throw new CommandError('usage', '--time-zone is an IANA name, such as Asia/Ho_Chi_Minh');
      if (outcome.kind === 'archived') throw new CommandError('archived', outcome.message);
      if (outcome.kind === 'not_over') throw new CommandError('not_over', `${month} is not over yet.`);
      if (outcome.kind === 'out_of_order')
        throw new CommandError('out_of_order', `Months are closed one after the other; the next is ${outcome.next}.`);
      if (outcome.kind === 'unbalanced')
        throw new CommandError(
          'unbalanced',
          `${month} does not add up: ${outcome.imbalances.map(({ row, computed, found }) => `${row} (${computed}, found ${found})`).join('; ')}.`,
        );
      if (outcome.kind === 'closed_before')
        throw new CommandError('closed_before', `${month} was closed on ${outcome.month.closedAt.toISOString()}.`);
      return { json: { ...monthForPeople(outcome.month) } };
    },
  },
  {
    name: 'books list',
    usage: '[--out FILE]',
    summary: 'the closed months; as CSV for an accountant with --out',
    async run({ pool }, given) {
      const months = await listClosedMonths(pool);
      const out = given.text('out');
      if (out !== undefined) await writeFile(out, monthsCsv(months.flatMap(({ statement }) => statement ?? [])));
      return { json: { months: months.map(monthForPeople) } };
    },
  },
  {
    name: 'books export',
    usage: 'journal|papers|advances MONTH --out FILE [--lang en|vi]',
    summary:
      'for an adviser, as CSV: double entry of a closed month, its receipts and credit notes, or what customers have paid in advance',
    async run({ pool }, given) {
      const [name, month = ''] = given.words;
      const kind = bookPapers.find((each) => each === name);
      if (kind === undefined || !monthName.test(month))
        throw new CommandError('usage', 'Name what to export (journal, papers or advances) and a month: 2026-10');
      const books = createBooks({ pool });
      const csv = await books.csv(kind, month, given.text('lang') === 'vi' ? 'vi' : 'en');
      if (csv === null) throw new CommandError('not_closed', `${month} is not closed with its lines.`);
      const out = given.required('out');
      await writeFile(out, csv);
      const gaps = kind === 'papers' ? { gaps: await books.paperGaps() } : {};
      return { json: { out, lines: csv.split('\r\n').length - 2, ...gaps } };
    },
  },
  {
    name: 'books accounts',
    usage: '[--set ROLE=NUMBER,…]',
    summary: 'the operator’s own numbers of the accounts of the journal, e.g. bank=1121,revenue=5113',
    async run({ pool }, given) {
      const books = createBooks({ pool });
      const asked = given.list('set');
      if (asked === undefined) return { json: { ...(await books.journalNumbers()) } };
      const numbers: Record<string, string> = {};
      for (const pair of asked) {
        const [role = '', number = ''] = pair.split('=');
        if (!(journalRoles as string[]).includes(role))
          throw new CommandError('usage', `--set names ${journalRoles.join(', ')}: bank=1121`);
        numbers[role] = number;
      }
      const outcome = await books.saveJournalNumbers({ numbers, actor: commandLine });
      if (outcome.kind === 'bad_number') throw new CommandError('usage', `${outcome.role} is no number of an account.`);
      return { json: { ...outcome.numbers } };
    },
  },
  {
    name: 'books rate',
    usage: 'PERIOD RATE --source TEXT',
    summary: 'what a USD costs in VND in a month (2026-10) or on a day (2026-10-31), and who says so',
    async run({ pool }, given) {
      const [period = '', rate = ''] = given.words;
      const outcome = await setRate(pool, { period, rate, source: given.required('source'), actor: commandLine });
      if (outcome.kind === 'bad_period') throw new CommandError('usage', 'PERIOD is a month or a day: 2026-10-31');
      if (outcome.kind === 'bad_rate')
        throw new CommandError('usage', 'RATE is VND for a USD, with at most four decimals: 26120.5');
      if (outcome.kind === 'month_closed')
        throw new CommandError('month_closed', 'The month is closed with the rate that it had.');
      return { json: { ...outcome.rate, rate: formatRate(outcome.rate.rate) } };
    },
  },
  {
    name: 'books taxes',
    usage: '--from DAY --sales-vat P --foreign-vat P --foreign-income P [--net] [--note TEXT]',
    summary:
      'taxes in percent from a day on: the VAT in prices, and those on what vendors abroad bill (--net: beside it)',
    async run({ pool }, given) {
      const percent = (name: string): number => {
        const text = given.required(name);
        if (!/^\d{1,2}(\.\d{1,2})?$/.test(text))
          throw new CommandError('usage', `--${name} is a percentage: 10 or 7.5`);
        return Math.round(Number(text) * 100);
      };
      const outcome = await setTaxes(pool, {
        validFrom: given.required('from'),
        salesVat: percent('sales-vat'),
        foreignVat: percent('foreign-vat'),
        foreignIncome: percent('foreign-income'),
        foreignNet: given.flag('net'),
        note: given.text('note') ?? '',
        actor: commandLine,
      });
      if (outcome.kind === 'bad_day') throw new CommandError('usage', '--from is a day: 2026-10-01');
      if (outcome.kind === 'bad_percent') throw new CommandError('usage', 'A tax is at most 50 percent.');
      return { json: { ...outcome.rule } };
    },
  },
  {
    name: 'books verify',
    usage: '',
    summary: 'whether every closed month still has the digest that it was closed with',
    async run({ pool }) {
      const changed = await verifyClosedMonths(pool);
      if (changed.length > 0) throw new CommandError('changed', `Closed months were changed: ${changed.join(', ')}.`);
      return { json: { months: (await listClosedMonths(pool)).map(({ month, digest }) => ({ month, digest })) } };
    },
  },
];
