/** The price table of the catalog. */

import type { ModelsAnswer } from '@steyg/sdk';
import { useLanguage } from '../language/language.tsx';
import { Badge } from './page.tsx';
import { Table } from './table.tsx';

type Model = NonNullable<ModelsAnswer>[number];

/** Two amounts of VND: at the Starter plan's price of a USD, and at the best plan's. */
export function VndPair({ price }: { price: Model['output'] }) {
  const { t, format } = useLanguage();
  const { vndPerMillionAtStarter: first, vndPerMillionAtBest: second } = price;
  if (first === null || second === null) return <>{t.models.noPlan}</>;
  return (
    <span className="pair">
      {format.vnd(first)} <span aria-hidden="true">→</span>
      <span className="sr-only">{t.models.to}</span> {format.vnd(second)}
    </span>
  );
}

/** What every model costs. */
export function PriceTable({ models }: { models: readonly Model[] }) {
  const { t, format } = useLanguage();
  return (
    <Table
      caption={t.models.caption}
      rows={models}
      rowKey={({ id }) => id}
      columns={[
        {
          head: t.models.model,
          names: true,
          cell: ({ displayName, modelId, simulated }) => (
            <>
              {displayName} {simulated ? <Badge tone="warn">{t.models.simulated}</Badge> : null}
              <br />
              <code>{modelId}</code>
            </>
          ),
        },
        { head: t.models.input, figure: true, cell: ({ input }) => format.usdExact(input.usdPerMillion) },
        { head: t.models.cacheHit, figure: true, cell: ({ cacheHit }) => format.usdExact(cacheHit.usdPerMillion) },
        { head: t.models.output, figure: true, cell: ({ output }) => format.usdExact(output.usdPerMillion) },
        { head: t.models.outputVnd, figure: true, cell: ({ output }) => <VndPair price={output} /> },
        {
          head: t.models.steps,
          figure: true,
          cell: ({ agentStepsFor5Usd }) =>
            agentStepsFor5Usd === null ? t.models.free : format.number(agentStepsFor5Usd),
        },
      ]}
    />
  );
}
