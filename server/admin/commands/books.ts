/** The commands for the books: what vendors say they billed, and the close of a month. */

import { readFile, writeFile } from 'node:fs/promises';
import { commandLine } from '../../shared/audit.ts';
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
      const { createBooks } = await import('../../plans/books.ts');
      const upstream = given.required('upstream');
      const text = await readFile(given.words[0] ?? '', 'utf8');
      const outcome = await createBooks({ pool }).importUsage({ upstream, text, actor: commandLine });
      if (outcome.kind === 'unknown_upstream')
        throw new CommandError('not_found', `There is no upstream "${upstream}".`);
      if (outcome.kind === 'empty') throw new CommandError('empty', 'The file has no usage.');
      if (outcome.kind === 'unreadable') throw new CommandError('bad_file', outcome.message);
      return { json: { ...outcome.imported } };
    },
  },
  {
    name: 'books compare',
    usage: '--from D --to D [--upstream U] [--all]',
    summary: 'what vendors say they billed beside the ledger, by day and model; without --all only what differs',
    options: { from: 'text', to: 'text', upstream: 'text', all: 'flag' },
    async run({ pool }, given) {
      const { maxComparedDays } = await import('../../billing/vendor-usage.ts');
      const { createBooks } = await import('../../plans/books.ts');
      const [from, to] = [given.required('from'), given.required('to')];
      if (!day.test(from) || !day.test(to)) throw new CommandError('usage', '--from and --to are days: 2026-10-31');
      const days = (Date.parse(to) - Date.parse(from)) / 86_400_000;
      if (!(days >= 0 && days < maxComparedDays))
        throw new CommandError('usage', `--to follows --from, by at most ${maxComparedDays} days`);
      const compared = await createBooks({ pool })
        .compare({ from, to, upstream: given.text('upstream') ?? null })
        .catch((error: Error) => {
          throw error.name === 'MonthArchived' ? new CommandError('archived', error.message) : error;
        });
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
      const { closedMonthTexts, closeMonth } = await import('../../plans/month-close.ts');
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
      if (outcome.kind === 'closed_before')
        throw new CommandError('closed_before', `${month} was closed on ${outcome.month.closedAt.toISOString()}.`);
      return { json: closedMonthTexts(outcome.month) };
    },
  },
  {
    name: 'books list',
    usage: '[--out FILE]',
    summary: 'the closed months; as CSV for an accountant with --out',
    options: { out: 'text' },
    async run({ pool }, given) {
      const { closedMonthsCsv, closedMonthTexts, listClosedMonths } = await import('../../plans/month-close.ts');
      const months = await listClosedMonths(pool);
      const out = given.text('out');
      if (out !== undefined) await writeFile(out, closedMonthsCsv(months));
      return { json: { months: months.map(closedMonthTexts) } };
    },
  },
];
