import { Button } from '../../components/button.tsx';
import { Moment } from '../../components/moment.tsx';
import { Card } from '../../components/page.tsx';
import { FailureNotice, More } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import { useChange, usePages } from '../../data.tsx';
import { useOperatorLanguage } from '../../language/language.tsx';

/** The e-invoices that fail, or have to be cancelled at the provider. Shown only when there are some. */

const key = ['operator', 'invoices'];

export function InvoiceProblems() {
  const { t } = useOperatorLanguage();
  const invoices = usePages({
    key,
    ask: (steyg, after, signal) => steyg.console.operator.invoiceProblems({ after, first: 50 }, { signal }),
    every: 60_000,
  });
  const retry = useChange({
    change: (steyg, orderId: string) => steyg.console.operator.retryInvoice({ orderId }),
    refresh: [key],
  });
  const rows = invoices.data ?? [];
  if (rows.length === 0) return null;
  return (
    <Card title={t.operator.invoiceProblems}>
      {retry.error === null ? null : <FailureNotice error={retry.error} />}
      <Table
        caption={t.operator.invoiceProblems}
        rows={rows}
        rowKey={({ order }) => order.id}
        columns={[
          { head: t.order.memo, names: true, cell: ({ order }) => <code>{order.memo}</code> },
          { head: t.order.status, cell: ({ state }) => t.order.invoiceStates[state ?? 'OTHER'] },
          { head: t.operator.invoiceProblem, cell: ({ problem }) => <code>{problem ?? '–'}</code> },
          { head: t.order.number, cell: ({ number }) => number ?? '–' },
          { head: t.operator.invoiceNext, cell: ({ nextAt }) => (nextAt === null ? '–' : <Moment at={nextAt} />) },
          {
            head: t.operator.invoiceRetry,
            cell: ({ state, order }) =>
              // An issued one is in this list for its file.
              state === 'FAILED' || state === 'ISSUED' ? (
                <Button takes="retryInvoice" busy={retry.isPending} onClick={() => retry.mutate(order.id)}>
                  {t.operator.invoiceRetry}
                </Button>
              ) : null,
          },
        ]}
      />
      <More query={invoices} />
    </Card>
  );
}
