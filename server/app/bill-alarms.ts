import type { Books } from '../books/books.ts';
import type { Notices } from '../notices/notices.ts';

/** The nightly reconciliation: vendors' bills against the ledger, told to operators as notices of the business. */
export async function reconcileBills({
  books,
  notices,
}: {
  books: Pick<Books, 'examineBills'>;
  notices: Pick<Notices, 'tellBills'>;
}): Promise<void> {
  const findings = await books.examineBills();
  await notices.tellBills(
    findings.flatMap(({ upstream, missingDays, differingDays, furthest }) => {
      const [firstMissing] = missingDays;
      return [
        ...(firstMissing === undefined
          ? []
          : [
              {
                kind: 'bill_missing' as const,
                subject: upstream,
                facts: { upstream, day: firstMissing, days: `${missingDays.length}` },
                parts: [],
              },
            ]),
        ...(furthest === null
          ? []
          : [
              {
                kind: 'bill_differs' as const,
                subject: upstream,
                facts: {
                  upstream,
                  model: furthest.model,
                  day: furthest.day,
                  percent: `${Math.floor(furthest.apart * 100)}`,
                  days: differingDays.join(', '),
                },
                parts: differingDays,
              },
            ]),
      ];
    }),
  );
}
