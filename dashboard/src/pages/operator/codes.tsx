/** The operator's page of redemption codes: make, list, disable, and who redeemed them. */

import type { CodeBatchesAnswer, CreateCodesAnswer, Success } from '@steyg/sdk';
import { useState } from 'react';
import { Link } from 'wouter';
import { Button } from '../../components/button.tsx';
import { Code } from '../../components/copy.tsx';
import { DateField } from '../../components/date-field.tsx';
import { Confirm, Dialog } from '../../components/dialog.tsx';
import { Checkbox, SelectField, TextField } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { Moment } from '../../components/moment.tsx';
import { Badge, Page } from '../../components/page.tsx';
import { Banner, Empty, Loaded, More, TableSkeleton } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import { useSay } from '../../components/toasts.tsx';
import { useAsk, useChange, usePages } from '../../data.tsx';
import { fill, useOperatorLanguage } from '../../language/language.tsx';
import { isUsd } from '../../money.ts';
import { pages, pathTo } from '../../pages.ts';

type Batch = CodeBatchesAnswer['nodes'][number];
type Made = Success<CreateCodesAnswer>;

const batchesKey = ['operator', 'codes'] as const;

export default function Codes() {
  const { t, format } = useOperatorLanguage();
  const say = useSay();
  const [open, setOpen] = useState<{ what: 'make' } | { what: 'disable' | 'redeemed'; batch: Batch } | null>(null);
  const [made, setMade] = useState<Made | null>(null);
  const close = () => setOpen(null);
  const batches = usePages({
    key: batchesKey,
    ask: (steyg, after, signal) => steyg.console.operator.codeBatches({ after, first: 50 }, { signal }),
  });
  const disable = useChange({
    change: (steyg, batchId: string) => steyg.console.operator.revokeCodes({ batchId }),
    refresh: [batchesKey],
    done: () => {
      say(t.operator.codesDisabled);
      close();
    },
  });
  return (
    <Page
      title={t.nav.operatorCodes}
      lead={t.operator.codesLead}
      actions={
        <Button takes="createCodes" look="primary" onClick={() => setOpen({ what: 'make' })}>
          {t.operator.makeCodes}
        </Button>
      }
    >
      <Loaded query={batches} skeleton={<TableSkeleton />}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={t.operator.noCodes} />
          ) : (
            <Table
              caption={t.nav.operatorCodes}
              rows={rows}
              rowKey={({ id }) => id}
              columns={[
                { head: t.operator.codesName, names: true, cell: ({ name }) => name },
                {
                  head: t.operator.codesGive,
                  figure: true,
                  cell: ({ amount, plan }) => (
                    <>
                      {format.usd(amount)}
                      {plan === null ? null : (
                        <>
                          <br />
                          <code>{plan.planId}</code>
                        </>
                      )}
                    </>
                  ),
                },
                {
                  head: t.operator.codesRedeemed,
                  figure: true,
                  cell: ({ used, uses, count }) => `${format.number(used)} / ${format.number(uses * count)}`,
                },
                {
                  head: t.operator.codesUntil,
                  cell: ({ expiresAt }) => (expiresAt === null ? t.operator.codesNoEnd : <Moment at={expiresAt} />),
                },
                { head: t.operator.state, cell: (batch) => <State batch={batch} /> },
                {
                  head: t.common.actions,
                  silentHead: true,
                  cell: (batch) => (
                    <div className="row-actions">
                      <Button
                        small
                        aria-label={fill(t.operator.whoRedeemedWhat, { name: batch.name })}
                        onClick={() => setOpen({ what: 'redeemed', batch })}
                      >
                        {t.operator.whoRedeemed}
                      </Button>
                      {stateOf(batch) === 'codesOpen' ? (
                        <Button
                          takes="revokeCodes"
                          small
                          look="danger"
                          aria-label={fill(t.operator.disableCodesWhat, { name: batch.name })}
                          onClick={() => setOpen({ what: 'disable', batch })}
                        >
                          {t.operator.disableCodes}
                        </Button>
                      ) : null}
                    </div>
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
      <More query={batches} />
      {open?.what === 'make' ? (
        <MakeDialog
          onClose={close}
          onMade={(codes) => {
            close();
            setMade(codes);
          }}
        />
      ) : null}
      {made === null ? null : <MadeDialog made={made} onClose={() => setMade(null)} />}
      {open?.what === 'redeemed' ? <RedeemedDialog batch={open.batch} onClose={close} /> : null}
      {open?.what === 'disable' ? (
        <Confirm
          title={fill(t.operator.disableCodesWhat, { name: open.batch.name })}
          action={t.operator.disableCodes}
          busy={disable.isPending}
          onConfirm={() => disable.mutate(open.batch.id)}
          onClose={close}
        >
          <p>{t.operator.disableCodesText}</p>
        </Confirm>
      ) : null}
    </Page>
  );
}

function stateOf({ revokedAt, expiresAt, used, uses, count }: Batch): 'codesOpen' | 'codesOver' | 'codesUsedUp' {
  if (revokedAt !== null || (expiresAt !== null && new Date(expiresAt) <= new Date())) return 'codesOver';
  return used >= uses * count ? 'codesUsedUp' : 'codesOpen';
}

function State({ batch }: { batch: Batch }) {
  const { t } = useOperatorLanguage();
  const state = stateOf(batch);
  return <Badge tone={state === 'codesOpen' ? 'usual' : 'plain'}>{t.operator[state]}</Badge>;
}

function MakeDialog({ onClose, onMade }: { onClose: () => void; onMade: (made: Made) => void }) {
  const { t, format } = useOperatorLanguage();
  const [draft, setDraft] = useState({
    name: '',
    count: '10',
    uses: '1',
    planId: '',
    amount: '',
    validDays: '',
    expiresAt: '',
  });
  const set = (values: Partial<typeof draft>) => setDraft({ ...draft, ...values });
  const plans = useAsk({
    key: ['operator', 'plans'],
    ask: (steyg, signal) => steyg.console.operator.listAllPlans({}, { signal }),
  });
  const make = useChange({
    change: (steyg, { name, count, uses, planId, amount, validDays, expiresAt }: typeof draft) =>
      steyg.console.operator.createCodes({
        input: {
          name: name.trim(),
          count: Math.floor(Number(count)),
          uses: Math.floor(Number(uses)),
          ...(planId === ''
            ? { amount: amount.trim(), validDays: validDays === '' ? null : Math.floor(Number(validDays)) }
            : { planId }),
          expiresAt: expiresAt === '' ? null : new Date(expiresAt).toISOString(),
        },
      }),
    refresh: [batchesKey],
    done: onMade,
  });
  const isByPlan = draft.planId !== '';
  return (
    <Dialog title={t.operator.makeCodes} onClose={onClose}>
      <Form
        onSubmit={() => {
          if (isByPlan || isUsd(draft.amount)) make.mutate(draft);
        }}
        error={make.error}
        actions={
          <>
            <Button onClick={onClose}>{t.common.cancel}</Button>
            <Button type="submit" look="primary" busy={make.isPending}>
              {t.operator.makeCodes}
            </Button>
          </>
        }
      >
        <TextField
          label={t.operator.codesName}
          required
          maxLength={100}
          value={draft.name}
          onChange={(name) => set({ name })}
        />
        <div className="fields">
          <TextField
            label={t.operator.codeCount}
            type="number"
            min={1}
            max={1_000}
            required
            value={draft.count}
            onChange={(count) => set({ count })}
          />
          <TextField
            label={t.operator.codeUses}
            type="number"
            min={1}
            max={1_000_000}
            required
            value={draft.uses}
            onChange={(uses) => set({ uses })}
          />
          <SelectField
            label={t.operator.codesGive}
            value={draft.planId}
            onChange={(planId) => set({ planId })}
            options={[
              { value: '', label: t.operator.codesOfAmount },
              ...(plans.data ?? []).map(({ planId, name, budget }) => ({
                value: planId,
                label: `${fill(t.operator.codesOfPlan, { plan: name })} (${format.usd(budget)})`,
              })),
            ]}
          />
          {isByPlan ? null : (
            <>
              <TextField
                label={t.operator.amount}
                inputMode="decimal"
                required
                value={draft.amount}
                onChange={(amount) => set({ amount })}
                error={draft.amount === '' || isUsd(draft.amount) ? undefined : t.problems.usd}
              />
              <TextField
                label={t.operator.validDays}
                hint={t.operator.validDaysHint}
                type="number"
                min={1}
                value={draft.validDays}
                onChange={(validDays) => set({ validDays })}
              />
            </>
          )}
          <DateField
            label={t.operator.codesUntil}
            hint={t.operator.codesNoEnd}
            withTime
            value={draft.expiresAt}
            onChange={(expiresAt) => set({ expiresAt })}
          />
        </div>
      </Form>
    </Dialog>
  );
}

/** The codes: shown this once. */
function MadeDialog({ made, onClose }: { made: Made; onClose: () => void }) {
  const { t, format } = useOperatorLanguage();
  const [kept, setKept] = useState(false);
  return (
    <Dialog title={made.batch.name} mustAnswer onClose={onClose}>
      <Banner tone="warn">{fill(t.common.shownOnce, { what: t.nav.operatorCodes })}</Banner>
      <Code
        text={made.codes.join('\n')}
        what={t.nav.operatorCodes}
        title={fill(t.operator.codesMade, { n: format.number(made.codes.length) })}
      />
      <Checkbox label={t.common.secretKept} checked={kept} onChange={setKept} />
      <div className="actions">
        <Button look="primary" disabled={!kept} onClick={onClose}>
          {t.common.done}
        </Button>
      </div>
    </Dialog>
  );
}

function RedeemedDialog({ batch, onClose }: { batch: Batch; onClose: () => void }) {
  const { t } = useOperatorLanguage();
  const title = fill(t.operator.whoRedeemedWhat, { name: batch.name });
  const redemptions = usePages({
    key: [...batchesKey, batch.id],
    ask: (steyg, after, signal) =>
      steyg.console.operator.codeRedemptions({ batchId: batch.id, after, first: 50 }, { signal }),
  });
  return (
    <Dialog title={title} wide onClose={onClose}>
      <Loaded query={redemptions} skeleton={<TableSkeleton />}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={t.operator.nobodyRedeemed} />
          ) : (
            <Table
              caption={title}
              rows={rows}
              rowKey={({ account, last4, redeemedAt }) => `${account?.id ?? redeemedAt} ${last4}`}
              columns={[
                {
                  head: t.operator.account,
                  names: true,
                  cell: ({ account }) =>
                    account === null ? (
                      '–'
                    ) : (
                      <Link href={pathTo(pages.operatorAccount, { id: account.id })}>{account.email}</Link>
                    ),
                },
                { head: t.operator.code, cell: ({ last4 }) => <code>…{last4}</code> },
                { head: t.common.when, cell: ({ redeemedAt }) => <Moment at={redeemedAt} /> },
              ]}
            />
          )
        }
      </Loaded>
      <More query={redemptions} />
    </Dialog>
  );
}
