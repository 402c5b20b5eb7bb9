/** The page of an account's batches: how far each is, what it holds and what it came to. */

import type { ListBatchesAnswer } from '@steyg/sdk';
import { useState } from 'react';
import { Button } from '../components/button.tsx';
import { Confirm } from '../components/dialog.tsx';
import { Moment } from '../components/moment.tsx';
import { Badge, Clipped, Page, type Tone } from '../components/page.tsx';
import { Empty, Loaded, More, TableSkeleton } from '../components/states.tsx';
import { Table } from '../components/table.tsx';
import { useSay } from '../components/toasts.tsx';
import { useChange, usePages } from '../data.tsx';
import { useExplain } from '../explain.ts';
import { type BatchTexts, batchTexts } from '../language/batches.ts';
import { fill, useLanguage } from '../language/language.tsx';
import { useAbilities, useAccount } from '../session.tsx';

type Batch = NonNullable<ListBatchesAnswer>['edges'][number]['node'];

export default function Batches() {
  const texts = batchTexts[useLanguage().locale];
  const { id: accountId } = useAccount();
  const { keys: mayCancel } = useAbilities();
  const [canceling, setCanceling] = useState<Batch | null>(null);
  const batches = usePages({
    key: ['batches', accountId],
    ask: (steyg, after, signal) => steyg.console.ledger.listBatches({ accountId, after, first: 25 }, { signal }),
    every: 10_000,
  });
  return (
    <Page title={texts.title} lead={texts.lead}>
      <Loaded query={batches} skeleton={<TableSkeleton />}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={texts.empty}>{texts.emptyText}</Empty>
          ) : (
            <BatchTable batches={rows} cancel={mayCancel ? setCanceling : null} />
          )
        }
      </Loaded>
      <More query={batches} />
      {canceling === null ? null : <CancelDialog batch={canceling} onClose={() => setCanceling(null)} />}
    </Page>
  );
}

function BatchTable({ batches, cancel }: { batches: readonly Batch[]; cancel: ((batch: Batch) => void) | null }) {
  const { t, locale, format } = useLanguage();
  const texts = batchTexts[locale];
  return (
    <Table
      caption={texts.title}
      rows={batches}
      rowKey={({ id }) => id}
      columns={[
        {
          head: texts.name,
          names: true,
          cell: (batch) => (
            <>
              <Clipped text={batch.name} />
              <span className="note line">{batch.key?.name ?? ''}</span>
            </>
          ),
        },
        { head: texts.models, cell: ({ models }) => <Clipped text={models.join(', ')} /> },
        { head: texts.progress, cell: (batch) => <Progress batch={batch} texts={texts} /> },
        { head: texts.cost, figure: true, cell: (batch) => <Cost batch={batch} texts={texts} /> },
        {
          head: texts.created,
          cell: ({ createdAt, expiresAt, endedAt }) => (
            <>
              <Moment at={createdAt} />
              {endedAt !== null || expiresAt === null ? null : (
                <span className="note line">{fill(texts.until, { at: format.moment(expiresAt) })}</span>
              )}
            </>
          ),
        },
        {
          head: t.common.actions,
          silentHead: true,
          cell: (batch) =>
            cancel === null || batch.state !== 'IN_PROGRESS' ? null : (
              <Button
                small
                look="danger"
                aria-label={fill(texts.cancelWhat, { name: batch.name })}
                onClick={() => cancel(batch)}
              >
                {texts.cancel}
              </Button>
            ),
        },
      ]}
    />
  );
}

const tones: Partial<Record<NonNullable<Batch['state']>, Tone>> = {
  FAILED: 'bad',
  CANCELING: 'warn',
  ENDED: 'usual',
};

function Progress({ batch, texts }: { batch: Batch; texts: BatchTexts }) {
  const { format } = useLanguage();
  const { state, lines, succeeded, errored, canceled, expired, settledAt } = batch;
  const isSettling = state === 'ENDED' && settledAt === null;
  const notRun = canceled + expired;
  return (
    <>
      <Badge tone={isSettling ? 'warn' : ((state === null ? undefined : tones[state]) ?? 'plain')}>
        {isSettling ? texts.settling : texts.states[state ?? 'OTHER']}
      </Badge>
      <span className="note line">
        {fill(texts.done, { n: format.number(succeeded), of: format.number(lines) })}
        {errored === 0 ? null : ` · ${fill(texts.failed, { n: format.number(errored) })}`}
        {notRun === 0 ? null : ` · ${fill(texts.notRun, { n: format.number(notRun) })}`}
      </span>
    </>
  );
}

function Cost({ batch: { settledAt, charged, bound, held }, texts }: { batch: Batch; texts: BatchTexts }) {
  const { format } = useLanguage();
  if (settledAt !== null) return charged === null ? texts.notCounted : format.usd(charged);
  return (
    <>
      {fill(texts.upTo, { usd: format.usd(bound) })}
      <span className="note line">{fill(texts.held, { usd: format.usd(held) })}</span>
    </>
  );
}

function CancelDialog({ batch, onClose }: { batch: Batch; onClose: () => void }) {
  const texts = batchTexts[useLanguage().locale];
  const say = useSay();
  const explain = useExplain();
  const { id: accountId } = useAccount();
  const cancel = useChange({
    change: (steyg, id: string) => steyg.console.ledger.cancelBatch({ id }),
    refresh: [
      ['batches', accountId],
      ['budget', accountId],
    ],
    done: () => say(texts.canceled),
  });
  return (
    <Confirm
      title={fill(texts.cancelWhat, { name: batch.name })}
      action={texts.cancel}
      busy={cancel.isPending}
      onClose={onClose}
      onConfirm={() =>
        cancel.mutate(batch.id, {
          onError: (error) => say(explain(error).sentence, 'bad'),
          onSettled: onClose,
        })
      }
    >
      <p>{texts.cancelText}</p>
    </Confirm>
  );
}
