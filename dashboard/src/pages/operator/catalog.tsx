/** The operator's list of models. */

import type { CatalogAnswer } from '@steyg/sdk';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ModelForm } from '../../components/model-form.tsx';
import { Badge, Page } from '../../components/page.tsx';
import { Empty, Loaded, TableSkeleton } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import { useAsk } from '../../data.tsx';
import { useOperatorLanguage } from '../../language/language.tsx';
import { pages, pathTo } from '../../pages.ts';
import { currentPrice } from '../../prices.ts';

export type CatalogRow = NonNullable<CatalogAnswer>[number];

export default function Catalog() {
  const { t, format } = useOperatorLanguage();
  const [, go] = useLocation();
  const [adding, setAdding] = useState(false);
  const catalog = useAsk({
    key: ['operator', 'catalog'],
    ask: (steyg, signal) => steyg.console.operator.catalog({}, { signal }),
  });
  const price = (entry: CatalogRow, kind: 'input' | 'cacheHit' | 'output') => {
    const current = currentPrice(entry.priceVersions);
    return current === null ? '–' : format.usdExact(current.prices[kind]);
  };
  return (
    <Page
      title={t.nav.operatorCatalog}
      lead={t.operator.catalogLead}
      actions={
        <Button takes="saveModel" look="primary" onClick={() => setAdding(true)}>
          {t.operator.addModel}
        </Button>
      }
    >
      <Loaded query={catalog} skeleton={<TableSkeleton />}>
        {(entries) =>
          entries.length === 0 ? (
            <Empty title={t.operator.noModels} />
          ) : (
            <Table
              caption={t.nav.operatorCatalog}
              rows={entries}
              rowKey={({ id }) => id}
              columns={[
                {
                  head: t.models.model,
                  names: true,
                  cell: ({ modelId, displayName }) => (
                    <>
                      <Link href={pathTo(pages.operatorModel, { modelId })}>{displayName}</Link>
                      <br />
                      <code>{modelId}</code>
                    </>
                  ),
                },
                { head: t.operator.state, cell: (entry) => <EntryState entry={entry} /> },
                { head: t.models.input, figure: true, cell: (entry) => price(entry, 'input') },
                { head: t.models.cacheHit, figure: true, cell: (entry) => price(entry, 'cacheHit') },
                { head: t.models.output, figure: true, cell: (entry) => price(entry, 'output') },
                {
                  head: t.operator.routes,
                  cell: ({ routes }) =>
                    routes.length === 0
                      ? t.operator.noRoutes
                      : format.list(routes.filter(({ enabled }) => enabled).map(({ upstream }) => upstream.upstreamId)),
                },
              ]}
            />
          )
        }
      </Loaded>
      {adding ? (
        <Dialog title={t.operator.addModel} onClose={() => setAdding(false)}>
          <ModelForm
            entry={null}
            onCancel={() => setAdding(false)}
            onSaved={({ modelId }) => go(pathTo(pages.operatorModel, { modelId }))}
          />
        </Dialog>
      ) : null}
    </Page>
  );
}

/** Why a model can be called, or cannot. */
export function EntryState({ entry }: { entry: Pick<CatalogRow, 'enabled' | 'priceVersions' | 'routes'> }) {
  const { t } = useOperatorLanguage();
  if (!entry.enabled) return <Badge>{t.operator.disabled}</Badge>;
  if (currentPrice(entry.priceVersions) === null) return <Badge tone="warn">{t.operator.noPrice}</Badge>;
  if (!entry.routes.some(({ enabled }) => enabled)) return <Badge tone="warn">{t.operator.noRoutes}</Badge>;
  return <Badge tone="usual">{t.operator.callable}</Badge>;
}
