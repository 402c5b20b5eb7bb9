import { useAsk } from '../data.tsx';
import { useLanguage } from '../language/language.tsx';
import { useAccount } from '../session.tsx';
import { Files } from './files.tsx';
import { Card } from './page.tsx';
import { Loaded, TableSkeleton } from './states.tsx';
import { Table } from './table.tsx';

/** The statements of the last months, with their sums and files. */

/** The links work for an hour; an open page renews them. */
const renewMs = 30 * 60_000;
const shownMonths = 12;

export function StatementsCard() {
  const { t, format, locale } = useLanguage();
  const { id: accountId } = useAccount();
  const statements = useAsk({
    key: ['statements', accountId],
    ask: (steyg, signal) => steyg.console.orders.statements({ accountId, first: shownMonths }, { signal }),
    every: renewMs,
  });
  return (
    <Card title={t.statements.title}>
      <Loaded query={statements} skeleton={<TableSkeleton />}>
        {(account) => (
          <Table
            caption={t.statements.title}
            rows={account.statements}
            rowKey={({ month }) => month}
            columns={[
              { head: t.statements.month, names: true, cell: ({ month }) => format.monthOf(month) },
              { head: t.statements.opening, figure: true, cell: ({ opening }) => format.usd(opening) },
              { head: t.statements.granted, figure: true, cell: ({ granted }) => format.usd(granted) },
              { head: t.statements.charged, figure: true, cell: ({ charged }) => format.usd(charged) },
              { head: t.statements.takenBack, figure: true, cell: ({ takenBack }) => format.usd(takenBack) },
              { head: t.statements.expired, figure: true, cell: ({ expired }) => format.usd(expired) },
              { head: t.statements.closing, figure: true, cell: ({ closing }) => format.usd(closing) },
              {
                head: t.statements.files,
                cell: ({ url, month }) => (
                  <span className="actions">
                    <Files url={`${url}&lang=${locale}`} what={`${t.statements.title} ${format.monthOf(month)}`} />
                  </span>
                ),
              },
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
}
